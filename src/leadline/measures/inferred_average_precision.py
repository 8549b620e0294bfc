"""Inferred average precision."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over, relevant
from leadline.naming import number

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

    def values(self, judged: Judged) -> Floats:
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
