"""Sampling designs: what each measure aggregates, and inclusion probabilities of documents made from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers, sampling_keys
from leadline.data.ids import to_bytes, to_text
from leadline.errors import UsageError, either
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


class AveragePrecision(Ratio):
    """Average precision: sums of products of two targets, divided by the number of relevant documents."""


Kind = Linear | Cascade | Ratio

OF_WHOLE_POOL = (
    "it depends on the non-relevant documents in the whole pool, and a sample has only some of them"
)
NO_ESTIMATE = {
    "Bpref": OF_WHOLE_POOL,
    "GMAP": "its geometric mean is dominated by queries without a drawn relevant document",
    "AP": "leadline has no estimator for norm=min",
    "RBP": "gain=scaled depends on the largest grade of each query, which a sample may not contain",
    "INST": "its weights depend on the relevant documents found so far, which a sample does not fully show",
    "GMBpref": OF_WHOLE_POOL,
    "WithinBudget": "a length budget ends at a different rank in each list, but estimates need a fixed rank",
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
    if any(type(measure).__name__ == "statAP" for measure in measures):
        raise UsageError(
            "statAP cannot be estimated together with other measures from a sampled pool, and "
            "leadline cannot draw a pool for it. Evaluate statAP alone, or use AP."
        )
    kinds = [_MAKERS[type(one)](one) if type(one) in _MAKERS else None for one in measures]
    refused = [
        f"{measure} ({NO_ESTIMATE.get(type(measure).__name__, 'leadline has no estimator for it')})"
        for measure, kind in zip(measures, kinds, strict=True)
        if kind is None
    ]
    if refused:
        names = ", ".join(sorted(supported.example() for supported in _MAKERS))
        raise UsageError(
            f"{either(refused, 'and')} cannot be estimated from a sampled pool. Use one of these measures: "
            f"{names}."
        )
    return [kind for kind in kinds if kind is not None]


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
        None
        if measure.norm == "min"
        else AveragePrecision(Target("indicator", measure.rel), _reciprocal, measure.cutoff)
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
    return not isinstance(kind, Ratio) or kind.ideal


SMALLEST = 0.02  # minimum inclusion probability; pairs that would need a smaller one leave the frame
NEW_RUNS = 0.15  # share of the budget for documents that no pooled run has above the cutoff
DEEPEST = 100  # cutoff of measures without one


class Frame(NamedTuple):
    """Sampling frame: the query-document pairs at the top ranks of any pooled run."""

    queries: list[bytes]  # query ids
    query: Integers  # index of the query of each pair, in ascending order
    documents: list[bytes]  # document id of each pair
    # root mean square over the pooled runs of the weight of the document; 0 if no measure depends on it,
    # negative if it must not be drawn
    importance: Floats
    best: Integers  # best rank of the document in any pooled run, from 1
    # mean probability that is left to pairs of importance 0 before all others become certain
    least_rest: float = 0.0

    def names(self) -> list[tuple[str, str]]:
        """Return (query, document) of every pair."""
        queries = list(map(to_text, self.queries))
        return list(
            zip(map(queries.__getitem__, self.query.tolist()), map(to_text, self.documents), strict=True)
        )

    def without(self, judged: Flags) -> Frame:
        """Return the frame with judged pairs excluded from drawing."""
        return self._replace(importance=np.where(judged, -1.0, self.importance))


class Draw(NamedTuple):
    """Inclusion probabilities and the sample drawn with them."""

    probability: Floats  # inclusion probability; 0 for a pair removed from the frame
    # permanent random number divided by the unscaled probability; a smaller sample consists of the pairs of
    # smallest order
    order: Floats
    drawn: Flags  # the pairs to be judged
    # the sample consists of the pairs with order < scale; p = min(1, scale x unscaled probability)
    scale: float
    cut: int  # number of pairs removed from the frame because their probability would be below 0.02


def scaled(weight: Floats, budget: float) -> tuple[Floats, float]:
    """Scale weights to inclusion probabilities min(1, c weight) that sum to `budget`.

    >>> p, c = scaled(np.array([4.0, 1.0, 1.0]), 2.0)
    >>> p.tolist(), c
    ([1.0, 0.5, 0.5], 0.5)
    """
    if not len(weight) or budget <= 0:
        return np.zeros(len(weight)), 0.0
    if budget >= len(weight):
        return np.ones(len(weight)), float(1.0 / weight.min())
    order = np.sort(weight)[::-1]
    tail = np.cumsum(order[::-1])[::-1]  # the sum of each weight and those below it
    certain = np.arange(len(order))
    scale = (budget - certain) / tail  # if that many pairs were certain
    fits = np.flatnonzero((scale * order <= 1.0 + 1e-12) & (scale > 0))
    c = float(scale[fits[0]])
    return np.minimum(1.0, c * weight), c


def draw(frame: Frame, budget: float, *, new_runs: float = NEW_RUNS, seed: int = 0) -> Draw:
    """Draw pairs of a frame with the `probabilities` of a budget."""
    probability, scale, cut = probabilities(frame, budget, new_runs=new_runs)
    return _drawn(frame, probability, scale, seed, cut)


def probabilities(frame: Frame, budget: float, *, new_runs: float = NEW_RUNS) -> tuple[Floats, float, int]:
    """Return inclusion probabilities proportional to importance, their scale, and how many pairs are cut.

    A share `new_runs` of the budget is spread evenly over the pairs on which no measure depends
    (importance 0); the others share what is left, and are certain if the budget covers all of them and
    leaves enough for those of importance 0.

    References
    ----------
    Brewer, Early and Joyce (1972), Selecting several samples from a single population, Australian Journal of
    Statistics 14 (permanent random numbers); Horvitz and Thompson (1952), JASA 47.
    """
    seen = frame.importance > 0
    rest = frame.importance == 0
    probability = np.zeros(len(frame.query))
    matter = int(seen.sum())
    first = budget * (1.0 - new_runs) if rest.any() else budget
    if budget >= matter + frame.least_rest * int(rest.sum()):
        first = float(matter)
    kept, cut = _large_enough(frame, np.flatnonzero(seen), frame.importance[seen], first)
    probability[kept], scale = scaled(frame.importance[kept], first)
    left = max(budget - float(probability.sum()), 0.0)
    if new_runs > 0 and left > 1e-9:
        others, more = _large_enough(frame, np.flatnonzero(rest), np.ones(int(rest.sum())), left)
        probability[others], _ = scaled(np.ones(len(others)), left)
        cut += more
    return probability, scale, cut


def _large_enough(frame: Frame, rows: Integers, weight: Floats, budget: float) -> tuple[Integers, int]:
    """Return rows with probability of at least 0.02 once the least important, deepest ones are removed."""
    order = np.lexsort((frame.best[rows], -weight))
    ordered = weight[order]
    size = len(rows)
    while size:
        p, _ = scaled(ordered[:size], budget)
        small = int((p < SMALLEST - 1e-12).sum())
        if not small:
            break
        size -= max(1, small // 2)
    return np.sort(rows[order[:size]]), len(rows) - size


def _drawn(frame: Frame, probability: Floats, scale: float, seed: int, cut: int) -> Draw:
    """Draw the pairs whose permanent random number is below their inclusion probability."""
    scale = scale if scale > 0 else 1.0
    unscaled = probability / scale
    unscaled = np.where(probability >= 1, np.maximum(frame.importance, 1.0 / scale), unscaled)
    number = random_numbers(frame, seed)
    with np.errstate(divide="ignore"):
        order = np.where(probability > 0, number / np.where(probability > 0, unscaled, 1.0), np.inf)
    return Draw(probability, order, (probability > 0) & (order < scale), scale, cut)


def random_numbers(frame: Frame, seed: int) -> Floats:
    """Return the permanent random number of each pair: a hash of seed, query and document in [0, 1)."""
    bounds = np.searchsorted(frame.query, np.arange(len(frame.queries) + 1)).tolist()
    parts = [
        _numbers(name, frame.documents[low:high], seed)
        for name, low, high in zip(frame.queries, bounds[:-1], bounds[1:], strict=True)
    ]
    return np.concatenate([np.empty(0), *parts])


def random_numbers_of(pairs: Sequence[tuple[str, str]], seed: int) -> Floats:
    """Return the permanent random number of each query-document pair."""
    numbers = np.empty(len(pairs))
    rows: dict[str, list[int]] = {}
    for row, (query, _) in enumerate(pairs):
        rows.setdefault(query, []).append(row)
    for query, chosen in rows.items():
        numbers[chosen] = _numbers(to_bytes(query), [to_bytes(pairs[row][1]) for row in chosen], seed)
    return numbers


def _numbers(query: bytes, documents: Sequence[bytes], seed: int) -> Floats:
    return (sampling_keys(query, documents, seed) >> np.uint64(11)).astype(np.float64) / 2.0**53


def at_scale(probability: Floats, order: Floats, numbers: Floats, scale: float | Floats) -> Floats:
    """Return the inclusion probabilities of the smaller sample with order < `scale`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unscaled = np.where(order > 0, numbers / order, np.inf)
        smaller = np.where(np.equal(scale, 0.0), 0.0, np.minimum(1.0, scale * unscaled))
    return np.where(probability > 0, smaller, 0.0)


def enlarged(probability: Floats, scale: float, old: Floats, frame: Frame, seed: int) -> Draw:
    """Return the sample with p = max(p, p_old), which contains every pair drawn for the earlier pool."""
    return _drawn(frame, np.maximum(probability, old), scale, seed, 0)


class Listed(NamedTuple):
    """The rows of the lists of the pooled runs: pair of the frame, run and rank (from 1), in their order."""

    pair: Integers
    run: Integers
    rank: Integers


def listed_frame(
    queries: Sequence[bytes],
    lists: Sequence[Sequence[Sequence[bytes]]],
    weights: Sequence[Floats],
    depth: int,
) -> tuple[Frame, Listed, list[Floats]]:
    """Return the sampling frame of the pooled runs: their documents at ranks up to `depth`.

    Also return where its pairs are listed, and the mean over runs of squared weights by measure.
    """
    names: list[bytes] = []
    pairs: list[int] = []
    lengths: list[int] = []
    counts: list[int] = []
    for runs in lists:
        rows: dict[bytes, int] = {}
        for run in runs:
            pairs += [rows.setdefault(name, len(names) + len(rows)) for name in run[:depth]]
            lengths.append(min(len(run), depth))
        names += rows
        counts.append(len(rows))
    sizes = np.array(lengths, dtype=np.int64)
    number = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(len(runs)) for runs in lists)])
    rank = np.arange(1, len(pairs) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    listed = Listed(np.array(pairs, dtype=np.int64), np.repeat(number, sizes), rank)
    best = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(best, listed.pair, listed.rank)
    importance = np.zeros(len(names))
    squares = []
    for weight in weights:
        kept = listed.rank <= len(weight)
        square = (weight * weight)[listed.rank[kept] - 1]
        column = np.bincount(listed.pair[kept], square, minlength=len(names))
        squares.append(column / max(1, max(map(len, lists), default=1)))
        root = np.sqrt(squares[-1])
        total = float(root.sum())
        importance += root / total if total > 0 else 0.0
    query = np.repeat(np.arange(len(counts)), counts)
    return Frame(list(queries), query, names, importance, best), listed, squares
