"""Measures based on user models of browsing and stopping: RBP, ERR, iRBU, NERR, INSQ, INST, BPM."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import Gains, JudgedRun
from leadline.data.registry import Aliases, Rejected, choice, cutoff, needed_cutoff, number, show, whole
from leadline.errors import UsageError
from leadline.measures import Measure, ratio, up_to

BLOCK = 1 << 20


def sum_to_cutoff(cutoff: int, term: Callable[[Floats], Floats]) -> float:
    """Return the sum of the terms of ranks 1..cutoff, up to the rank where it no longer changes."""
    total = 0.0
    for low in range(1, cutoff + 1, BLOCK):
        ranks = np.arange(low, min(low + BLOCK, cutoff + 1), dtype=np.float64)
        part = float(np.cumsum(term(ranks))[-1])
        if total + part == total:
            break
        total += part
    return total


OTHER_NAMES: Rejected = {
    "max_rel": "Write max_grade",
    "min_rel": "Grade 0 always has gain 0, so subtract min_rel from the grades and from max_grade",
}


def gains_below(measure: Measure, judged: JudgedRun, max_grade: float) -> Gains:
    """Return the retrieved documents with a gain; raise UsageError for a grade above `max_grade`."""
    largest = judged.qrels.highest_grade
    if largest > max_grade:
        raise UsageError(
            f"{measure}: grade {show(largest)} is above max_grade={show(max_grade)}. Use smaller grades, "
            f"or max_grade={show(largest)}."
        )
    return judged.gains


def patience(left: Floats) -> Floats:
    """Return ((left - 1) / left)^2, which is 1 where `left` is too large for a number."""
    finite = np.minimum(left, np.finfo(np.float64).max)
    return np.asarray(np.square((finite - 1) / finite), dtype=np.float64)


def accumulate_by_query(query: Codes, values: Floats, step: np.ufunc) -> Floats:
    """Return cumulative sums or products within each query, independent of the other queries.

    The rows of a query are contiguous, with increasing query codes.
    """
    nth = np.arange(len(query)) - np.searchsorted(query, query)
    order = np.argsort(nth, kind="stable")
    accumulated = values.astype(np.float64)
    for rows in np.split(order, np.cumsum(np.bincount(nth)))[1:-1]:  # the second of each query, ...
        accumulated[rows] = step(accumulated[rows - 1], values[rows])
    return accumulated


def product_before(query: Codes, factor: Floats) -> Floats:
    """Return, per row, the product of the factors of the earlier rows of its query."""
    shifted = np.ones(len(query))
    inner = np.flatnonzero(query[1:] == query[:-1]) + 1
    shifted[inner] = factor[inner - 1]
    return accumulate_by_query(query, shifted, np.multiply)


DEEPEST = 100_000  # ranks are columns of a matrix here
CELLS = 1 << 20  # of a matrix


class _Walk(Measure):
    """Base class of the expected rate of gain (C/W/L): gain per document that the user inspects."""

    rejected: ClassVar[Rejected] = OTHER_NAMES

    max_grade: float

    def post_init(self) -> None:
        """Refuse a rank that would need too much memory."""
        if self.last > DEEPEST:
            raise UsageError(
                f"rank {self.last:,} is too deep for {type(self).__name__}. Use a rank of at most {DEEPEST:,}"
            )

    @property
    def last(self) -> int:
        """Last rank that the user may inspect."""
        return int(getattr(self, self.cutoff_name() or "depth"))

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        """Return the continuation probability C(r) at each rank, from the gains: queries x ranks."""
        raise NotImplementedError

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, grade = gains_below(self, judged, self.max_grade)
        values = np.empty(len(judged.present))
        block = max(1, CELLS // self.last)  # queries
        for low in range(0, len(values), block):
            high = min(low + block, len(values))
            rows = slice(*np.searchsorted(query, [low, high]))
            near = rank[rows] <= self.last
            gain = np.zeros((high - low, self.last))
            gain[query[rows][near] - low, rank[rows][near] - 1] = grade[rows][near] / self.max_grade
            inspected = np.ones_like(gain)
            ranks = np.arange(1.0, self.last)
            inspected[:, 1:] = np.cumprod(self.continuation(ranks, gain)[:, : self.last - 1], axis=1)
            total = np.cumsum(inspected, axis=1)[:, -1]
            values[low:high] = np.cumsum(inspected * gain, axis=1)[:, -1] / total
        return values


class RBP(Measure):
    """Expected rate of gain of a user who moves to the next rank with probability p.

    The gain is 1 for a document of grade `rel` or more. `gain=graded` is grade / max_grade (a
    larger grade is an error); `gain=scaled` divides by the largest grade of the query, or 1 if that
    is smaller, as trec_eval does. RBPResidual is the uncertainty due to unjudged documents.

    >>> round(RBP(p=0.5).of([1, 0, 1]), 4)  # 0.5 * (1 + 0.25)
    0.625
    """

    title = "rank-biased precision"
    formula = "(1 - p) * sum over ranks r <= k of gain * p^(r - 1)"
    source = "Moffat and Zobel 2008"
    aliases: ClassVar[Aliases] = {"rank_biased_precision": {}}
    rejected: ClassVar[Rejected] = OTHER_NAMES

    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)
    gain: str = choice("binary", "graded", "scaled")
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, gain = up_to(self.cutoff, *self._gains(judged))
        return judged.total(query, gain * weights(rank, self.p))

    def _gains(self, judged: JudgedRun) -> Gains:
        if self.gain == "binary":
            hits = judged.hits(self.rel)
            return Gains(hits.query, hits.rank, np.ones(len(hits.rank)))
        if self.gain == "graded":
            query, rank, grade = gains_below(self, judged, self.max_grade)
            return Gains(query, rank, grade / self.max_grade)
        query, rank, grade = judged.gains
        largest = np.ones(len(judged.present))
        np.maximum.at(largest, judged.qrels.query, judged.qrels.grades)
        return Gains(query, rank, grade / largest[query])


def weights(rank: Codes, p: float) -> Floats:
    """Return the weight of each rank, (1 - p) p^(rank - 1)."""
    return np.asarray((1 - p) * np.power(p, rank - 1.0), dtype=np.float64)


class RBPResidual(Measure):
    """Residual of RBP: its increase if every unjudged document were relevant.

    The total weight of the ranks, to infinity, without a judged document up to rank k; a negative
    grade is not a judgment. The true RBP lies between its value and value + residual.

    >>> round(RBPResidual(p=0.5).of([1, None, 0]), 4)  # 0.25 of rank 2, 0.125 below rank 3
    0.375
    """

    title = "residual of rank-biased precision"
    formula = "1 - (1 - p) * sum over judged documents at ranks r <= k of p^(r - 1)"
    source = "Moffat and Zobel 2008"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False
    zero_without_list: ClassVar[bool] = False

    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        chosen = judged.grade >= 0
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        judged_weight = judged.total(judged.query[chosen], weights(judged.rank[chosen], self.p))
        return np.asarray(np.maximum(1.0 - judged_weight, 0.0), dtype=np.float64)


class RBPUnjudged(Measure):
    """RBPResidual as in trec_eval 10, which returns 0 if every retrieved document is judged.

    >>> RBPUnjudged(p=0.5).of([1, None]), RBPUnjudged(p=0.5).of([1, 0])
    (0.5, 0.0)
    """

    title = "residual of rank-biased precision in trec_eval 10"
    formula = "(1 - p) * sum over unjudged ranks r of p^(r - 1), + p^n; 0 if all n documents are judged"
    source = "trec_eval 10 rbp_resid"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"rbp_resid": {}}

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)

    def values(self, judged: JudgedRun) -> Floats:
        residual = RBPResidual(p=self.p).values(judged)
        residual[judged.total(judged.query[judged.grade >= 0]) == judged.length] = 0.0
        return residual


def scaled_gain(grade: Floats, gain: str) -> Floats:
    """Return the gain of ERR of positive grades: 2^grade - 1 (`exp`), or the grade (`linear`)."""
    return np.asarray(np.exp2(grade) - 1.0 if gain == "exp" else grade, dtype=np.float64)


def stop_probability(grade: Floats, gain: str, max_grade: float) -> Floats:
    """Return the probability of ERR that a document satisfies: its gain / (the largest gain + 1).

    >>> stop_probability(np.array([1.0, 2.0]), "exp", 2), stop_probability(np.array([1.0, 3.0]), "linear", 3)
    (array([0.25, 0.75]), array([0.25, 0.75]))
    """
    if gain == "exp":
        return np.asarray(np.exp2(grade - max_grade) - np.exp2(-max_grade), dtype=np.float64)
    return np.asarray(grade / (max_grade + 1.0), dtype=np.float64)


class ERR(Measure):
    """Expected reciprocal of the rank at which the user stops.

    At each document the user is satisfied and stops with probability (2^grade - 1) / 2^max_grade;
    `gain=linear` is grade / (max_grade + 1), the form of NTCIREVAL with the grades as gains. A grade
    above `max_grade` is an error; negative grades count as 0. The maximum is below 1; nERR divides by
    it.

    >>> ERR(max_grade=1).of([1, 0, 1])  # 1/2 * 1/1 + 1/2 * 1/2 * 1/3
    0.5833333333333334
    """

    title = "expected reciprocal rank"
    formula = "sum over ranks r <= k of s(r) * product over i < r of (1 - s(i)) / r, s = "
    formula += "(2^grade - 1) / 2^max_grade"
    source = "Chapelle et al. 2009; gdeval of the TREC web track"
    aliases: ClassVar[Aliases] = {"expected_reciprocal_rank": {}}
    rejected: ClassVar[Rejected] = OTHER_NAMES

    gain: str = choice("exp", "linear")
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        return self.added(judged, *gains_below(self, judged, self.max_grade))

    def added(self, judged: JudgedRun, query: Codes, rank: Codes | Integers, grade: Floats) -> Floats:
        """Return the value of the lists of positive grades."""
        query, rank, grade = up_to(self.cutoff, query, rank, grade)
        stop = stop_probability(grade, self.gain, self.max_grade)
        return judged.total(query, stop * product_before(query, 1 - stop) * self.utility(rank))

    def utility(self, rank: Codes | Integers) -> Floats:
        """Return the utility of a stop at each rank."""
        return np.asarray(1.0 / rank, dtype=np.float64)


class nERR(ERR):  # noqa: N801  # the field's spelling
    """ERR divided by that of the ideal ranking of all judged documents.

    `gain` and `max_grade` as for ERR. Undefined for queries without a document of positive grade.

    >>> round(nERR(max_grade=1).of([0, 1]), 4)  # 1/2 * 1/2 of 1/2 * 1/1
    0.5
    """

    title = "normalized expected reciprocal rank"
    formula = "ERR@k / ERR@k of all judged documents ordered by grade"
    source = "Chapelle et al. 2009; Sakai and Song 2011; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"normalised_err": {}, "normalized_err": {}}

    def values(self, judged: JudgedRun) -> Floats:
        return ratio(super().values(judged), self.added(judged, *judged.qrels.ideal))


class iRBU(ERR):  # noqa: N801  # the field's spelling
    """Expected rank-biased utility p^r at the rank r where the user of ERR stops.

    Intentwise rank-biased utility: `gain` and `max_grade` as for ERR. The exponent is the rank, so
    that a stop at rank 1 has utility p. Nearly the probability that the user finds something
    where p is near 1. The maximum is below p.

    >>> iRBU(p=0.9, max_grade=1).of([1, 1])  # 1/2 * 0.9 + 1/4 * 0.81
    0.6525000000000001
    """

    title = "intentwise rank-biased utility"
    formula = "sum over ranks r <= k of s(r) * product over i < r of (1 - s(i)) * p^r"
    source = "Sakai and Zeng 2021; Amigo et al. 2018; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"intentwise_rbu": {}}

    p: float = number(0.99, low=0.0, high=1.0, open_ends=True)

    def utility(self, rank: Codes | Integers) -> Floats:
        return np.asarray(np.power(self.p, rank + 0.0), dtype=np.float64)


class NERR8(_Walk):
    """Expected rate of gain of a user who stops according to the gain, or at rank k.

    After each document the user continues with probability 1 - gain.
    The gain is grade / max_grade; a larger grade is an error.

    >>> NERR8(max_grade=2, cutoff=2).of([1, 2])  # weights 1 and 1/2
    0.6666666666666666
    """

    title = "nearly expected reciprocal rank, equation 8"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "(1 - gain(r)) for r < k"
    source = "Azzopardi et al. 2021, equation 8; cwl_eval"

    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return np.asarray(1 - gain[:, : len(rank)], dtype=np.float64)


class NERR9(_Walk):
    """Expected rate of gain of a user who stops according to gain and rank, at rank k at the latest.

    After rank r the user continues with probability r / (r + 1) * (1 - gain).
    The gain is grade / max_grade; a larger grade is an error.

    >>> NERR9(max_grade=2, cutoff=2).of([1, 2])  # weights 1 and 1/4
    0.6
    """

    title = "nearly expected reciprocal rank, equation 9"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "r / (r + 1) * (1 - gain(r)) for r < k"
    source = "Azzopardi et al. 2021, equation 9; cwl_eval"

    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return np.asarray(rank / (rank + 1) * (1 - gain[:, : len(rank)]), dtype=np.float64)


class NERR10(_Walk):
    """Expected rate of gain of a user who stops according to gain and, as in RBP, at a constant rate.

    After each document the user continues with probability p * (1 - gain), to rank `depth` at most.
    The gain is grade / max_grade; a larger grade is an error.

    >>> round(NERR10(p=0.5, max_grade=2, depth=2).of([1, 2]), 4)  # weights 1 and 1/4
    0.6
    """

    title = "nearly expected reciprocal rank, equation 10"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "p * (1 - gain(r))"
    source = "Azzopardi et al. 2021, equation 10; cwl_eval"

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return np.asarray(self.p * (1 - gain[:, : len(rank)]), dtype=np.float64)


class NERR11(_Walk):
    """Expected rate of gain of a user who stops according to gain and, as in INSQ, a target T.

    After rank r the user continues with probability ((r + 2T - 1) / (r + 2T))^2 * (1 - gain), to
    rank `depth` at most.
    The gain is grade / max_grade; a larger grade is an error.

    >>> round(NERR11(max_grade=2, depth=2).of([1, 2]), 4)  # weights 1 and 2/9
    0.5909
    """

    title = "nearly expected reciprocal rank, equation 11"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "((r + 2T - 1) / (r + 2T))^2 * (1 - gain(r))"
    source = "Azzopardi et al. 2021, equation 11; cwl_eval"

    T: float = number(1.0, low=0.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return np.asarray(patience(rank + 2 * self.T) * (1 - gain[:, : len(rank)]), dtype=np.float64)


class INSQ(_Walk):
    """Expected rate of gain of a user with target gain T, more patient at deeper ranks.

    At rank r the user continues with probability ((r + 2T - 1) / (r + 2T))^2, to rank `depth` at
    most. The gain is grade / max_grade; a larger grade is an error.

    >>> round(INSQ(max_grade=1, depth=2).of([1, 0]), 4)  # weights 1 and (2/3)^2
    0.6923
    """

    title = "INSQ: inverse squares"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "((r + 2T - 1) / (r + 2T))^2"
    source = "Moffat et al. 2012; cwl_eval"

    T: float = number(1.0, low=0.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return np.broadcast_to(patience(rank + 2 * self.T), (len(gain), len(rank)))


class INST(_Walk):
    """Expected rate of gain of a user with target gain T, who adapts to the gain so far.

    At rank r, with cumulated gain G, the user continues with probability
    ((r + 2T - G - 1) / (r + 2T - G))^2, to rank `depth` at most. The gain is grade / max_grade; a
    larger grade is an error.

    >>> round(INST(max_grade=1, depth=2).of([1, 0]), 4)  # weights 1 and (1/2)^2
    0.8
    """

    title = "INST: inverse squares, adaptive"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "((r + 2T - G(r) - 1) / (r + 2T - G(r)))^2, G(r) the gain up to rank r"
    source = "Moffat et al. 2015; Bailey et al. 2015; cwl_eval"

    T: float = number(1.0, low=0.5)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return patience(rank + 2 * self.T - np.cumsum(gain, axis=1)[:, : len(rank)])


class BPM(Measure):
    """Expected rate of gain of a user who stops after T units of gain or at rank k.

    The static Bejeweled player model. The gain is grade / max_grade; a larger grade is an error. The
    cumulated gain is compared with T in units of grades, so that sums of thirds are exact.

    >>> BPM(T=1, max_grade=2, cutoff=5).of([1, 0, 1, 2])  # 1 after three documents
    0.3333333333333333
    """

    title = "Bejeweled player model"
    formula = "sum of the gain at ranks 1..n / n; n is the first rank where the sum reaches T, or else k"
    source = "Zhang et al. 2017; cwl_eval"
    rejected: ClassVar[Rejected] = OTHER_NAMES

    T: float = number(1.0, low=0.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, grade = up_to(self.cutoff, *gains_below(self, judged, self.max_grade))
        added = accumulate_by_query(query, grade, np.add)
        full = np.flatnonzero(added >= self.T * self.max_grade)
        stop = np.full(len(judged.present), float(self.cutoff))
        np.minimum.at(stop, query[full], rank[full])
        inspected = rank <= stop[query]
        return np.asarray(judged.total(query[inspected], grade[inspected]) / self.max_grade / stop)


NEVER = np.iinfo(np.int64).max  # the rank of what was not retrieved


class Compat(Measure):
    """Maximum rank-biased overlap of the list with an ideal list, divided by the attainable maximum.

    An ideal list contains the documents of positive grade in decreasing order of grade; equal grades
    are ordered as in the list, documents not retrieved last. The depth is the length of the longer
    list. Undefined if no document has a positive grade.

    >>> round(Compat(p=0.5).of([1, 2]), 4)  # overlap 0, 1 of 1, 1: 0 + 0.5 of 1 + 0.5
    0.3333
    """

    title = "compatibility"
    formula = "sum over depths d of p^(d - 1) * (documents in the top d of both lists) / d, divided by "
    formula += "the same sum for the ideal list with itself"
    source = "Clarke et al. 2021; ir_measures Compat"
    aliases: ClassVar[Aliases] = {"compatibility": {}}
    rejected: ClassVar[Rejected] = {"normalize": "The value is always divided by the best possible value"}

    p: float = number(0.95, low=0.0, high=1.0, open_ends=True)

    def values(self, judged: JudgedRun) -> Floats:
        qrels = judged.qrels
        rank = np.full(len(qrels.grades), NEVER, dtype=np.int64)
        rank[judged.row] = judged.rank
        rows = np.flatnonzero(qrels.grades > 0)
        rows = rows[np.lexsort((rank[rows], -qrels.grades[rows], qrels.query[rows]))]
        query, rank = qrels.query[rows], rank[rows]
        ideal = np.arange(1, len(rows) + 1) - np.searchsorted(query, query)
        size = np.bincount(query, minlength=len(judged.present))
        depth = np.maximum(judged.length, size)
        cumulative = self._shares(int(depth.max(initial=0)))
        retrieved = rank < NEVER
        overlap = _overlap(cumulative, depth[query[retrieved]], np.maximum(rank, ideal)[retrieved])
        ideal_overlap = _overlap(cumulative, depth[query], ideal)
        return ratio(judged.total(query[retrieved], overlap), judged.total(query, ideal_overlap))

    def _shares(self, depth: int) -> Floats:
        """Return the cumulative sum of p^(d - 1) / d, with 0 for depth 0."""
        depths = np.arange(1.0, depth + 1)
        return np.concatenate(([0.0], np.cumsum(np.power(self.p, depths - 1) / depths)))


def _overlap(cumulative: Floats, depth: Integers, since: Integers) -> Floats:
    return np.asarray(cumulative[depth] - cumulative[since - 1], dtype=np.float64)
