"""Measures of the ranks at which relevant documents are reached."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.bounds import Rule
from leadline.bounds.orders import group_bounds, last_places
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures.rank_of import RankOf


class FirstHit(Rule):
    """RR and Success look at the first relevant document only.

    It stands in the first tie group that has one. When r of the group's m documents are relevant, the
    first is at place i with probability C(m - i, r - 1) / C(m, r): r/m at place 1, and from place i to
    the next (m - i - r + 1) / (m - i) times as much.
    """

    measures: ClassVar[tuple[str, ...]] = ("RR", "Success")

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        rel, cutoff = float(getattr(measure, "rel", 1.0)), getattr(measure, "cutoff", None)
        chosen = np.flatnonzero(judged.grade >= rel)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        last = last_places(judged)[chosen]
        start, stop = group_bounds(query, first)
        values = low.copy()
        for row in np.flatnonzero(
            (judged.hits(rel).nth == 1) & (low[query] != high[query])
        ).tolist():
            chances = chances_of_first(int(last[row] - first[row]) + 1, int(stop[row] - start[row]))
            ranks = np.arange(len(chances)) + first[row]
            worth = 1.0 / ranks if type(measure).__name__ == "RR" else np.ones(len(ranks))
            if cutoff is not None:
                worth[ranks > cutoff] = 0.0
            values[query[row]] = float(chances @ worth)
        return values


def chances_of_first(size: int, relevant: int) -> Floats:
    """Give the probability of each place to hold the first of some relevant documents in any order.

    >>> chances_of_first(4, 2)
    array([0.5       , 0.33333333, 0.16666667])
    """
    place = np.arange(1, size - relevant + 1)
    steps = (size - place - relevant + 1) / (size - place)
    return np.asarray(np.cumprod(np.concatenate(([relevant / size], steps))), dtype=np.float64)


class Rank(Rule):
    """RankOf: the j-th of r relevant documents in a group of m is expected at place j (m + 1) / (r + 1).

    The relevant documents part the others into r + 1 stretches of equal expected length (m - r)/(r + 1), and
    j of these stand before the j-th. `form=search` is an expectation over the orders already. With more
    relevant documents, R kept, another document may be the n-th of `n=all`, and where it is never reached
    there is no value: no bounds for unjudged documents.
    """

    measures: ClassVar[tuple[str, ...]] = ("RankOf",)

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        del high
        assert isinstance(measure, RankOf)
        if measure.form == "search":
            return low
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        size = last_places(judged)[chosen] - first + 1
        start, stop = group_bounds(query, first)
        place = np.arange(len(chosen)) - start + 1
        reached = first - 1.0 + place * (size + 1) / (stop - start + 1)
        number = judged.qrels.relevant(measure.rel)
        wanted = number if measure.n == "all" else np.full(len(number), int(measure.n))
        last = np.flatnonzero(judged.hits(measure.rel).nth == wanted[query])
        values = np.full(len(number), np.nan)
        values[query[last]] = reached[last]
        return values

    def monotone(self, measure: Measure) -> bool:
        """Another document may be the one that counts."""
        del self, measure
        return False
