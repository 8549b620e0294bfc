"""How many documents were retrieved."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure
from leadline.naming import Spellings


class NumRet(Measure):
    """Number of retrieved documents, added up over queries.

    >>> NumRet().of([1, None, 0])
    3.0
    """

    title = "number of retrieved documents"
    formula = "length of the list, summed over queries"
    source = "trec_eval num_ret"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    spellings: ClassVar[Spellings] = {"num_ret": {}}

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return judged.length.astype(np.float64)
