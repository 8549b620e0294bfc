"""How many judged non-relevant documents were retrieved."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure
from leadline.naming import Spellings, number


class NumNonrelRet(Measure):
    """Number of retrieved documents that were judged and are not relevant, added up over queries.

    A negative grade is not a judgment.

    >>> NumNonrelRet().of([1, None, 0, 0, -1])
    2.0
    """

    title = "number of non-relevant documents retrieved"
    formula = "judged non-relevant documents in the list, summed over queries"
    source = "trec_eval num_nonrel_judged_ret"
    high: ClassVar[float] = math.inf
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "sum"
    spellings: ClassVar[Spellings] = {"num_nonrel_judged_ret": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return judged.total(judged.query[(judged.grade >= 0) & (judged.grade < self.rel)])
