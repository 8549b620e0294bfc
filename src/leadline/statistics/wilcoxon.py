"""Wilcoxon's signed-rank test."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.naming import Spellings, choice
from leadline.statistics import PairedTest

DECIMALS = 12  # differences that agree to this many are ties, whatever the rounding of their sums


class Wilcoxon(PairedTest):
    """Wilcoxon's signed-rank test, by SciPy; it asks about symmetry around 0, not about the mean.

    `zeros` says what a difference of 0 does: `drop` leaves it out (Wilcoxon), `pratt` ranks it first. Where
    every difference is 0, p is 1. Exact for up to 50 queries without ties, else normal with tie correction.

    >>> round(Wilcoxon().p([0.1, 0.3, -0.15, 0.2, 0.25]), 4)
    0.1875
    """

    title = "Wilcoxon signed-rank test"
    null = "the differences are symmetric around 0"
    source = "Wilcoxon 1945; Pratt 1959"
    spellings: ClassVar[Spellings] = {"signed_rank": {}}

    zeros: str = choice("drop", "pratt")

    def p_values(self, differences: Floats, *, seed: int = 0) -> Floats:  # noqa: ARG002  # draws nothing
        """Give the two-sided p of each column."""
        return np.array([self._one(column) for column in differences.T], dtype=np.float64)

    def _one(self, differences: Floats) -> float:
        from scipy.stats import wilcoxon

        known = np.round(differences[~np.isnan(differences)], DECIMALS)
        if len(known) == 0:
            return float("nan")
        if not known.any():
            return 1.0
        method: Any = "auto"
        rule = "wilcox" if self.zeros == "drop" else "pratt"
        if rule == "wilcox":
            known = known[known != 0]  # SciPy would not be exact beside them
        ranked = np.abs(known)
        if len(ranked) > 50 or len(np.unique(ranked)) < len(ranked) or not ranked.all():
            method = "asymptotic"
        return float(wilcoxon(known, zero_method=rule, method=method).pvalue)
