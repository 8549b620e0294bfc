"""Tables made of rows of numbers, and numbers with their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.table import Cell, Probability, Table, plain
from leadline.stats.moments import interval


def sheet(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], **how: Any) -> Table:
    """Return a table of rows: a column is `heading=key`, or the key where it is the heading too.

    A key within a key follows a dot; what is missing is empty; a key that ends with `?` is a probability.

    >>> sheet([{"name": "a", "R": {"low": 0.5}}], ["name", "lowest=R.low", "high=R.high"]).rows
    [['a', 0.5, None]]
    """
    parts = [column.rpartition("=") for column in columns]
    keys = [key for _, _, key in parts]
    heads = [heading or key for heading, _, key in parts]
    return Table(heads, [[cell_of(row, key) for key in keys] for row in rows], **how)


def cell_of(row: Mapping[str, Any], key: str) -> Cell:
    """Return the value under a key; None for NaN."""
    value: Any = row
    for part in key.removesuffix("?").split("."):
        value = None if value is None else value.get(part)
    if isinstance(value, float) and math.isnan(value):
        value = None
    if key.endswith("?") and value is not None:
        return Probability(value)
    cell: Cell = value
    return cell


def columns(rows: Iterable[Mapping[str, Any]], *keys: str) -> list[list[float]]:
    """Return the numbers under each key, NaN for None."""
    return [[known(cell_of(row, key)) for row in rows] for rows in [list(rows)] for key in keys]


def known(value: Any) -> float:
    """Return a number, NaN for None."""
    return float("nan") if value is None else float(value)


def estimated(value: float, resampled: Sequence[float] | Floats) -> dict[str, float | None]:
    """Return a value with its bootstrap interval."""
    low, high = interval(resampled)
    return {"value": plain(value), "low": plain(low), "high": plain(high)}


def quantiles(values: Sequence[float] | Floats, *shares: float) -> list[float | None]:
    """Return quantiles of the defined values; None if there are none.

    >>> quantiles([1.0, float("nan"), 3.0], 0.0, 0.5), quantiles([], 0.5)
    ([1.0, 2.0], [None])
    """
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    return np.quantile(defined, shares).tolist() if len(defined) else [None] * len(shares)


def correlated(coefficient: Callable[[Floats, Floats], float], x: Floats, y: Floats, least: int = 0) -> float:
    """Return the correlation where the second column is defined; NaN for fewer than `least` values.

    >>> correlated(np.dot, np.array([1.0, 2.0, 3.0]), np.array([2.0, np.nan, 1.0]))
    5.0
    """
    defined = ~np.isnan(y)
    return float(coefficient(x[defined], y[defined])) if defined.sum() >= least else float("nan")
