"""Average precision and interpolated precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
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
from leadline.measures import CUTOFFS, Average, Measure, found, over, relevant

if TYPE_CHECKING:
    from fractions import Fraction


class AP(Measure):
    """Mean, over all relevant documents, of the precision at the rank of each; 0 if not retrieved.

    Its mean over queries is MAP. With a cutoff it still divides by R; `norm=min` divides by the
    smaller of R and k.

    >>> round(AP().of([1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0], judged=[1] * 6 + [0] * 9), 5)
    0.63355
    """

    title = "average precision"
    formula = "sum over relevant documents at ranks r <= k of precision at r, / R"
    source = "lecture, 'Mean Average Precision'; trec_eval map, map_cut"
    aliases: ClassVar[Aliases] = {"map": {}, "map_cut": {}, "average_precision": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"map_cut": CUTOFFS}

    rel: float = number(1.0, low=0.0)
    norm: str = choice("relevant", "min")
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        precision = hits.nth / hits.rank
        query = hits.query
        if self.cutoff is not None:
            kept = hits.rank <= self.cutoff
            query, precision = query[kept], precision[kept]
        size = relevant(judged, self.rel)
        if self.norm == "min" and self.cutoff is not None:
            size = np.minimum(size, self.cutoff)
        return over(judged.total(query, precision), size)


class GMAP(Measure):
    """Average precision whose mean is geometric, so that the worst queries weigh most.

    Values below 0.00001, undefined ones included, count as 0.00001 in the mean.

    >>> GMAP().of([1, 0, 1], judged=[1, 1, 0])
    0.8333333333333333
    """

    title = "average precision, averaged geometrically"
    formula = "exp(mean over queries of ln max(AP, 0.00001))"
    source = "trec_eval gm_map; Robertson 2006"
    average: ClassVar[Average] = "geometric"
    aliases: ClassVar[Aliases] = {"gm_map": {}, "gm_ap": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        return AP(rel=self.rel).values(judged)


class SetAP(Measure):
    """Precision times recall of the whole list: its average precision if it had no order.

    >>> SetAP().of([1, 0, 1, None], judged=[1, 1, 1, 1, 0])  # 2/4 of 2/4
    0.25
    """

    title = "average precision of the set"
    formula = "r^2 / (n R), with r relevant among n retrieved"
    source = "trec_eval set_map"
    aliases: ClassVar[Aliases] = {"set_map": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), None)
        size = judged.length.astype(np.float64) * relevant(judged, self.rel)
        return over(count * count, size)


EPSILON = 0.00001  # smooths the share of relevant documents among the judged ones


class infAP(Measure):  # noqa: N801  # the field's spelling
    """Average precision estimated where only a random part of the pool was judged.

    A negative grade means pooled but not judged. The precision at a relevant document of rank k is
    expected to be 1/k + (k - 1)/k times the share of pooled documents above it times the share of
    relevant ones among the judged above it, (r + e) / (r + n + 2 e) with e = 0.00001.

    >>> round(infAP().of([1, -1, 1, 0], judged=[1, 1, -1, 0]), 4)  # (1 + 1/3 + 2/3 * 1 * 1) / 2
    1.0
    """

    title = "inferred average precision"
    formula = "1/R sum over relevant k of 1/k + (k-1)/k * pooled/(k-1) * (r + e) / (r + n + 2 e)"
    source = "Yilmaz and Aslam 2006, as in trec_eval infAP"

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        grade = judged.grade
        chosen = grade >= self.rel
        others = judged.before((grade >= 0) & ~chosen)[chosen]
        pooled = judged.before(grade < 0)[chosen]
        query, rank, nth = judged.hits(self.rel)
        found = nth - 1.0
        above = np.maximum(rank - 1.0, 1.0)
        share = (found + EPSILON) / (found + others + 2 * EPSILON)
        expected = 1.0 / rank + (above / rank) * ((found + others + pooled) / above) * share
        expected[rank == 1] = 1.0
        return over(judged.total(query, expected), relevant(judged, self.rel))


RULES = ("standard", "printed-next", "printed-zero", "trec9", "trec10")
ELEVEN_LEVELS = tuple(tenth / 10 for tenth in range(11))


class IPrec(Measure):
    """Highest precision at any rank where recall has reached the level; 0 when it never does.

    `rule=standard` compares recall and level exactly. `printed-next` and `printed-zero` are the
    lecture's printed rule, the highest precision between one tenth and the next (both ends); a
    stretch without a point takes the next level's value or 0. `trec9` and `trec10` ask for
    int(level R + 0.9) and round(level R) relevant documents, as those versions of trec_eval do.

    >>> grades = [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1]
    >>> round(IPrec(recall=0.6).of(grades), 3), IPrec(recall=0.6, rule="printed-next").of(grades)
    (0.556, 0.5)
    """

    title = "interpolated precision"
    formula = "max over ranks r with recall(r) >= level of precision(r)"
    source = "lecture, 'Interpolating a Recall/Precision Curve'; trec_eval iprec_at_recall"
    aliases: ClassVar[Aliases] = {"iprec_at_recall": {"rule": "trec10"}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"iprec_at_recall": ELEVEN_LEVELS}

    rule: str = choice(*RULES)
    rel: float = number(1.0, low=0.0)
    recall: float = recall_level()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        return interpolate(judged, [self.recall], rule=self.rule, rel=self.rel)[:, 0]


def interpolate(
    judged: JudgedRun, levels: Sequence[float], *, rule: str = "standard", rel: float = 1.0
) -> Floats:
    """Give queries x levels of interpolated precision; NaN where nothing is relevant."""
    size = judged.qrels.relevant(rel)
    if rule.startswith("printed"):
        columns = [_printed(judged, level, rule, rel) for level in levels]
    else:
        columns = [_reaching(judged, _needed(level, size, rule), rel) for level in levels]
    return np.where(size[:, None] == 0, np.nan, np.stack(columns, axis=1))


def _needed(level: float, size: Integers, rule: str) -> Integers:
    """Give how many relevant documents a level asks for, per query."""
    if rule == "trec9":
        return (level * size + 0.9).astype(np.int64)
    if rule == "trec10":
        rounded: Integers = np.floor(level * size + 0.5).astype(np.int64)
        return rounded
    return _share(_exact(level), size)


def _exact(level: float) -> Fraction:
    """Give the decimal fraction that a level was written as."""
    from fractions import Fraction

    return Fraction(str(level))


def _share(part: Fraction, size: Integers) -> Integers:
    """Give the least whole numbers that are `part` of the sizes or more."""
    exact = [-(-part.numerator * number // part.denominator) for number in size.tolist()]
    return np.array(exact, dtype=np.int64)


def _reaching(judged: JudgedRun, needed: Integers, rel: float) -> Floats:
    """Give the highest precision at a relevant document that is at least the needed-th."""
    hits = judged.hits(rel)
    return _best(judged, hits.nth >= needed[hits.query], rel, otherwise=0.0)


def _best(judged: JudgedRun, chosen: Flags, rel: float, *, otherwise: float) -> Floats:
    """Give the highest precision at the chosen ones of the relevant documents."""
    hits = judged.hits(rel)
    best = np.full(len(judged.present), -1.0)
    np.maximum.at(best, hits.query[chosen], (hits.nth / hits.rank)[chosen])
    return np.where(best < 0, otherwise, best)


def _printed(judged: JudgedRun, level: float, rule: str, rel: float) -> Floats:
    """Give the highest precision between a tenth of recall and the next, both ends included."""
    hits = judged.hits(rel)
    size = judged.qrels.relevant(rel)
    low = _exact(level)
    best = np.full(len(size), np.nan)
    while low <= 1:
        high = low + _exact(0.1)
        least, most = _share(low, size), -_share(-high, size)
        inside = (least[hits.query] <= hits.nth) & (hits.nth <= most[hits.query])
        best = np.where(np.isnan(best), _best(judged, inside, rel, otherwise=np.nan), best)
        low = high
        if rule == "printed-zero":
            break
    return np.where(np.isnan(best), 0.0, best)


class Levels(Parameter):
    """Some recall levels, written as 0.25/0.5/0.75; `eleven` means 0, 0.1 .. 1."""

    def expected(self) -> str:
        """Say in words what is allowed."""
        return "eleven, or levels from 0 to 1 as in 0.25/0.5/0.75"

    def read(self, value: object) -> object:
        """Turn text or numbers into the text of the levels."""
        if isinstance(value, str):
            parts: Sequence[object] = value.split("/")
        else:
            parts = value if isinstance(value, (tuple, list)) else [value]
        if value == "eleven" or not parts:
            return "eleven"
        levels = [super(Levels, self).read(part) for part in parts]
        return "eleven" if tuple(levels) == ELEVEN_LEVELS else "/".join(map(show, levels))


def recall_levels() -> Any:
    """Declare a parameter that holds recall levels."""
    return Levels("eleven", kind=float, low=0.0, high=1.0)


class AvgIPrec(Measure):
    """Mean of the interpolated precision at some recall levels, by default the eleven.

    `rule` as for IPrec, without the printed ones.

    >>> round(AvgIPrec().of([1, 0, 1, 0, 0, 1]), 4)  # 1 at 0 .. 0.3, 2/3 at 0.4 .. 0.6, then 1/2
    0.7273
    """

    title = "interpolated precision averaged over recall levels"
    formula = "mean over levels of IPrec"
    source = "trec_eval 11pt_avg"
    aliases: ClassVar[Aliases] = {"11pt_avg": {"rule": "trec10"}, "iprec11": {}}

    rule: str = choice("standard", "trec9", "trec10")
    levels: Any = recall_levels()
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        levels = ELEVEN_LEVELS if self.levels == "eleven" else list(map(float, self.levels.split("/")))
        columns = interpolate(judged, levels, rule=self.rule, rel=self.rel)
        total: Floats = columns[:, ::-1].cumsum(axis=1)[:, -1]  # from the last level to the first
        return total / len(levels)
