"""Measures of the rank of the first or n-th relevant document."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import Hits, JudgedRun
from leadline.data.registry import Aliases, choice, cutoff, number, whole
from leadline.measures import Average, Measure


class RR(Measure):
    """Reciprocal rank of the first relevant document; 0 if none is retrieved in the top k.

    The mean over queries is MRR.

    >>> RR().of([0, 0, 1, 1])
    0.3333333333333333
    """

    title = "reciprocal rank"
    formula = "1 / rank of the first relevant document"
    source = "Voorhees 1999; trec_eval recip_rank"
    aliases: ClassVar[Aliases] = {"recip_rank": {}, "mrr": {}, "reciprocal_rank": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        hits = judged.hits(self.rel)
        first = hits.nth == 1
        if self.cutoff is not None:
            first &= hits.rank <= self.cutoff
        values = np.zeros(len(judged.present))
        values[hits.query[first]] = 1.0 / hits.rank[first]
        return values


class RankOf(Measure):
    """Rank of the n-th relevant document (`n=all`: the last); undefined if it is not retrieved.

    `form=search` is Cooper's expected search length: the number of non-relevant documents read
    before the n-th relevant one, in expectation over the orders of tied documents. Undefined values
    are excluded from the mean, where 0 would be better than any rank, and counted.

    >>> RankOf(n=2).of([0, 1, 0, 1]), RankOf(n=2, form="search").of([0, 1, 0, 1])
    (4.0, 2.0)
    """

    title = "rank of the n-th relevant document"
    formula = "rank of the n-th relevant document"
    source = "Cooper 1968 (expected search length)"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = math.inf
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "defined"

    n: int | str = whole(1, words=("all",))
    form: str = choice("rank", "search")
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        hits = judged.hits(self.rel)
        size = judged.qrels.relevant(self.rel)
        target = size if self.n == "all" else np.full(len(size), int(self.n))
        last = np.flatnonzero(hits.nth == target[hits.query])
        values = np.full(len(size), np.nan)
        reached = hits.rank if self.form == "rank" else read_before(judged, hits, self.rel)
        values[hits.query[last]] = reached[last]
        return values


def read_before(judged: JudgedRun, hits: Hits, rel: float) -> Floats:
    """Return the expected number of non-relevant documents read before each relevant one.

    Of g relevant and m other documents with equal scores, j m / (g + 1) of the others are expected
    before the j-th relevant one.
    """
    chosen = np.flatnonzero(judged.grade >= rel)
    first = judged.tie_first[chosen].astype(np.int64)
    last = np.minimum(judged.tie_last[chosen], judged.length[hits.query])
    group = hits.query.astype(np.int64) * (int(first.max(initial=0)) + 1) + first
    start, stop = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
    number = np.arange(len(group)) - start + 1
    nonrelevant = last - first + 1 - (stop - start)
    above = first - 1 - (hits.nth - number)
    return np.asarray(above + number * nonrelevant / (stop - start + 1.0), dtype=np.float64)
