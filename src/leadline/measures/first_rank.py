"""Measures of the rank at which relevant documents are reached."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import Hits, JudgedRun
from leadline.data.registry import Aliases, choice, cutoff, number, whole
from leadline.measures import Average, Measure


class RR(Measure):
    """One over the rank of the first relevant document; 0 when none is retrieved by rank k.

    >>> RR().of([0, 0, 1, 1])
    0.3333333333333333
    """

    title = "reciprocal rank"
    formula = "1 / rank of the first relevant document"
    source = "trec_eval recip_rank; its mean is MRR"
    aliases: ClassVar[Aliases] = {"recip_rank": {}, "mrr": {}, "reciprocal_rank": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        first = hits.nth == 1
        if self.cutoff is not None:
            first &= hits.rank <= self.cutoff
        values = np.zeros(len(judged.present))
        values[hits.query[first]] = 1.0 / hits.rank[first]
        return values


class RankOf(Measure):
    """Rank of the n-th relevant document (`n=all`: the last); undefined when it is never reached.

    `form=search` is Cooper's expected search length: the non-relevant documents read before the
    n-th relevant one, in expectation over the orders of tied documents. Queries where it is
    undefined are left out of the mean (0 would read as the best rank of all) and counted.

    >>> RankOf(n=2).of([0, 1, 0, 1]), RankOf(n=2, form="search").of([0, 1, 0, 1])
    (4.0, 2.0)
    """

    title = "rank of the n-th relevant document"
    formula = "rank of the n-th relevant document"
    source = "lecture, 'How far down the ranked list will a user need to look'; Cooper 1968"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = math.inf
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "defined"

    n: int | str = whole(1, words=("all",))
    form: str = choice("rank", "search")
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        size = judged.qrels.relevant(self.rel)
        wanted = size if self.n == "all" else np.full(len(size), int(self.n))
        last = np.flatnonzero(hits.nth == wanted[hits.query])
        values = np.full(len(size), np.nan)
        found = hits.rank if self.form == "rank" else read_before(judged, hits, self.rel)
        values[hits.query[last]] = found[last]
        return values


def read_before(judged: JudgedRun, hits: Hits, rel: float) -> Floats:
    """Give, per hit, the expected number of non-relevant documents read before it.

    Among g relevant and m other documents of equal score, j m / (g + 1) of the others stand before
    the j-th relevant one.
    """
    chosen = np.flatnonzero(judged.grade >= rel)
    first = judged.tie_first[chosen].astype(np.int64)
    last = np.minimum(judged.tie_last[chosen], judged.length[hits.query])
    group = hits.query.astype(np.int64) * (int(first.max(initial=0)) + 1) + first
    start, stop = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
    place = np.arange(len(group)) - start + 1
    others = last - first + 1 - (stop - start)
    above = first - 1 - (hits.nth - place)
    return np.asarray(above + place * others / (stop - start + 1.0), dtype=np.float64)
