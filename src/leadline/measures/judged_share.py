"""How much of a list was judged at all."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged as JudgedTable
from leadline.measures import Measure, over
from leadline.naming import cutoff


class Judged(Measure):
    """Share of the first k documents that have a judgment.

    A low value makes every other number doubtful. A negative grade is not a judgment. A list
    shorter than k divides by its own length; an empty one is undefined.

    >>> Judged(cutoff=4).of([1, None, 0, None, 0])
    0.5
    """

    title = "judged documents"
    formula = "judged documents at ranks 1..k / min(k, length of the list)"
    source = "ir_measures Judged"
    quality: ClassVar[bool] = False

    cutoff: int | None = cutoff()

    def values(self, judged: JudgedTable) -> Floats:
        """Give the value of every query."""
        chosen = judged.grade >= 0
        size = judged.length.astype(np.float64)
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
            size = np.minimum(size, self.cutoff)
        return over(judged.total(judged.query[chosen]), size)
