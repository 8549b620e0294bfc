"""Tests, intervals, corrections, correlation: what can be concluded from values of queries.

Everything here takes arrays of queries x columns, where a column is a pair of runs (differences) or a
run (values), and gives one number per column. NaN marks a query that a column does not have.
"""

from __future__ import annotations

import sys
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.naming import Named, Room


class PairedTest(Named):
    """A test of whether the differences of paired queries have the centre 0; one file each.

    `null` says in words what a small p speaks against.
    """

    title: ClassVar[str]
    null: ClassVar[str]
    source: ClassVar[str]

    def p_values(self, differences: Floats, *, seed: int = 0) -> Floats:
        """Give the two-sided p of each column of queries x columns; NaN where it is undefined."""
        raise NotImplementedError

    def smallest(self, queries: int) -> float:  # noqa: ARG002  # most tests know no such bound
        """Give the smallest p that differences of so many queries, none of them 0, could have."""
        return 0.0

    def p(self, differences: ArrayLike, *, seed: int = 0) -> float:
        """Give the two-sided p of one list of differences."""
        return float(self.p_values(column(differences), seed=checked_seed(seed))[0])


class Interval(Named):
    """A way to give an interval for the mean of queries drawn from a larger population; one file each."""

    title: ClassVar[str]
    source: ClassVar[str]

    def limits(
        self, values: Floats, *, level: float = 0.95, seed: int = 0
    ) -> tuple[Floats, Floats]:
        """Give the limits around the mean of each column; NaN for fewer than two queries."""
        raise NotImplementedError

    def of(self, values: ArrayLike, *, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
        """Give the limits around the mean of one list of values."""
        table = column(values)
        low, high = self.limits(table, level=checked_level(level), seed=checked_seed(seed))
        return float(low[0]), float(high[0])


class Correction(Named):
    """A way to make p values larger because there are many of them; one file each.

    `controls` says in words which error stays below the level.
    """

    title: ClassVar[str]
    controls: ClassVar[str]
    source: ClassVar[str]

    def corrected(self, p: ArrayLike) -> Floats:
        """Correct one family of p values; undefined ones stay so and do not count."""
        given = np.asarray(p, dtype=np.float64)
        found = np.full(given.shape, np.nan)
        known = np.flatnonzero(~np.isnan(given))
        order = known[np.argsort(given[known], kind="stable")]
        found[order] = np.minimum(self.of_rising(given[order]), 1.0)
        return found

    def of_rising(self, p: Floats) -> Floats:
        """Correct p values that are sorted, the smallest first; more than 1 is cut to 1 later."""
        raise NotImplementedError


def column(values: ArrayLike) -> Floats:
    """Make one list of values a table of one column."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 1:
        raise UsageError(f"values of {table.ndim} dimensions; expected one value per query")
    return table[:, None]


def checked_level(level: float) -> float:
    """Give a level of confidence back; an error when it is none."""
    if not isinstance(level, (int, float)) or not 0.5 <= level < 1:
        raise UsageError(
            f"confidence level {level!r}; expected a share from 0.5 to below 1, such as 0.95"
        )
    return float(level)


def checked_seed(seed: int) -> int:
    """Give a seed back; an error when it is none."""
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"seed {seed!r}; expected a whole number, 0 or more")
    return seed


TESTS: Room[PairedTest] = Room(sys.modules[__name__], PairedTest, "test")
INTERVALS: Room[Interval] = Room(sys.modules[__name__], Interval, "interval")
CORRECTIONS: Room[Correction] = Room(sys.modules[__name__], Correction, "correction")
