"""How far down a user must look."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure
from leadline.naming import choice, number, whole


class RankOf(Measure):
    """Rank of the n-th relevant document (`n=all`: of the last); undefined when it is never reached.

    `form=search` is Cooper's expected search length: the non-relevant documents read before the n-th
    relevant one, in expectation over the orders of tied documents. Queries where it is undefined are left
    out of the mean (0 would read as the best rank of all) and counted.

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
    rel: float = number(1.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        size = judged.qrels.relevant(self.rel)
        wanted = size if self.n == "all" else np.full(len(size), int(self.n))
        values = np.full(len(size), np.nan)
        last = np.flatnonzero((hits.nth == wanted[hits.query]) & (size[hits.query] > 0))
        query = hits.query[last]
        if self.form == "rank":
            values[query] = hits.rank[last]
            return values
        chosen = np.flatnonzero(judged.grade >= self.rel)
        first = judged.tie_first[chosen].astype(np.int64)
        final = judged.tie_last[chosen].astype(np.int64)
        group = judged.query[chosen].astype(np.int64) * (int(first.max(initial=0)) + 1) + first
        inside = np.searchsorted(group, group, side="right") - np.searchsorted(group, group)
        place = np.arange(len(group)) - np.searchsorted(group, group)
        before = first - 1 - (hits.nth - 1 - place)
        mixed = final - first + 1 - inside
        values[query] = (before + (place + 1) * mixed / (inside + 1))[last]
        return values
