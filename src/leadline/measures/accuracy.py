"""Accuracy of pairs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure, over
from leadline.naming import cutoff, number


class Accuracy(Measure):
    """Share of the pairs of a relevant and another document in the list that stand in this order.

    Documents without a judgment count as not relevant. Undefined when the first k documents hold
    no such pair; these queries are left out of the mean and counted. The accuracy at k of
    sentence-transformers and BEIR is `Success@k`, and so is `accuracy@k` in small letters.

    >>> Accuracy().of([1, 0, 1])
    0.5
    """

    title = "accuracy of pairs"
    formula = "pairs with the relevant document first / pairs of a relevant and another document"
    source = "ir_measures Accuracy"
    average: ClassVar[Average] = "defined"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        kept = np.ones(len(hits.rank), dtype=np.bool_)
        length = judged.length.astype(np.float64)
        if self.cutoff is not None:
            kept = hits.rank <= self.cutoff
            length = np.minimum(length, self.cutoff)
        found = judged.total(hits.query[kept])
        pairs = found * (length - found)
        above = judged.total(hits.query[kept], (hits.rank - hits.nth)[kept])
        return over(pairs - above, pairs)
