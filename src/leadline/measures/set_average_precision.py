"""Average precision of a set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, found, over, relevant
from leadline.naming import Spellings, number


class SetAP(Measure):
    """Precision times recall of the whole list: its average precision if it had no order.

    >>> SetAP().of([1, 0, 1, None], judged=[1, 1, 1, 1, 0])  # 2/4 of 2/4
    0.25
    """

    title = "average precision of the set"
    formula = "r^2 / (n R), with r relevant among n retrieved"
    source = "trec_eval set_map"
    spellings: ClassVar[Spellings] = {"set_map": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), None)
        size = judged.length.astype(np.float64) * relevant(judged, self.rel)
        return over(count * count, size)
