"""Nearly expected reciprocal rank, equation 9."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.measures._walk import _Walk
from leadline.naming import needed_cutoff, number


class NERR9(_Walk):
    """Gain per document of a user who stops by gain and by rank, at rank k at the latest.

    After rank r the user goes on with probability r / (r + 1) * (1 - gain).
    The gain is grade / max_grade; a larger grade is an error.

    >>> NERR9(max_grade=2, cutoff=2).of([1, 2])  # weights 1 and 1/4
    0.6
    """

    title = "nearly expected reciprocal rank, equation 9"
    formula = "sum of V(r) * gain(r) / sum of V(r), V(1) = 1, V(r + 1) = V(r) * "
    formula += "r / (r + 1) * (1 - gain(r)) for r < k"
    source = "Azzopardi et al. 2021, equation 9; cwl_eval"

    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    @property
    def last(self) -> int:
        """Give the last rank that the user may reach."""
        return self.cutoff

    def going_on(self, rank: Floats, gain: Floats) -> Floats:
        """Give the probability to go on to the next rank."""
        return np.asarray(rank / (rank + 1) * (1 - gain[:, : len(rank)]), dtype=np.float64)
