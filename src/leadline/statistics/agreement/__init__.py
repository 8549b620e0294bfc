"""How far judges agree on the same pairs of query and document: one file per coefficient.

All coefficients are made of tables of grades x grades. For two judges that is the confusion table: how often
the first gave the grade of the row and the second that of the column. For many it is the table of
coincidences (Krippendorff): every pair of judgments of one unit, both ways, each weighing 1 / (number of
judgments of the unit - 1). A unit is a pair of query and document.

There is no coefficient called just kappa: the lecture's is `Scott`, the one most programs mean is `Cohen`.
Chance gives 0, full agreement 1. Where all judgments fall on one grade, chance alone gives full agreement and
what is corrected for chance is 0/0: undefined (NaN), never 1.
"""

from __future__ import annotations

import sys
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.naming import Named, Room
from leadline.statistics.agreement.tables import coded, coincidences, confusions

ACCEPTABLE = 2 / 3  # the lecture: values in [2/3, 1] are acceptable


class Coefficient(Named):
    """One way to put agreement into a number.

    `called` is its key in results. `many` says that it takes any number of judges, and is made of the table
    of coincidences; the others take two. `holes` says that judgments may be missing where more than two
    judged. `corrected` says whether chance is taken off.
    """

    title: ClassVar[str]
    called: ClassVar[str]
    source: ClassVar[str]
    many: ClassVar[bool] = False
    holes: ClassVar[bool] = True
    corrected: ClassVar[bool] = True

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Give the coefficient of each table (... x grades x grades); NaN where it is undefined.

        `values` are the grades, rising.
        """
        raise NotImplementedError

    def of(self, grades: ArrayLike) -> float:
        """Give the coefficient of judgments: units x judges, NaN where a judge did not judge.

        Two judges: a unit that only one judged is left out. Of more, NaN where a judgment is missing and the
        coefficient needs all.
        """
        table = _checked(grades)
        if not self.holes and table.shape[1] > 2 and np.isnan(table).any():
            return float("nan")
        values, codes = coded(table)
        if self.many:
            counts = coincidences(codes, len(values))
        elif codes.shape[1] == 2:
            counts = confusions(codes[:, 0], codes[:, 1], len(values))
        else:
            raise UsageError(f"{codes.shape[1]} judges; expected two for {type(self).__name__}")
        return float(self.of_tables(counts, values)[0]) if len(values) else float("nan")


def acceptable(value: float) -> bool | None:
    """Say whether a value lies in the lecture's range [2/3, 1]; None where it is undefined.

    >>> acceptable(0.776), acceptable(0.5), acceptable(float("nan"))
    (True, False, None)
    """
    return None if np.isnan(value) else bool(value >= ACCEPTABLE)


def above_chance(observed: Floats, expected: Floats) -> Floats:
    """Give (P(A) - P(E)) / (1 - P(E)); NaN where chance alone agrees always."""
    room = 1.0 - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(room > 0, (observed - expected) / room, np.nan)
    return found


def shares(tables: Floats) -> Floats:
    """Give every cell as a share of its table; NaN for a table of nothing."""
    whole = tables.sum(axis=(-2, -1), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(whole > 0, tables / whole, np.nan)
    return found


def _checked(grades: ArrayLike) -> Floats:
    try:
        table = np.asarray(grades, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("grades that are no table of numbers; expected units x judges") from None
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError(
            f"grades of shape {table.shape}; expected units x judges, two judges or more"
        )
    if np.isinf(table).any():
        raise UsageError("an infinite grade; expected numbers, or NaN where a judge did not judge")
    return table


COEFFICIENTS: Room[Coefficient] = Room(sys.modules[__name__], Coefficient, "coefficient")
