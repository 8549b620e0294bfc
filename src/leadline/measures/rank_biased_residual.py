"""What rank-biased precision does not know."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures.rank_biased import weights
from leadline.naming import cutoff, number


class RBPResidual(Measure):
    """How much RBP would rise if every document without a judgment were relevant.

    The weight of all ranks, to infinity, that hold no judged document up to rank k; a negative
    grade is no judgment. RBP lies between its value and value + residual.

    >>> round(RBPResidual(p=0.5).of([1, None, 0]), 4)  # 0.25 of rank 2, 0.125 below rank 3
    0.375
    """

    title = "residual of rank-biased precision"
    formula = "1 - (1 - p) * sum over judged documents at ranks r <= k of p^(r - 1)"
    source = "Moffat and Zobel 2008"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False

    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        chosen = judged.grade >= 0
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        known = judged.total(judged.query[chosen], weights(judged.rank[chosen], self.p))
        return np.asarray(np.maximum(1.0 - known, 0.0), dtype=np.float64)
