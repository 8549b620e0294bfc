"""Percent agreement."""

from __future__ import annotations

from leadline.arrays import Floats
from leadline.statistics.agreement import Coefficient, shares


class PercentAgreement(Coefficient):
    """The share of units to which both judges give the same grade, P(A); chance is not taken off.

    From 0 to 1.

    >>> PercentAgreement().of([[1, 1], [1, 0], [0, 0], [0, 0]])
    0.75
    """

    title = "percent agreement"
    called = "agreement"
    source = "lecture, kappa measure"
    corrected = False

    def of_tables(self, tables: Floats, _values: Floats) -> Floats:
        """Give the sum of the diagonal as a share."""
        found: Floats = shares(tables).trace(axis1=-2, axis2=-1)
        return found
