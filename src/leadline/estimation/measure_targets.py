"""Estimation targets of measures: which function of the grades each one aggregates, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.measures import Measure
from leadline.measures.average_precision import AP
from leadline.measures.cumulated_gain import CG, DCG, nDCG
from leadline.measures.precision import RR, F, P, R, Success
from leadline.measures.user_models import ERR, RBP

Weights = Callable[[Floats], Floats]  # the weight of each rank, from 1


@dataclass(frozen=True)
class Target:
    """Function of the grade that is estimated for each pair."""

    # {"indicator", "linear", "exp", "stop"}: grade >= `rel`, grade / `top`, 2^grade - 1, or (2^grade - 1) /
    # 2^top
    kind: str
    rel: float = 0.0  # minimum relevant grade
    top: float = 1.0  # largest grade

    def of(self, grades: Floats) -> Floats:
        """Return the target value of each grade; negative grades count as 0."""
        positive = np.maximum(grades, 0.0)
        if self.kind == "indicator":
            return (grades >= self.rel).astype(np.float64)
        if self.kind == "exp":
            return np.asarray(np.exp2(positive) - 1.0)
        if self.kind == "stop":
            return np.asarray(np.exp2(positive - self.top) - np.exp2(-self.top))
        return positive / self.top


@dataclass(frozen=True)
class Linear:
    """Sum over ranks of weight x target, divided by the length of the list if `share` is set."""

    target: Target
    weights: Weights
    cutoff: int | None
    share: bool = False


@dataclass(frozen=True)
class Cascade:
    """Sum over ranks of weight x target x product of (1 - target) over the ranks above."""

    target: Target
    weights: Weights
    cutoff: int | None


@dataclass(frozen=True)
class Ratio:
    """Sum over ranks of weight x target, divided by a function of the number of documents of each grade.

    The divisor is the discounted gain of the ideal list (`ideal`), or `slope` x the number of relevant
    documents + `constant` (None: the length of the list).
    """

    target: Target
    weights: Weights
    cutoff: int | None
    ideal: bool = False
    slope: float = 1.0
    constant: float | None = 0.0


@dataclass(frozen=True)
class AveragePrecision:
    """Average precision: sums of products of two targets, divided by the number of relevant documents."""

    target: Target
    cutoff: int | None


Kind = Linear | Cascade | Ratio | AveragePrecision

NO_ESTIMATE = {
    "Bpref": "it depends on the judged non-relevant documents, and a sample does not show all of them",
    "GMAP": "its geometric mean is dominated by queries without a drawn relevant document",
    "AP": "norm=min has no known estimator",
    "RBP": "gain=scaled depends on the largest grade of each query, which a sample may not contain",
    "INST": "its weights depend on the number of relevant documents found so far",
    "GMBpref": "it depends on the judged non-relevant documents, and a sample does not show all of them",
    "WithinBudget": "a budget ends at a different rank in each list, but estimates need a fixed rank",
    "statAP": "it weights the judgments itself, so evaluate it without other measures",
}


def kind_of(measure: Measure) -> Kind:
    """Return how a measure is estimated from a sample of judgments.

    >>> from leadline.measures import MEASURES
    >>> kind_of(MEASURES.parse("P@10")).target
    Target(kind='indicator', rel=1.0, top=1.0)
    """
    return kinds_of([measure])[0]


def kinds_of(measures: Sequence[Measure]) -> list[Kind]:
    """Return how measures are estimated; those that cannot be are refused together."""
    kinds = [_kind(measure) for measure in measures]
    refused = [
        f"{measure} ({NO_ESTIMATE.get(type(measure).__name__, 'it has no known estimator')})"
        for measure, kind in zip(measures, kinds, strict=True)
        if kind is None
    ]
    if refused:
        names = ", ".join(sorted(supported.__name__ for supported in _MAKERS))
        raise UsageError(
            f"a sampled pool gives no estimate of {', '.join(refused)}. Use one of these measures: {names}."
        )
    return [kind for kind in kinds if kind is not None]


def _kind(measure: Measure) -> Kind | None:
    maker = _MAKERS.get(type(measure))
    return None if maker is None else maker(measure)


def _flat(value: float) -> Weights:
    return lambda ranks: np.full(len(ranks), value)


def _precision(measure: P) -> Kind:
    size = 1.0 if measure.cutoff is None else 1.0 / measure.cutoff
    return Linear(Target("indicator", measure.rel), _flat(size), measure.cutoff, share=measure.cutoff is None)


def discount_of(measure: DCG) -> Weights:
    """Return the discount of ranks."""
    if measure.discount == "jk":
        return lambda ranks: 1.0 / np.log2(np.maximum(ranks, 2.0))
    return lambda ranks: 1.0 / np.log2(ranks + 1.0)


def _gain(measure: DCG) -> Target:
    return Target("exp" if measure.gain == "exp" else "linear")


def _rbp(measure: RBP) -> Kind | None:
    if measure.gain == "scaled":  # divides by the largest grade of the query, which is unknown
        return None
    target = (
        Target("indicator", measure.rel)
        if measure.gain == "binary"
        else Target("linear", top=measure.max_grade)
    )
    return Linear(
        target, lambda ranks: np.asarray((1 - measure.p) * np.power(measure.p, ranks - 1.0)), measure.cutoff
    )


def _reciprocal(ranks: Floats) -> Floats:
    return 1.0 / ranks


_MAKERS: dict[type[Measure], Callable[..., Kind | None]] = {
    P: _precision,
    CG: lambda measure: Linear(Target("linear"), _flat(1.0), measure.cutoff),
    DCG: lambda measure: Linear(_gain(measure), discount_of(measure), measure.cutoff),
    RBP: _rbp,
    RR: lambda measure: Cascade(Target("indicator", measure.rel), _reciprocal, measure.cutoff),
    Success: lambda measure: Cascade(Target("indicator", measure.rel), _flat(1.0), measure.cutoff),
    ERR: lambda measure: Cascade(
        Target("stop", top=measure.max_grade)
        if measure.gain == "exp"
        else Target("linear", top=measure.max_grade + 1.0),
        _reciprocal,
        measure.cutoff,
    ),
    nDCG: lambda measure: Ratio(_gain(measure), discount_of(measure), measure.cutoff, ideal=True),
    R: lambda measure: Ratio(Target("indicator", measure.rel), _flat(1.0), measure.cutoff),
    F: lambda measure: Ratio(
        Target("indicator", measure.rel),
        _flat(1.0 + measure.beta**2),
        measure.cutoff,
        slope=measure.beta**2,
        constant=measure.cutoff,
    ),
    AP: lambda measure: (
        None if measure.norm == "min" else AveragePrecision(Target("indicator", measure.rel), measure.cutoff)
    ),
}


def cascade(table: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the values of a cascade measure and their derivatives by the target at each rank.

    The last axis of the table is the rank.

    >>> values, slope = cascade(np.array([[0.5, 1.0]]), np.array([1.0, 0.5]))
    >>> values.tolist(), slope.tolist()  # 0.5 + 0.5 x 0.5; 1 - 0.5 and 0.5 x 0.5
    ([0.75], [[0.5, 0.25]])
    """
    *lists, depth = table.shape
    before = _reach(1.0 - table)
    below = np.zeros((*lists, depth + 1))  # value of the list from each rank on
    for at in range(depth - 1, -1, -1):
        below[..., at] = weight[at] * table[..., at] + (1.0 - table[..., at]) * below[..., at + 1]
    return below[..., 0], before * (weight - below[..., 1:])


def attention(table: Floats, weight: Floats, length: Integers) -> Floats:
    """Return the weight of each rank of a cascade measure: that of the rank, where the list is as long.

    The last axis of the table is the rank, as in `cascade`.

    >>> attention(np.array([0.5, 0.5, 0.0]), np.array([1.0, 0.5, 0.5]), np.array(2)).tolist()
    [1.0, 0.25, 0.0]
    """
    listed = np.arange(table.shape[-1]) < length[..., None]
    seen: Floats = weight * _reach(np.clip(1.0 - table, 0.0, 1.0)) * listed
    return seen


def _reach(passed: Floats) -> Floats:
    """Return the products of the factors of all ranks before."""
    before = np.ones(passed.shape)
    np.cumprod(passed[..., :-1], axis=-1, out=before[..., 1:])
    return before


def has_interval(kind: Kind) -> bool:
    """Return whether intervals over draws are offered for this kind of measure."""
    return not (isinstance(kind, AveragePrecision) or (isinstance(kind, Ratio) and not kind.ideal))
