"""INST: a user who wants T documents and tires as they are found."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.measures._walk import _Walk
from leadline.naming import number, whole


class INST(_Walk):
    """Gain per document of a user who wants T units of gain, and stops sooner the more is found.

    At rank r, with the gain G so far, the user goes on with probability
    ((r + 2T - G - 1) / (r + 2T - G))^2, to rank `depth` at most. The gain is grade / max_grade; a
    larger grade is an error.

    >>> round(INST(max_grade=1, depth=2).of([1, 0]), 4)  # weights 1 and (1/2)^2
    0.8
    """

    title = "INST: inverse squares, adaptive"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "((r + 2T - G(r) - 1) / (r + 2T - G(r)))^2, G(r) the gain to rank r"
    source = "Moffat et al. 2015; Bailey et al. 2015; cwl_eval"

    T: float = number(1.0, low=0.5)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    depth: int = whole(1000)

    @property
    def last(self) -> int:
        """Give the last rank that the user may reach."""
        return self.depth

    def going_on(self, rank: Floats, gain: Floats) -> Floats:
        """Give the probability to go on to the next rank."""
        left = rank + 2 * self.T - np.cumsum(gain, axis=1)[:, : len(rank)]
        return np.asarray(np.square((left - 1) / left), dtype=np.float64)
