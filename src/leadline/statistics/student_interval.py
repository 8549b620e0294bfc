"""The interval of the t test."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.naming import Spellings
from leadline.statistics import Interval
from leadline.statistics.moments import moments


class Student(Interval):
    """Mean plus and minus the t quantile times the standard error.

    >>> low, high = Student().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 4), round(high, 4)
    (-0.0483, 0.3283)
    """

    title = "t interval"
    source = "Student 1908"
    spellings: ClassVar[Spellings] = {"t": {}}

    def limits(
        self,
        values: Floats,
        *,
        level: float = 0.95,
        seed: int = 0,  # noqa: ARG002  # draws nothing
    ) -> tuple[Floats, Floats]:
        """Give the limits around the mean of each column; NaN for fewer than two queries."""
        from scipy.special import stdtrit

        found = moments(values)
        reach = stdtrit(found.number - 1, (1 + level) / 2) * found.error
        return found.mean - reach, found.mean + reach
