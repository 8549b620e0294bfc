"""How many relevant documents were retrieved."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure, found
from leadline.naming import Spellings, cutoff, number


class NumRelRet(Measure):
    """Number of relevant documents among the first k, added up over queries.

    >>> NumRelRet(cutoff=2).of([1, 0, 1])
    1.0
    """

    title = "number of relevant documents retrieved"
    formula = "relevant documents at ranks 1..k, summed over queries"
    source = "trec_eval num_rel_ret"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    spellings: ClassVar[Spellings] = {"num_rel_ret": {}, "hits": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return found(judged, judged.hits(self.rel), self.cutoff)
