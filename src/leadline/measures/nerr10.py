"""Nearly expected reciprocal rank, equation 10."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.measures._walk import _Walk
from leadline.naming import number, whole


class NERR10(_Walk):
    """Gain per document of a user who stops by gain and for lack of patience, as in RBP.

    After each document the user goes on with probability p * (1 - gain), to rank `depth` at most.
    The gain is grade / max_grade; a larger grade is an error.

    >>> round(NERR10(p=0.5, max_grade=2, depth=2).of([1, 2]), 4)  # weights 1 and 1/4
    0.6
    """

    title = "nearly expected reciprocal rank, equation 10"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "p * (1 - gain(r))"
    source = "Azzopardi et al. 2021, equation 10; cwl_eval"

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    @property
    def last(self) -> int:
        """Give the last rank that the user may reach."""
        return self.depth

    def going_on(self, rank: Floats, gain: Floats) -> Floats:
        """Give the probability to go on to the next rank."""
        return np.asarray(self.p * (1 - gain[:, : len(rank)]), dtype=np.float64)
