"""INSQ: a user who wants T documents and looks on regardless of what is found."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.measures._walk import _Walk
from leadline.naming import number, whole


class INSQ(_Walk):
    """Gain per document of a user who wants T units of gain and grows more patient with the rank.

    At rank r the user goes on with probability ((r + 2T - 1) / (r + 2T))^2, to rank `depth` at
    most. The gain is grade / max_grade; a larger grade is an error.

    >>> round(INSQ(max_grade=1, depth=2).of([1, 0]), 4)  # weights 1 and (2/3)^2
    0.6923
    """

    title = "INSQ: inverse squares"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "((r + 2T - 1) / (r + 2T))^2"
    source = "Moffat et al. 2012; cwl_eval"

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
        return np.broadcast_to(base, (len(gain), len(rank)))
