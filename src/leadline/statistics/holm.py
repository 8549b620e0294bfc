"""Holm's correction."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.statistics import Correction


class Holm(Correction):
    """Holm's step-down correction: the smallest p times n, the next times n - 1, never falling.

    >>> Holm().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """

    title = "Holm's step-down correction"
    controls = "the chance of one false finding or more, however the tests hang together"
    source = "Holm 1979"

    def of_rising(self, p: Floats) -> Floats:
        """Correct p values that are sorted, the smallest first."""
        return np.maximum.accumulate(p * np.arange(len(p), 0, -1))
