"""From rows of a log to the units that were randomised: users where they are known, else rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from leadline.arrays import Flags, Floats, Integers
from leadline.errors import InputError
from leadline.online.logs import Log


class Units(NamedTuple):
    """Units in the order in which they came: arm (0 for A), rows and clicked rows of each.

    `crossed` counts users that were in both arms and are left out.
    """

    arm: Integers
    rows: Floats
    clicks: Floats
    crossed: int = 0

    @property
    def clicked(self) -> Floats:
        """Say, as 0 or 1, who clicked at all."""
        return (self.clicks > 0).astype(np.float64)

    def counts(self, arm: int) -> tuple[int, int]:
        """Give how many units of an arm clicked, and how many there are."""
        mine = self.arm == arm
        return int(self.clicked[mine].sum()), int(mine.sum())


def units_of(log: Log, counted: Flags, click: Floats) -> Units:
    """Group the rows that count by user, or take every row for itself."""
    arm, click, users = log.arm[counted], click[counted], log.users[counted]
    if not len(arm):
        raise InputError("no row within the positions asked for", expected="one or more")
    if (users < 0).all():
        return Units(arm, np.ones(len(arm)), click)
    _, first, unit = np.unique(users, return_index=True, return_inverse=True)
    rows = np.bincount(unit).astype(np.float64)
    in_b = np.bincount(unit, weights=arm)
    crossed = (in_b > 0) & (in_b < rows)
    order = np.argsort(first, kind="stable")
    order = order[~crossed[order]]
    clicks = np.bincount(unit, weights=click)
    return Units(
        arm[first][order],
        rows[order],
        np.asarray(clicks, dtype=np.float64)[order],
        int(crossed.sum()),
    )


def ratio(units: Units, arm: int) -> tuple[float, float]:
    """Give the clicks a row of an arm, and its variance by the delta method: users, not rows, vary.

    With x clicks and y rows of each of n users, R = sum x / sum y and its variance is
    (s_xx - 2 R s_xy + R^2 s_yy) / (n ymean^2). NaN variance for fewer than two users.

    Source: Deng, Knoblich and Lu 2018.

    >>> units = Units(np.zeros(3, dtype=np.int64), np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0]))
    >>> [round(value, 4) for value in ratio(units, 0)]
    [0.3333, 0.037]
    """
    mine = units.arm == arm
    x, y = units.clicks[mine], units.rows[mine]
    value = float(x.sum() / y.sum())
    if len(x) < 2:
        return value, math.nan
    residual = x - value * y
    return value, float((residual**2).sum() / (len(x) - 1) / len(x) / y.mean() ** 2)
