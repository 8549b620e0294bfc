"""Benjamini and Hochberg's correction."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.naming import Spellings
from leadline.statistics import Correction


class BH(Correction):
    """Benjamini and Hochberg's step-up correction: p times n over its place, each no larger than the next.

    >>> BH().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Benjamini and Hochberg's correction"
    controls = "the expected share of false findings among the findings"
    source = "Benjamini and Hochberg 1995"
    spellings: ClassVar[Spellings] = {"fdr": {}, "benjamini_hochberg": {}}

    def of_rising(self, p: Floats) -> Floats:
        """Correct p values that are sorted, the smallest first."""
        return np.minimum.accumulate((p * (len(p) / np.arange(1, len(p) + 1)))[::-1])[::-1]
