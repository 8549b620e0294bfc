"""Corrections for multiple comparisons."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.registry import Aliases
from leadline.stats import Correction


class Uncorrected(Correction):
    """No correction: of many pairs that do not differ, one in twenty will seem to.

    >>> Uncorrected().corrected([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """

    title = "no correction"
    controls = "the error of each test by itself"
    source = ""
    aliases: ClassVar[Aliases] = {"none": {}}

    def of_rising(self, p: Floats) -> Floats:
        """Give the p values back."""
        return p


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


class BH(Correction):
    """Benjamini and Hochberg's step-up correction: p times n over its place, each no larger than the next.

    >>> BH().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Benjamini and Hochberg's correction"
    controls = "the expected share of false findings among the findings"
    source = "Benjamini and Hochberg 1995"
    aliases: ClassVar[Aliases] = {"fdr": {}, "benjamini_hochberg": {}}

    def of_rising(self, p: Floats) -> Floats:
        """Correct p values that are sorted, the smallest first."""
        return np.minimum.accumulate((p * (len(p) / np.arange(1, len(p) + 1)))[::-1])[::-1]
