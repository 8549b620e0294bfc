"""One file per way to write a table for people or programs; each takes a `Sheet`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TypeAlias

Cell: TypeAlias = "str | float | int | None"


@dataclass
class Sheet:
    """A table to be written: columns, rows, what to mark, and what to say under it."""

    columns: list[str]
    rows: list[list[Cell]]
    best: set[tuple[int, int]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    title: str = ""
    digits: int = 4


def render(sheet: Sheet, form: str) -> str:
    """Write a sheet in one of the forms of this room."""
    text: str = importlib.import_module(f"{__name__}.{form}").write(sheet)
    return text


def shown(cell: Cell, digits: int) -> str:
    """Write a cell for people; undefined is a dash."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return str(cell)
