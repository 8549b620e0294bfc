"""Fleiss' kappa for many judges."""

from __future__ import annotations

from leadline.arrays import Floats
from leadline.statistics.agreement import Coefficient, above_chance, shares


class Fleiss(Coefficient):
    """Fleiss' kappa: Scott's pi for any number of judges, all of whom judged every unit.

    P(A) is the share of agreeing pairs of judgments of the same unit, P(E) the sum of squared shares of the
    grades among all judgments. With two judges it is Scott's pi. Where judgments are missing it is not
    defined (NaN): `Krippendorff` is for that. From -1 / (judges - 1) to 1.

    >>> round(Fleiss().of([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 0, 1]]), 4)
    0.3333
    """

    title = "Fleiss' kappa"
    called = "fleiss"
    source = "Fleiss 1971"
    many = True
    holes = False

    def of_tables(self, tables: Floats, _values: Floats) -> Floats:
        """Give agreement above that of the shares of grades."""
        cells = shares(tables)
        return above_chance(cells.trace(axis1=-2, axis2=-1), (cells.sum(axis=-1) ** 2).sum(axis=-1))
