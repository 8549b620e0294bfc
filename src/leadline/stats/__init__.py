"""Tests, intervals, corrections, correlation: what can be concluded from values of queries.

Everything here takes arrays of queries x columns, where a column is a pair of runs (differences) or a
run (values), and gives one number per column. NaN marks a query that a column does not have.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Parametric, Registry
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.stats.moments import Totals


Alternative = Literal["two-sided", "less", "greater"]


class PairedTest(Parametric):
    """A test of whether the differences of paired queries have the centre 0; one file each.

    `null` says in words what a small p speaks against; `clusters` says whether the test can take queries that
    go together. A test implements `_p_of`.
    """

    title: ClassVar[str]
    null: ClassVar[str]
    source: ClassVar[str]
    clusters: ClassVar[bool] = True

    def p_values(
        self,
        differences: Floats,
        *,
        seed: int = 0,
        alternative: Alternative = "two-sided",
        groups: Integers | None = None,
    ) -> Floats:
        """Return the p value of each column.

        Parameters
        ----------
        differences : ndarray, shape (queries, columns)
            NaN where a column does not have a query.
        seed : int
            Seed of the random draws, where there are any.
        alternative : {"two-sided", "less", "greater"}
            Where the centre of the differences lies if not at 0; "less" is below 0.
        groups : ndarray of int, shape (queries,), optional
            Queries of the same group are dependent; groups are independent of each other.

        Returns
        -------
        ndarray, shape (columns,)
            NaN where p is undefined. Where all differences of two queries or more are equal and not 0, p is
            that of the sign test, for every test (`leadline.stats.paired_tests.decided_by_sign` tells where).

        """
        from leadline.stats.moments import totals
        from leadline.stats.paired_tests import sign_p, without_spread

        given = totals(differences, checked_groups(self, groups))
        if checked_alternative(alternative) == "less":
            given = given.mirrored()
        two_sided = alternative == "two-sided"
        p = self._p_of(given, two_sided=two_sided, seed=seed)
        equal = without_spread(given)
        return np.where(equal, sign_p(given, two_sided=two_sided), p) if equal.any() else p

    def _p_of(self, given: Totals, *, two_sided: bool, seed: int) -> Floats:
        """Return p of each column, two-sided or of the alternative "greater"; NaN where undefined."""
        raise NotImplementedError

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return a lower bound of p, given the number of queries (or groups) whose difference is not 0.

        It is of differences that are not all equal; of those that are, it is that of the sign test.
        """
        raise NotImplementedError

    def p(self, differences: ArrayLike, *, seed: int = 0, alternative: Alternative = "two-sided") -> float:
        """Return the p value of one list of differences."""
        found = self.p_values(column(differences), seed=checked_seed(seed), alternative=alternative)
        return float(found[0])


class Interval(Parametric):
    """A way to give an interval for the mean of queries drawn from a larger population; one file each."""

    title: ClassVar[str]
    source: ClassVar[str]

    def limits(
        self, values: Floats, *, level: float = 0.95, seed: int = 0, groups: Integers | None = None
    ) -> tuple[Floats, Floats]:
        """Return the limits around the mean of each column; NaN for fewer than two queries (or groups).

        Parameters
        ----------
        values : ndarray, shape (queries, columns)
            NaN where a column does not have a query.
        level : float
            Confidence level.
        seed : int
            Seed of the random draws, where there are any.
        groups : ndarray of int, shape (queries,), optional
            Queries of the same group are dependent; groups are independent of each other.

        """
        raise NotImplementedError

    def of(self, values: ArrayLike, *, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
        """Give the limits around the mean of one list of values."""
        table = column(values)
        low, high = self.limits(table, level=checked_level(level), seed=checked_seed(seed))
        return float(low[0]), float(high[0])


class Correction(Parametric):
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
        raise UsageError(f"confidence level {level!r}; expected a share from 0.5 to below 1, such as 0.95")
    return float(level)


def checked_seed(seed: int) -> int:
    """Give a seed back; an error when it is none."""
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"seed {seed!r}; expected a whole number, 0 or more")
    return seed


def checked_alternative(alternative: Alternative) -> Alternative:
    """Return an alternative; an error when it is none."""
    if alternative not in get_args(Alternative):
        raise UsageError(f"alternative {alternative!r}; expected two-sided, less or greater")
    return alternative


def checked_groups(test: PairedTest, groups: Integers | None) -> Integers | None:
    """Return groups; an error when there are some and the test cannot take them."""
    if groups is not None and not test.clusters:
        able = ", ".join(name for name, kind in TESTS.classes.items() if kind.clusters)
        raise UsageError(f"{test} cannot take groups of queries; expected one of {able}")
    return groups


TESTS: Registry[PairedTest] = Registry(sys.modules[__name__], PairedTest, "test")
INTERVALS: Registry[Interval] = Registry(sys.modules[__name__], Interval, "interval")
CORRECTIONS: Registry[Correction] = Registry(sys.modules[__name__], Correction, "correction")
