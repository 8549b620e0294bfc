"""Expected utility, cost and depth of a user who reads a list as a C/W/L model says: EU, ETU, EC, ETC, ED."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import Gains, JudgedRun
from leadline.data.registry import Rejected, choice, cutoff, number, show
from leadline.errors import UsageError
from leadline.measures import UNBOUNDED, Measure
from leadline.measures.user_models import (
    DEEPEST,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    OTHER_NAMES,
    gains_below,
    matrices,
)

MODELS: tuple[str, ...] = (
    "RBP",
    "P",
    "SDCG",
    "RR",
    "AP",
    "INSQ",
    "INST",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "BPM",
    "TBG",
    "U",
)
DEPTH = 1000  # last rank where there is no cutoff
LAST = "sum over ranks r of V(r) * "
INSPECTED = "; V(r) is the probability that the user inspects rank r"


class _Quantity(Measure):
    """Base class of the five quantities of a C/W/L user model."""

    source = "Moffat et al. 2012; Moffat et al. 2015; cwl_eval"
    high: ClassVar[float] = UNBOUNDED[1]
    rejected: ClassVar[Rejected] = {**OTHER_NAMES, "theta": "write p", "halflife": "write half_life"}

    model: str = choice(*MODELS)
    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)
    T: float = number(1.0, low=0.0, open_ends=True)
    half_life: float = number(224.0, low=0.0, open_ends=True)
    length: float = number(1000.0, low=0.0, open_ends=True)
    gain: str = choice("graded", "binary")
    rel: float = number(1.0, low=0.0)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    unlisted: float = number(1.0, low=0.0, open_ends=True)
    cutoff: int | None = cutoff()

    def post_init(self) -> None:
        """Refuse a target below that of INST, and a rank that would need too much memory."""
        kind = type(self).__name__
        if self.model == "INST" and self.T < 0.5:
            raise UsageError(f"{kind}(model=INST) with T={show(self.T)}; expected 0.5 or more")
        if self.last > DEEPEST:
            raise UsageError(f"rank {self.last} in {kind}; expected {DEEPEST} or less")

    @property
    def last(self) -> int:
        """Last rank that the user may inspect."""
        cutoff = self.cutoff or DEPTH
        return max(cutoff, DEPTH) if self.model == "BPM" else cutoff

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        size, largest = len(judged.present), 1.0 if self.gain == "binary" else self.max_grade
        values = np.empty(size)
        costs = judged.costs
        listed = ((costs.query, costs.rank, costs.cost),) if costs is not None else ((None, None, None),)
        rows = (tuple(self._gains(judged)), *listed)
        for part, (grade, cost) in matrices(rows, size, self.last, (0.0, self.unlisted)):
            values[part] = self.quantity(self.inspected(grade, largest, cost), grade / largest, cost)
        return values

    def _gains(self, judged: JudgedRun) -> Gains:
        if self.gain == "binary":
            hits = judged.hits(self.rel)
            return Gains(hits.query, hits.rank, np.ones(len(hits.rank)))
        return gains_below(self, judged, self.max_grade)

    def quantity(self, inspected: Floats, gain: Floats, cost: Floats) -> Floats:
        """Return the value from V(r), gain and cost by rank: queries x ranks."""
        raise NotImplementedError

    def inspected(self, grade: Floats, largest: float, cost: Floats) -> Floats:
        """Return the probability V(r) that the user inspects each rank, from grades and costs."""
        return WEIGHTS.get(self.model, _of_walk)(self, grade, largest, cost)


def _of_ranks(measure: _Quantity, grade: Floats, _largest: float, _cost: Floats) -> Floats:
    """Return V(r) of a user who considers ranks only: P, RBP, SDCG."""
    ranks = np.arange(1.0, measure.last + 1)
    by_rank = np.ones(len(ranks))
    if measure.model == "RBP":
        by_rank = np.power(measure.p, ranks - 1)
    elif measure.model == "SDCG":
        by_rank = 1 / np.log2(ranks + 1)
    return np.broadcast_to(by_rank, grade.shape)


def _of_costs(measure: _Quantity, _grade: Floats, _largest: float, cost: Floats) -> Floats:
    """Return V(r) of a user whom the cost of the earlier documents tires: TBG, U."""
    before = np.zeros_like(cost)
    before[:, 1:] = np.cumsum(cost, axis=1)[:, :-1]
    if measure.model == "TBG":
        return np.asarray(np.exp2(-before / measure.half_life))
    return np.asarray(np.maximum(1 - before / measure.length, 0.0))


def _of_stops(measure: _Quantity, grade: Floats, largest: float, cost: Floats) -> Floats:
    """Return V(r) of a user who stops where gain or cost suffice: RR, BPM."""
    total = np.cumsum(grade, axis=1)
    if measure.model == "RR":
        return _until(total > 0)
    spent = np.cumsum(cost, axis=1) >= (measure.cutoff or DEPTH)
    return _until((total >= measure.T * largest) | spent)


def _of_later_gain(measure: _Quantity, grade: Floats, _largest: float, _cost: Floats) -> Floats:
    """Return V(r) of the user of AP: the share of the discounted gain that is at rank r or below."""
    left = np.cumsum((grade / np.arange(1.0, measure.last + 1))[:, ::-1], axis=1)[:, ::-1]
    left[left[:, 0] == 0, 0] = 1.0
    return np.asarray(left / left[:, :1])


def _of_walk(measure: _Quantity, grade: Floats, largest: float, _cost: Floats) -> Floats:
    """Return V(r) of a model that is a measure with continuation probabilities: INSQ, INST, NERR."""
    last = measure.last
    walks: dict[str, Callable[[], INSQ | INST | NERR8 | NERR9 | NERR10 | NERR11]] = {
        "NERR8": lambda: NERR8(cutoff=last),
        "NERR9": lambda: NERR9(cutoff=last),
        "NERR10": lambda: NERR10(p=measure.p, depth=last),
        "NERR11": lambda: NERR11(T=measure.T, depth=last),
        "INSQ": lambda: INSQ(T=measure.T, depth=last),
        "INST": lambda: INST(T=measure.T, depth=last),
    }
    walk = walks[measure.model]()
    inspected = np.ones_like(grade)
    going_on = walk.continuation(np.arange(1.0, last), grade / largest)
    inspected[:, 1:] = np.cumprod(going_on[:, : last - 1], axis=1)
    return inspected


WEIGHTS: dict[str, Callable[[_Quantity, Floats, float, Floats], Floats]] = {
    **dict.fromkeys(("P", "RBP", "SDCG"), _of_ranks),
    **dict.fromkeys(("TBG", "U"), _of_costs),
    **dict.fromkeys(("RR", "BPM"), _of_stops),
    "AP": _of_later_gain,
}


def _until(stops: Flags) -> Floats:
    """Return 1 for all ranks up to the first where the user stops, and 0 for the later ones."""
    earlier = np.zeros(stops.shape)
    earlier[:, 1:] = np.cumsum(stops, axis=1)[:, :-1]
    return np.asarray(earlier == 0, dtype=np.float64)


def added(values: Floats) -> Floats:
    """Return the sum of every row, independent of the other rows."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1], dtype=np.float64)


class EU(_Quantity):
    """Expected utility of a document that the user inspects, by a C/W/L user model.

    `model` is the user of P, SDCG, RR, RBP (parameter p), INSQ, INST (T), NERR8, NERR9, NERR10 (p), NERR11
    (T), BPM (T; the cutoff is the largest total cost), AP (of the relevant documents retrieved), time-biased
    gain (TBG, half_life) or the U-measure (U, length). The user goes to the cutoff at most, or to rank 1000
    without one. The gain is grade / max_grade, or 1 for a grade of `rel` or more (`gain=binary`). Costs
    matter to BPM, TBG and U: those of `--costs`, or 1 for each document.

    >>> EU(model="RBP", p=0.5, max_grade=1).of([1, 0, 1])  # the value of RBP
    0.625
    """

    title = "expected utility per document"
    formula = f"{LAST}gain(r), / sum of V(r){INSPECTED}"
    high: ClassVar[float] = 1.0

    def quantity(self, inspected: Floats, gain: Floats, cost: Floats) -> Floats:  # noqa: ARG002  # one of five
        """Return the value from V(r), gain and cost by rank."""
        return np.asarray(added(inspected * gain) / added(inspected))


class ETU(_Quantity):
    """Expected total utility of the documents that the user inspects, by a C/W/L user model.

    The models and parameters are those of EU; ETU is EU times ED.

    >>> ETU(model="RBP", p=0.5, max_grade=1).of([1, 0, 1])
    1.25
    """

    title = "expected total utility"
    formula = f"{LAST}gain(r){INSPECTED}"

    def quantity(self, inspected: Floats, gain: Floats, cost: Floats) -> Floats:  # noqa: ARG002  # one of five
        """Return the value from V(r), gain and cost by rank."""
        return added(inspected * gain)


class EC(_Quantity):
    """Expected cost of a document that the user inspects, by a C/W/L user model.

    The models and parameters are those of EU. Costs are those of `--costs`; `unlisted` is the cost of
    documents that the file lacks and of ranks below the end of a list.

    >>> EC(model="P", cutoff=2, unlisted=3).of([1, 0])
    3.0
    """

    title = "expected cost per document"
    formula = f"{LAST}cost(r), / sum of V(r){INSPECTED}"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False

    def quantity(self, inspected: Floats, gain: Floats, cost: Floats) -> Floats:  # noqa: ARG002  # one of five
        """Return the value from V(r), gain and cost by rank."""
        return np.asarray(added(inspected * cost) / added(inspected))


class ETC(_Quantity):
    """Expected total cost of the documents that the user inspects, by a C/W/L user model.

    The models and parameters are those of EU and EC; ETC is EC times ED.

    >>> ETC(model="RR", unlisted=3).of([0, 1])  # two documents of cost 3
    6.0
    """

    title = "expected total cost"
    formula = f"{LAST}cost(r){INSPECTED}"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False

    def quantity(self, inspected: Floats, gain: Floats, cost: Floats) -> Floats:  # noqa: ARG002  # one of five
        """Return the value from V(r), gain and cost by rank."""
        return added(inspected * cost)


class ED(_Quantity):
    """Expected depth: number of documents that the user inspects, by a C/W/L user model.

    The models and parameters are those of EU.

    >>> ED(model="RBP", p=0.5).of([1]), ED(model="RR").of([0, 0, 1])
    (2.0, 3.0)
    """

    title = "expected depth"
    formula = f"sum over ranks r of V(r){INSPECTED}"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False

    def quantity(self, inspected: Floats, gain: Floats, cost: Floats) -> Floats:  # noqa: ARG002  # one of five
        """Return the value from V(r), gain and cost by rank."""
        return added(inspected)


OF_COSTS = (EU, ETU, EC, ETC, ED)
