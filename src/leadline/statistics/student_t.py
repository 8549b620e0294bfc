"""The paired t test."""

from __future__ import annotations

from statistics import NormalDist
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.naming import Spellings
from leadline.statistics import Alternative, PairedTest
from leadline.statistics.clusters import Totals, means

NORMAL = NormalDist()


class T(PairedTest):
    """Paired t test: mean difference over its standard error, against Student's t.

    With fewer than two queries p is undefined; where all differences are 0 it is 1. With groups of queries
    the standard error is cluster-robust, and the degrees of freedom are the groups less 1.

    >>> round(T().p([0.1, 0.3, -0.1, 0.2, 0.2]), 4)
    0.1079
    """

    title = "paired t test"
    null = "the mean difference is 0"
    source = "Student 1908; for retrieval Sanderson and Zobel 2005; groups: Liang and Zeger 1986"
    spellings: ClassVar[Spellings] = {"ttest": {}, "paired_t": {}, "student": {}}

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return 0 from two queries on; with one that differs, |t| is 1 however many do not."""
        bounds = {0: 1.0, 1: 2 * NORMAL.cdf(-1)}
        return bounds.get(queries, 0.0) / (1 if alternative == "two-sided" or not queries else 2)

    def _p_of(self, given: Totals, *, two_sided: bool, seed: int) -> Floats:  # noqa: ARG002  # draws nothing
        from scipy.special import stdtr

        found = means(given)
        spread = found.error > 0
        t = np.divide(found.mean, found.error, out=np.full(len(spread), np.nan), where=spread)
        p: Floats = stdtr(found.clusters - 1, -np.abs(t) if two_sided else -t)
        p *= 2 if two_sided else 1
        p[(found.error == 0) & (found.mean == 0)] = 1.0
        return p
