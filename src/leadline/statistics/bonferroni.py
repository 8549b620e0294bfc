"""Bonferroni's correction."""

from __future__ import annotations

from leadline.arrays import Floats
from leadline.statistics import Correction


class Bonferroni(Correction):
    """Bonferroni's correction: every p times n; Holm's is never worse.

    >>> Bonferroni().corrected([0.25, 0.5]).tolist()
    [0.5, 1.0]
    """

    title = "Bonferroni's correction"
    controls = "the chance of one false finding or more, however the tests hang together"
    source = "Dunn 1961"

    def of_rising(self, p: Floats) -> Floats:
        """Correct p values that are sorted, the smallest first."""
        return p * len(p)
