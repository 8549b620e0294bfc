"""Count, mean and spread of columns that may lack queries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats

# Below this share of the largest value a spread is rounding, not spread.
ROUNDING = 1e-12


class Moments(NamedTuple):
    """What the t test and its relatives need of each column."""

    number: Floats
    mean: Floats
    deviation: Floats

    @property
    def error(self) -> Floats:
        """Give the standard error of the mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.deviation / np.sqrt(self.number)


def moments(values: Floats) -> Moments:
    """Give count, mean and standard deviation (n - 1) per column of queries x columns.

    NaN is left out; the mean of nothing and the deviation of fewer than two values are NaN. A deviation
    that is only rounding of equal values is exactly 0.

    >>> found = moments(np.array([[1.0, 0.1], [2.0, 0.1], [3.0, float("nan")]]))
    >>> found.number.tolist(), found.mean.tolist(), found.deviation.tolist()
    ([3.0, 2.0], [2.0, 0.1], [1.0, 0.0])
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0).astype(np.float64)
    filled = np.where(known, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=0) / np.where(count == 0, np.nan, count)
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        deviation = np.sqrt(squares / np.where(count < 2, np.nan, count - 1))
    largest = np.abs(filled).max(axis=0, initial=0.0)
    deviation[deviation <= ROUNDING * largest] = 0.0
    return Moments(count, mean, deviation)
