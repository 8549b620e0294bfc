"""Average precision and interpolated precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import (
    Aliases,
    DefaultCutoffs,
    Parameter,
    choice,
    cutoff,
    number,
    recall_level,
    show,
)
from leadline.measures import (
    CUTOFFS,
    Average,
    Measure,
    check_finite,
    ratio,
    relevant,
    relevant_retrieved,
    up_to,
)

if TYPE_CHECKING:
    from fractions import Fraction


class AP(Measure):
    """Mean of the precision at the rank of each relevant document, 0 for those not retrieved.

    The mean over queries is MAP. With a cutoff k the divisor remains R, the number of relevant
    documents; `norm=min` divides by min(R, k).

    >>> round(AP().of([1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0], judged=[1] * 6 + [0] * 9), 5)
    0.63355
    """

    title = "average precision"
    formula = "sum over relevant documents at ranks r <= k of precision at r, / R"
    source = (
        "Buckley and Voorhees 2000; Manning, Raghavan and Schuetze 2008, section 8.4; trec_eval map, map_cut"
    )
    aliases: ClassVar[Aliases] = {"map": {}, "map_cut": {}, "average_precision": {}, "RetrievalMAP": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"map_cut": CUTOFFS}

    rel: float = number(1.0, low=0.0)
    norm: str = choice("relevant", "min")
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, nth = up_to(self.cutoff, *judged.hits(self.rel))
        size = relevant(judged, self.rel)
        if self.norm == "min" and self.cutoff is not None:
            size = np.minimum(size, self.cutoff)
        return ratio(judged.total(query, nth / rank), size)


class GMAP(Measure):
    """Average precision with a geometric mean over queries, which emphasizes the worst queries.

    Values below 0.00001, and undefined ones, count as 0.00001 in the mean.

    >>> GMAP().of([1, 0, 1], judged=[1, 1, 0])
    0.8333333333333333
    """

    title = "geometric mean average precision"
    formula = "exp(mean over queries of ln max(AP, 0.00001))"
    source = "Robertson 2006; trec_eval gm_map"
    average: ClassVar[Average] = "geometric"
    aliases: ClassVar[Aliases] = {"gm_map": {}, "gm_ap": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        return AP(rel=self.rel).values(judged)


def running_minima(query: Codes, value: Floats) -> Floats:
    """Return, per row, the sum of min(its value, that of each row of its query so far, itself included).

    The rows of a query are contiguous, in order of rank; values are positive.

    >>> running_minima(np.array([0, 0, 0]), np.array([1.0, 3.0, 2.0]))  # 1; 1 + 3; 1 + 2 + 2
    array([1., 4., 5.])
    """
    total = np.zeros(len(query))
    reached = np.zeros(int(query.max(initial=-1)) + 1)
    rows = np.arange(len(query))
    while len(rows):  # the part of the values above one level and up to the next, for each query
        left = query[rows]
        starts = np.flatnonzero(np.append(True, left[1:] != left[:-1]))
        sizes = np.diff(np.append(starts, len(rows)))
        level = np.repeat(np.minimum.reduceat(value[rows], starts), sizes)
        nth = np.arange(1, len(rows) + 1) - np.repeat(starts, sizes)
        total[rows] += (level - reached[left]) * nth
        reached[left] = level
        rows = rows[value[rows] > level]
    return total


class GAP(Measure):
    """Average precision over the users who differ in the least grade that they find relevant.

    Graded average precision: with probability g(j) a user finds the documents of grade j or more
    relevant, and numerator and divisor of AP are each the expectation over users. By default all
    g(j) are equal; `weights=level` makes g(j) proportional to j, as NTCIREVAL does. It is AP if all
    positive grades are equal. With a cutoff k the divisor remains that of all judged documents;
    `norm=min` takes that of the k best.

    >>> GAP().of([1, 2], judged=[2, 1])  # (1/1 + (1 + 2)/2) / (1 + 2)
    0.8333333333333334
    """

    title = "graded average precision"
    formula = "sum over documents of positive grade at ranks r <= k of 1/r * sum over i <= r of "
    formula += (
        "d(min(grade(i), grade(r))), / sum of d(grade) over the judged documents, d(j) = g(1) + ... + g(j)"
    )
    source = "Robertson, Kanoulas and Yilmaz 2010; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"graded_average_precision": {}}

    weights: str = choice("equal", "level")
    norm: str = choice("relevant", "min")
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, grade = up_to(self.cutoff, *judged.gains)
        best_query, _, best = up_to(self.cutoff if self.norm == "min" else None, *judged.qrels.ideal)
        with np.errstate(over="ignore"):
            weight = self._cumulated(grade)
            whole = check_finite(self, judged.total(best_query, self._cumulated(best)))
        return ratio(judged.total(query, running_minima(query, weight) / rank), whole)

    def _cumulated(self, grade: Floats) -> Floats:
        """Return the sum of the weights of the grades up to each grade."""
        return grade * (grade + 1.0) / 2.0 if self.weights == "level" else grade


class SetAP(Measure):
    """Precision times recall of the retrieved set: average precision without regard to rank.

    >>> SetAP().of([1, 0, 1, None], judged=[1, 1, 1, 1, 0])  # 2/4 of 2/4
    0.25
    """

    title = "average precision of the set"
    formula = "r^2 / (n R), with r of the R relevant documents among the n retrieved"
    source = "trec_eval set_map"
    aliases: ClassVar[Aliases] = {"set_map": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        count = relevant_retrieved(judged, self.rel, None)
        size = judged.length.astype(np.float64) * relevant(judged, self.rel)
        return ratio(count * count, size)


EPSILON = 0.00001  # smooths the fraction of relevant documents among the judged ones


class infAP(Measure):  # noqa: N801  # the field's spelling
    """Average precision estimated from a pool of which only a random sample was judged.

    A negative grade means pooled but not judged. The expected precision at a relevant document of
    rank k is 1/k + (k - 1)/k times the fraction of pooled documents above it times the fraction of
    relevant documents among the judged ones above it, (r + e) / (r + n + 2 e) with e = 0.00001.

    >>> round(infAP().of([1, -1, 1, 0], judged=[1, 1, -1, 0]), 4)  # (1 + 1/3 + 2/3 * 1 * 1) / 2
    1.0
    """

    title = "inferred average precision"
    formula = (
        "1/R * sum over the ranks k of relevant documents of (1 + pooled * (r + e) / (r + n + 2 e)) / k; "
        "R: relevant documents; pooled, r and n: pooled, relevant and non-relevant documents above k"
    )
    source = "Yilmaz and Aslam 2006, as in trec_eval infAP"

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        grade = judged.grade
        chosen = grade >= self.rel
        nonrelevant = judged.before((grade >= 0) & ~chosen)[chosen]
        pooled = judged.before(grade < 0)[chosen]
        query, rank, nth = judged.hits(self.rel)
        above_relevant = nth - 1.0
        above = np.maximum(rank - 1.0, 1.0)
        proportion = (above_relevant + EPSILON) / (above_relevant + nonrelevant + 2 * EPSILON)
        expected = (
            1.0 / rank + (above / rank) * ((above_relevant + nonrelevant + pooled) / above) * proportion
        )
        expected[rank == 1] = 1.0
        return ratio(judged.total(query, expected), relevant(judged, self.rel))


RULES = ("standard", "printed-next", "printed-zero", "trec9", "trec10")
ELEVEN_LEVELS = tuple(tenth / 10 for tenth in range(11))


class IPrec(Measure):
    """Maximum precision at any rank with recall at or above a level; 0 if recall never reaches it.

    `rule=standard` compares recall with the level exactly. `trec9` and `trec10` require
    int(level R + 0.9) and round(level R) relevant documents, as those versions of trec_eval do.
    `printed-next` and `printed-zero` take the maximum precision within one tenth of recall, both
    ends included; a tenth without a point takes the value of the next level, or 0.

    >>> grades = [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1]
    >>> round(IPrec(recall=0.6).of(grades), 3), IPrec(recall=0.6, rule="printed-next").of(grades)
    (0.556, 0.5)
    """

    title = "interpolated precision"
    formula = "max over ranks r with recall(r) >= level of precision(r)"
    source = "Manning, Raghavan and Schuetze 2008, section 8.4; trec_eval iprec_at_recall"
    aliases: ClassVar[Aliases] = {"iprec_at_recall": {"rule": "trec10"}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"iprec_at_recall": ELEVEN_LEVELS}

    rule: str = choice(*RULES)
    rel: float = number(1.0, low=0.0)
    recall: float = recall_level()

    def values(self, judged: JudgedRun) -> Floats:
        return interpolate(judged, [self.recall], rule=self.rule, rel=self.rel)[:, 0]


def interpolate(
    judged: JudgedRun, levels: Sequence[float], *, rule: str = "standard", rel: float = 1.0
) -> Floats:
    """Return interpolated precision at recall levels."""
    size = judged.qrels.relevant(rel)
    if rule.startswith("printed"):
        columns = [_printed(judged, level, rule, rel) for level in levels]
    else:
        query, _, nth = judged.hits(rel)
        reached = [nth >= _needed(level, size, rule)[query] for level in levels]
        columns = [_best(judged, chosen, rel, otherwise=0.0) for chosen in reached]
    return np.where(size[:, None] == 0, np.nan, np.stack(columns, axis=1))


def _needed(level: float, size: Integers, rule: str) -> Integers:
    """Return the number of relevant documents that a recall level requires, per query."""
    if rule == "trec9":
        return (level * size + 0.9).astype(np.int64)
    if rule == "trec10":
        return np.asarray(np.floor(level * size + 0.5).astype(np.int64))
    return _share(_exact(level), size)


def _exact(level: float) -> Fraction:
    """Return a level as the exact decimal fraction that it was written as."""
    from fractions import Fraction

    return Fraction(str(level))


def _share(part: Fraction, size: Integers) -> Integers:
    """Return `part` times the sizes, rounded up."""
    exact = [-(-part.numerator * number // part.denominator) for number in size.tolist()]
    return np.array(exact, dtype=np.int64)


def _best(judged: JudgedRun, chosen: Flags, rel: float, *, otherwise: float) -> Floats:
    """Return the maximum precision over the selected relevant documents."""
    hits = judged.hits(rel)
    best = np.full(len(judged.present), -1.0)
    np.maximum.at(best, hits.query[chosen], (hits.nth / hits.rank)[chosen])
    return np.where(best < 0, otherwise, best)


def _printed(judged: JudgedRun, level: float, rule: str, rel: float) -> Floats:
    """Return the maximum precision within one tenth of recall, both ends included."""
    hits = judged.hits(rel)
    size = judged.qrels.relevant(rel)
    low = _exact(level)
    best = np.full(len(size), np.nan)
    while low <= 1:
        high = low + _exact(0.1)
        lowest, highest = _share(low, size), -_share(-high, size)
        inside = (lowest[hits.query] <= hits.nth) & (hits.nth <= highest[hits.query])
        best = np.where(np.isnan(best), _best(judged, inside, rel, otherwise=np.nan), best)
        low = high
        if rule == "printed-zero":
            break
    return np.where(np.isnan(best), 0.0, best)


class Levels(Parameter):
    """Recall levels, written as 0.25/0.5/0.75; `eleven` means 0, 0.1, ..., 1."""

    def expected(self) -> str:
        return "'eleven', or levels from 0 to 1 as in 0.25/0.5/0.75"

    def read(self, value: object) -> object:
        """Convert text or numbers to the canonical text of the levels."""
        if isinstance(value, str):
            parts: Sequence[object] = value.split("/")
        else:
            parts = value if isinstance(value, (tuple, list)) else [value]
        if value == "eleven" or not parts:
            return "eleven"
        levels = [super(Levels, self).read(part) for part in parts]
        return "eleven" if tuple(levels) == ELEVEN_LEVELS else "/".join(map(show, levels))


class AvgIPrec(Measure):
    """Mean of the interpolated precision over recall levels, by default the eleven standard ones.

    `rule` as for IPrec, without `printed-next` and `printed-zero`.

    >>> round(AvgIPrec().of([1, 0, 1, 0, 0, 1]), 4)  # 1 at 0 .. 0.3, 2/3 at 0.4 .. 0.6, then 1/2
    0.7273
    """

    title = "mean interpolated precision over recall levels"
    formula = "mean of IPrec over recall levels"
    source = "van Rijsbergen 1979; Manning, Raghavan and Schuetze 2008, section 8.4; trec_eval 11pt_avg"
    aliases: ClassVar[Aliases] = {"11pt_avg": {"rule": "trec10"}, "iprec11": {}}

    rule: str = choice("standard", "trec9", "trec10")
    levels: Any = Levels("eleven", type_=float, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        levels = ELEVEN_LEVELS if self.levels == "eleven" else list(map(float, self.levels.split("/")))
        columns = interpolate(judged, levels, rule=self.rule, rel=self.rel)
        total: Floats = columns[:, ::-1].cumsum(axis=1)[:, -1]  # from the last level to the first
        return total / len(levels)
