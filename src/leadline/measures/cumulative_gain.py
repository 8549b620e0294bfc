"""Cumulative gain."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, finite
from leadline.naming import Refused, cutoff

NO_LEVEL = {"rel": "a gain is a grade, relevant or not (ranx takes the level off the gains)"}


class CG(Measure):
    """Sum of the gains of the first k documents; the gain is the grade, 0 if it is negative.

    >>> round(CG(cutoff=6).of([1, 0.6, 0, 0.8, 0, 1]), 4)
    3.4
    """

    title = "cumulative gain"
    formula = "sum over ranks 1..k of the gain"
    source = "lecture, 'Cumulative Gain'; Jarvelin and Kekalainen 2002"
    high: ClassVar[float] = math.inf

    refused: ClassVar[Refused] = NO_LEVEL

    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, gain = judged.gains
        if self.cutoff is not None:
            kept = rank <= self.cutoff
            query, gain = query[kept], gain[kept]
        return finite(self, judged.total(query, gain))
