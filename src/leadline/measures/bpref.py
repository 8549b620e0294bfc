"""Bpref."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over, relevant
from leadline.naming import Spellings, number


class Bpref(Measure):
    """How seldom judged non-relevant documents stand above relevant ones.

    Unjudged documents are skipped. A negative grade is not a judgment. With R relevant, N judged
    non-relevant, and n of those above a relevant document, it contributes 1 - min(n, R) / min(N,
    R), or 1 when n = 0.

    >>> Bpref().of([1, 0, None, 1, 0], judged=[1, 1, 0, 0])
    0.75
    """

    title = "binary preference"
    formula = "1/R sum over retrieved relevant documents of 1 - min(n, R) / min(N, R)"
    source = "Buckley and Voorhees 2004, as in trec_eval bpref"
    spellings: ClassVar[Spellings] = {"bpref": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        size = relevant(judged, self.rel)
        grades = judged.qrels.grades
        others = judged.qrels.count((grades >= 0) & (grades < self.rel)).astype(np.float64)
        is_other = (judged.grade >= 0) & (judged.grade < self.rel)
        running = np.concatenate(([0], np.cumsum(is_other)))
        above = running[:-1] - running[judged.offsets[:-1]][judged.query]
        chosen = judged.grade >= self.rel
        query = judged.query[chosen]
        some = above[chosen] > 0
        share = np.zeros(len(query))
        limit = size[query]
        bound = np.maximum(np.minimum(others[query], limit), 1.0)
        share[some] = (np.minimum(above[chosen], limit) / bound)[some]
        return over(judged.total(query, 1.0 - share), size)
