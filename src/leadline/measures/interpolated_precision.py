"""Interpolated precision at a recall level."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.naming import choice, number, recall_level

RULES = ("standard", "printed-next", "printed-zero", "trec9", "trec10")
ELEVEN_LEVELS = tuple(tenth / 10 for tenth in range(11))


class IPrec(Measure):
    """Highest precision at any rank where recall has reached the level; 0 when it never does.

    `rule=standard` compares recall and level exactly. `printed-next` and `printed-zero` are the lecture's
    printed rule, the highest precision between one tenth and the next (both ends); a stretch without a
    point takes the next level's value or 0. `trec9` and `trec10` ask for int(level R + 0.9) and
    round(level R) relevant documents, as those versions of trec_eval do.

    >>> grades = [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1]
    >>> round(IPrec(recall=0.6).of(grades), 3), IPrec(recall=0.6, rule="printed-next").of(grades)
    (0.556, 0.5)
    """

    title = "interpolated precision"
    formula = "max over ranks r with recall(r) >= level of precision(r)"
    source = "lecture, 'Interpolating a Recall/Precision Curve'; trec_eval iprec_at_recall"
    spellings = {"iprec_at_recall": {"rule": "trec10"}}

    rule: str = choice(*RULES)
    rel: float = number(1.0)
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
        return np.floor(level * size + 0.5).astype(np.int64)
    exact = Fraction(str(level))
    return -(-exact.numerator * size // exact.denominator)


def _reaching(judged: Judged, needed: Integers, rel: float) -> Floats:
    """Give the highest precision at a relevant document that is at least the needed-th."""
    hits = judged.hits(rel)
    kept = hits.nth >= needed[hits.query]
    best = np.zeros(len(needed))
    np.maximum.at(best, hits.query[kept], (hits.nth / hits.rank)[kept])
    return best


def _printed(judged: Judged, level: float, rule: str, rel: float) -> Floats:
    """Give the highest precision between a tenth of recall and the next, both ends included."""
    hits = judged.hits(rel)
    size = judged.qrels.relevant(rel)
    exact = Fraction(str(level))
    best = np.full(len(size), np.nan)
    while True:
        upper = exact + Fraction(1, 10)
        place = hits.nth * exact.denominator >= exact.numerator * size[hits.query]
        place &= hits.nth * upper.denominator <= upper.numerator * size[hits.query]
        here = np.full(len(size), -1.0)
        np.maximum.at(here, hits.query[place], (hits.nth / hits.rank)[place])
        best = np.where(np.isnan(best) & (here >= 0), here, best)
        exact = upper
        if rule == "printed-zero" or exact > 1:
            return np.nan_to_num(best)
