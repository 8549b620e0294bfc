"""The paired t test."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.naming import Spellings
from leadline.statistics import PairedTest
from leadline.statistics.moments import moments


class T(PairedTest):
    """Paired t test: mean difference over its standard error, against Student's t.

    With fewer than two queries p is undefined, and so it is where all differences are equal but not 0 (there
    is no spread to judge by). Where all are 0 it is 1.

    >>> round(T().p([0.1, 0.3, -0.1, 0.2, 0.2]), 4)
    0.1079
    """

    title = "paired t test"
    null = "the mean difference is 0"
    source = "Student 1908; for retrieval Sanderson and Zobel 2005"
    spellings: ClassVar[Spellings] = {"ttest": {}, "paired_t": {}, "student": {}}

    def p_values(self, differences: Floats, *, seed: int = 0) -> Floats:  # noqa: ARG002  # draws nothing
        """Give the two-sided p of each column."""
        from scipy.special import stdtr

        found = moments(differences)
        spread = found.deviation > 0
        t = np.divide(found.mean, found.error, out=np.full(len(spread), np.nan), where=spread)
        p: Floats = 2 * stdtr(found.number - 1, -np.abs(t))
        p[(found.deviation == 0) & (found.mean == 0)] = 1.0
        return p
