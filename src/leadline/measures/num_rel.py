"""How many documents are relevant."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure, relevant
from leadline.naming import Spellings, number


class NumRel(Measure):
    """Number of relevant documents in the qrels, added up over queries.

    >>> NumRel().of([1, None, 0], judged=[1, 1, 0])
    2.0
    """

    title = "number of relevant documents"
    formula = "R, summed over queries"
    source = "trec_eval num_rel"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    spellings: ClassVar[Spellings] = {"num_rel": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return relevant(judged, self.rel)
