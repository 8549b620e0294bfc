"""Tables made of rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leadline.data.table import Cell, Probability, Table


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
    """Return the value under a key."""
    value: Any = row
    for part in key.removesuffix("?").split("."):
        value = None if value is None else value.get(part)
    if key.endswith("?") and value is not None:
        return Probability(value)
    cell: Cell = value
    return cell
