"""Compatibility with an ideal ranking."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.judged import Judged
from leadline.measures import Measure, over
from leadline.naming import Refused, Spellings, number

NEVER = np.iinfo(np.int64).max  # the rank of what was not retrieved


class Compat(Measure):
    """Rank-biased overlap of the list with the most similar ideal list, divided by the best one.

    An ideal list holds the documents with a positive grade, the best first; among equal grades the
    order of the list itself is ideal, and what it lacks comes last. Depth is the longer of the two.
    Undefined when nothing has a positive grade.

    >>> round(Compat(p=0.5).of([1, 2]), 4)  # overlap 0, 1 of 1, 1: 0 + 0.5 of 1 + 0.5
    0.3333
    """

    title = "compatibility"
    formula = "sum over depths d of p^(d - 1) * (documents in the first d of both) / d, divided by "
    formula += "the same of the ideal list with itself"
    source = "Clarke et al. 2021; ir_measures Compat"
    spellings: ClassVar[Spellings] = {"compatibility": {}}
    refused: ClassVar[Refused] = {"normalize": "the value is always divided by the best one"}

    p: float = number(0.95, low=0.0, high=1.0, open_ends=True)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        qrels = judged.qrels
        rank = np.full(len(qrels), NEVER, dtype=np.int64)
        rank[judged.row] = judged.rank
        rows = np.flatnonzero(qrels.grades > 0)
        rows = rows[np.lexsort((rank[rows], -qrels.grades[rows], qrels.query[rows]))]
        query, rank = qrels.query[rows], rank[rows]
        ideal = np.arange(1, len(rows) + 1) - np.searchsorted(query, query)
        size = np.bincount(query, minlength=len(judged.present))
        depth = np.maximum(judged.length, size)
        share = self._shares(int(depth.max(initial=0)))
        found = rank < NEVER
        part = _overlap(share, depth[query[found]], np.maximum(rank, ideal)[found])
        whole = _overlap(share, depth[query], ideal)
        return over(judged.total(query[found], part), judged.total(query, whole))

    def _shares(self, depth: int) -> Floats:
        """Give what a document adds that is in both from the first depth to depth d."""
        depths = np.arange(1.0, depth + 1)
        return np.concatenate(([0.0], np.cumsum(np.power(self.p, depths - 1) / depths)))


def _overlap(share: Floats, depth: Integers, since: Integers) -> Floats:
    return np.asarray(share[depth] - share[since - 1], dtype=np.float64)
