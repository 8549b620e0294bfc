"""Plain bootstrap intervals."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.naming import whole
from leadline.statistics import Interval
from leadline.statistics.bca import resampled_means, resampling
from leadline.statistics.clusters import totals


class Percentile(Interval):
    """Quantiles of the means of `draws` resamples of the queries; too narrow for few queries.

    With groups of queries whole groups are drawn.

    >>> low, high = Percentile().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 2), round(high, 2)
    (0.02, 0.24)
    """

    title = "percentile bootstrap interval"
    source = "Efron and Tibshirani 1993, chapter 13"

    draws: int = whole(9_999, low=99)

    def limits(
        self,
        values: Floats,
        *,
        level: float = 0.95,
        seed: int = 0,
        groups: Integers | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the limits around the mean of each column; NaN for fewer than two queries (or groups)."""
        low, high = np.full((2, values.shape[1]), np.nan)
        shares = [(1 - level) / 2, (1 + level) / 2]
        for columns, given in resampling(totals(values, groups)):
            drawn = resampled_means(given, self.draws, seed)
            low[columns], high[columns] = np.quantile(drawn, shares, axis=0)
        return low, high
