"""Relative precision of a set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, found, over, relevant
from leadline.naming import Spellings, number


class SetRelP(Measure):
    """Precision of the whole list divided by the best that a list of its length could have.

    >>> SetRelP().of([1, 0, 1, 0], judged=[1, 1, 1, 0, 0])  # 2 of at most 3
    0.6666666666666666
    """

    title = "relative precision of the set"
    formula = "r / min(n, R), with r relevant among n retrieved"
    source = "trec_eval set_relative_P; ir_measures SetRelP"
    spellings: ClassVar[Spellings] = {"set_relative_P": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), None)
        size = np.minimum(judged.length.astype(np.float64), relevant(judged, self.rel))
        return over(count, size)
