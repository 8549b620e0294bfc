"""Interpolated precision at a recall level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from leadline.arrays import Flags, Floats, Integers
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.naming import Alone, Spellings, choice, number, recall_level

if TYPE_CHECKING:
    from fractions import Fraction

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
    spellings: ClassVar[Spellings] = {"iprec_at_recall": {"rule": "trec10"}}
    alone: ClassVar[Alone] = {"iprec_at_recall": ELEVEN_LEVELS}

    rule: str = choice(*RULES)
    rel: float = number(1.0, low=0.0)
    recall: float = recall_level()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return interpolate(judged, [self.recall], rule=self.rule, rel=self.rel)[:, 0]


def interpolate(
    judged: Judged, levels: Sequence[float], *, rule: str = "standard", rel: float = 1.0
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


def _reaching(judged: Judged, needed: Integers, rel: float) -> Floats:
    """Give the highest precision at a relevant document that is at least the needed-th."""
    hits = judged.hits(rel)
    return _best(judged, hits.nth >= needed[hits.query], rel, otherwise=0.0)


def _best(judged: Judged, chosen: Flags, rel: float, *, otherwise: float) -> Floats:
    """Give the highest precision at the chosen ones of the relevant documents."""
    hits = judged.hits(rel)
    best = np.full(len(judged.present), -1.0)
    np.maximum.at(best, hits.query[chosen], (hits.nth / hits.rank)[chosen])
    return np.where(best < 0, otherwise, best)


def _printed(judged: Judged, level: float, rule: str, rel: float) -> Floats:
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
