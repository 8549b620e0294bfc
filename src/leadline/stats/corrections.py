"""Corrections for multiple comparisons."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.registry import Aliases
from leadline.stats import Correction


class Uncorrected(Correction):
    """No correction: each test has its own error rate.

    >>> Uncorrected().corrected([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """

    title = "no correction"
    controls = "the error rate of each test separately"
    source = ""
    aliases: ClassVar[Aliases] = {"none": {}}

    def of_rising(self, p: Floats) -> Floats:
        """Return the p-values unchanged."""
        return p


class Bonferroni(Correction):
    """Bonferroni's correction: each p times n. Holm's is uniformly more powerful.

    >>> Bonferroni().corrected([0.25, 0.5]).tolist()
    [0.5, 1.0]
    """

    title = "Bonferroni's correction"
    controls = "the family-wise error rate, under any dependence between the tests"
    source = "Dunn 1961"

    def of_rising(self, p: Floats) -> Floats:
        return p * len(p)


class Holm(Correction):
    """Holm's step-down correction: valid under any dependence between the tests.

    The i-th smallest p times n - i + 1, made non-decreasing.

    >>> Holm().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """

    title = "Holm's step-down correction"
    aliases: ClassVar[Aliases] = {"holm_bonferroni": {}}
    controls = "the family-wise error rate, under any dependence between the tests"
    source = "Holm 1979"

    def of_rising(self, p: Floats) -> Floats:
        return np.maximum.accumulate(p * np.arange(len(p), 0, -1))


class Hochberg(Correction):
    """Hochberg's step-up correction: Holm's factors, each value at most the next.

    >>> Hochberg().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Hochberg's step-up correction"
    controls = "the family-wise error rate, for independent or positively dependent tests"
    source = "Hochberg 1988"

    def of_rising(self, p: Floats) -> Floats:
        return np.minimum.accumulate((p * np.arange(len(p), 0, -1))[::-1])[::-1]


class BH(Correction):
    """Benjamini and Hochberg's step-up correction of the false discovery rate.

    The i-th smallest p times n / i, each value at most the next.

    >>> BH().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Benjamini and Hochberg's correction"
    controls = "the false discovery rate"
    source = "Benjamini and Hochberg 1995"
    aliases: ClassVar[Aliases] = {"fdr": {}, "fdr_bh": {}, "benjamini_hochberg": {}}

    def of_rising(self, p: Floats) -> Floats:
        return np.minimum.accumulate((p * (len(p) / np.arange(1, len(p) + 1)))[::-1])[::-1]
