"""Hochberg's correction."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.statistics import Correction


class Hochberg(Correction):
    """Hochberg's step-up correction: Holm's factors, each value no larger than the next.

    >>> Hochberg().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Hochberg's step-up correction"
    controls = "the chance of one false finding or more, if the tests are independent or rise and fall as one"
    source = "Hochberg 1988"

    def of_rising(self, p: Floats) -> Floats:
        """Correct p values that are sorted, the smallest first."""
        return np.minimum.accumulate((p * np.arange(len(p), 0, -1))[::-1])[::-1]
