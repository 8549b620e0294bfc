"""Cumulative gain."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.naming import cutoff


class CG(Measure):
    """Sum of the gains of the first k documents; the gain of a document is its grade, 0 if negative.

    >>> round(CG(cutoff=6).of([1, 0.6, 0, 0.8, 0, 1]), 4)
    3.4
    """

    title = "cumulative gain"
    formula = "sum over ranks 1..k of the gain"
    source = "lecture, 'Cumulative Gain'; Jarvelin and Kekalainen 2002"
    high: ClassVar[float] = math.inf

    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, gain = judged.gains
        if self.cutoff is not None:
            kept = rank <= self.cutoff
            query, gain = query[kept], gain[kept]
        return judged.total(query, gain)
