"""The interval of the t test."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats, Integers
from leadline.naming import Spellings
from leadline.statistics import Interval
from leadline.statistics.clusters import means, totals


class Student(Interval):
    """Mean plus and minus the t quantile times the standard error, which is cluster-robust with groups.

    >>> low, high = Student().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 4), round(high, 4)
    (-0.0483, 0.3283)
    """

    title = "t interval"
    source = "Student 1908; groups: Liang and Zeger 1986"
    spellings: ClassVar[Spellings] = {"t": {}}

    def limits(
        self,
        values: Floats,
        *,
        level: float = 0.95,
        seed: int = 0,  # noqa: ARG002  # draws nothing
        groups: Integers | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the limits around the mean of each column; NaN for fewer than two queries (or groups)."""
        from scipy.special import stdtrit

        found = means(totals(values, groups))
        reach = stdtrit(found.clusters - 1, (1 + level) / 2) * found.error
        return found.mean - reach, found.mean + reach
