"""How many queries were averaged."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure
from leadline.naming import Spellings


class NumQ(Measure):
    """Number of queries: 1 for each, added up.

    >>> NumQ().of([1, 0])
    1.0
    """

    title = "number of queries"
    formula = "1 per query, summed"
    source = "trec_eval num_q"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    spellings: ClassVar[Spellings] = {"num_q": {}}

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return np.ones(len(judged.present))
