"""Significance tests, confidence intervals, corrections, correlation and agreement.

Functions take arrays of queries x columns, where a column is a pair of runs (differences) or a run (values),
and return one number per column. NaN marks a query that a column does not have.
"""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Floats
from leadline.data.registry import Parametric, Registry
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.stats.moments import Groups, Totals


Alternative = Literal["two-sided", "less", "greater"]


class PairedTest(Parametric):
    """Base class of the paired tests of a zero centre of the differences over queries.

    `null` is the null hypothesis in words; `clusters` is whether the test supports groups of dependent
    queries, and `weighs` whether it supports weights. Subclasses implement `_p_of` and `smallest`.
    """

    title: ClassVar[str]
    null: ClassVar[str]
    source: ClassVar[str]
    clusters: ClassVar[bool] = True
    weighs: ClassVar[bool] = True

    def p_values(
        self,
        differences: Floats,
        *,
        seed: int = 0,
        alternative: Alternative = "two-sided",
        groups: Groups | None = None,
    ) -> Floats:
        """Return the p value of each column."""
        from leadline.stats.moments import sign_p, too_few_groups, totals, without_spread

        observed = totals(differences, checked_groups(self, groups))
        if alternative not in get_args(Alternative):
            raise UsageError(f"alternative must be 'two-sided', 'less' or 'greater', not {alternative!r}")
        if alternative == "less":
            observed = observed._replace(sums=-observed.sums)
        two_sided = alternative == "two-sided"
        p = self._p_of(observed, two_sided=two_sided, seed=seed)
        equal = without_spread(observed)
        p = np.where(equal, sign_p(observed, two_sided=two_sided), p) if equal.any() else p
        return np.where(too_few_groups(observed), np.nan, p)

    def _p_of(self, observed: Totals, *, two_sided: bool, seed: int) -> Floats:
        """Return p of each column, two-sided or of the alternative "greater"; NaN where undefined."""
        raise NotImplementedError

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return a lower bound of p, given the number of queries (or groups) with a non-zero difference.

        The bound holds for differences that are not all equal; for equal ones it is that of the sign test.
        """
        raise NotImplementedError

    def p(self, differences: ArrayLike, *, seed: int = 0, alternative: Alternative = "two-sided") -> float:
        """Return the p-value of a single list of differences."""
        p = self.p_values(column(differences), seed=checked_seed(seed), alternative=alternative)
        return float(p[0])


class Interval(Parametric):
    """Base class of the confidence intervals of a mean over queries."""

    title: ClassVar[str]
    source: ClassVar[str]

    def limits(
        self, values: Floats, *, level: float = 0.95, seed: int = 0, groups: Groups | None = None
    ) -> tuple[Floats, Floats]:
        """Return the limits around the mean of each column; NaN for fewer than two queries or five groups."""
        raise NotImplementedError

    def of(self, values: ArrayLike, *, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
        """Return the confidence limits of the mean of a single list of values."""
        table = column(values)
        low, high = self.limits(table, level=checked_level(level), seed=checked_seed(seed))
        return float(low[0]), float(high[0])


class Correction(Parametric):
    """Base class of the corrections for multiple comparisons.

    `controls` names the error rate that is controlled.
    """

    title: ClassVar[str]
    controls: ClassVar[str]
    source: ClassVar[str]

    def corrected(self, p: ArrayLike) -> Floats:
        """Return adjusted p-values of one family of tests; NaN values are ignored and stay NaN."""
        values = np.asarray(p, dtype=np.float64)
        adjusted = np.full(values.shape, np.nan)
        defined = np.flatnonzero(~np.isnan(values))
        order = defined[np.argsort(values[defined], kind="stable")]
        adjusted[order] = np.minimum(self.of_rising(values[order]), 1.0)
        return adjusted

    def of_rising(self, p: Floats) -> Floats:
        """Return adjusted p-values of sorted ones, smallest first; `corrected` clips values above 1."""
        raise NotImplementedError


def column(values: ArrayLike) -> Floats:
    """Return a list of values as an array with one column."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("the values are not a list of numbers. Pass one number per query.") from None
    if table.ndim != 1:
        raise UsageError(f"the values have the shape {table.shape}. Pass a list with one value per query.")
    return table[:, None]


def checked_level(level: Any) -> float:
    """Return a confidence level; raise UsageError if it is out of range."""
    if not isinstance(level, Real) or not 0.5 <= float(level) < 1:
        raise UsageError(
            f"the confidence level must be a fraction (at least 0.5 and below 1), such as 0.95, not {level!r}"
        )
    return float(level)


def checked_power(power: float) -> float:
    """Return a power; raise UsageError if it is out of range."""
    if not 0 < power < 1:
        raise UsageError(f"power must be above 0 and below 1, such as 0.8, not {power!r}")
    return float(power)


def checked_seed(seed: Any) -> int:
    """Return a seed; raise UsageError if it is not a non-negative integer."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0:
        raise UsageError(f"seed must be a whole number of at least 0, not {seed!r}")
    return int(seed)


def checked_groups(test: PairedTest, groups: Groups | None) -> Groups | None:
    """Return groups; raise UsageError if the test does not support them, or their weights."""
    for name, what, given in (
        ("weighs", "query weights", isinstance(groups, tuple)),
        ("clusters", "groups of queries", groups is not None),
    ):
        if given and not getattr(test, name):
            able = ", ".join(one for one, kind in TESTS.classes.items() if getattr(kind, name))
            raise UsageError(f"{test} does not support {what}. Use one of {able}.")
    return groups


TESTS: Registry[PairedTest] = Registry(
    sys.modules[__name__],
    PairedTest,
    "test",
    refused={
        name: "this is a correction, not a test. Use a test such as T, with "
        f"--correction {name} for several pairs."
        for name in ("tukey", "holm", "bonferroni", "maxt", "bh")
    },
)
INTERVALS: Registry[Interval] = Registry(sys.modules[__name__], Interval, "interval")
CORRECTIONS: Registry[Correction] = Registry(sys.modules[__name__], Correction, "correction")
