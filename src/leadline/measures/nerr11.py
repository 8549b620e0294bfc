"""Nearly expected reciprocal rank, equation 11."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.measures._walk import _Walk
from leadline.naming import number, whole


class NERR11(_Walk):
    """Gain per document of a user who stops by gain and wants T units of it, as in INSQ.

    After rank r the user goes on with probability ((r + 2T - 1) / (r + 2T))^2 * (1 - gain), to
    rank `depth` at most.
    The gain is grade / max_grade; a larger grade is an error.

    >>> round(NERR11(max_grade=2, depth=2).of([1, 2]), 4)  # weights 1 and 2/9
    0.5909
    """

    title = "nearly expected reciprocal rank, equation 11"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "((r + 2T - 1) / (r + 2T))^2 * (1 - gain(r))"
    source = "Azzopardi et al. 2021, equation 11; cwl_eval"

    T: float = number(1.0, low=0.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    @property
    def last(self) -> int:
        """Give the last rank that the user may reach."""
        return self.depth

    def going_on(self, rank: Floats, gain: Floats) -> Floats:
        """Give the probability to go on to the next rank."""
        base = np.square((rank + 2 * self.T - 1) / (rank + 2 * self.T))
        return np.asarray(base * (1 - gain[:, : len(rank)]), dtype=np.float64)
