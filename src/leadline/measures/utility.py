"""Utility of a set."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, found, relevant
from leadline.naming import Spellings, number, whole


class Utility(Measure):
    """Weighted counts: a and c for relevant documents, b and d for others, retrieved or not.

    With r relevant among n retrieved: a r + b (n - r) + c (R - r) + d (N - n - R + r). N is the
    size of the collection, 0 unless `documents` says it; only d needs it.

    >>> Utility().of([1, 0, None, 1]), Utility(a=2.0, c=-1.0).of([1, 0], judged=[1, 0, 1])
    (0.0, 0.0)
    """

    title = "utility of the set"
    formula = "a r + b (n - r) + c (R - r) + d (N - n - R + r)"
    source = "trec_eval utility; TREC filtering track"
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    spellings: ClassVar[Spellings] = {"SetUtility": {}}

    a: float = number(1.0)
    b: float = number(-1.0)
    c: float = number(0.0)
    d: float = number(0.0)
    documents: int = whole(0, low=0)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), None)
        size = relevant(judged, self.rel)
        length = judged.length
        return (
            self.a * count
            + self.b * (length - count)
            + self.c * (size - count)
            + self.d * (self.documents + count - length - size)
        )
