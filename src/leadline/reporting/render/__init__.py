"""One file per way to write a table for people or programs; each takes a `Sheet`, `trec` results."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from typing import TypeAlias

from leadline.data.wording import cells as width_of
from leadline.data.wording import visible

Cell: TypeAlias = "str | float | int | None"


class Probability(float):
    """A probability: one that rounds to 0 is shown as smaller than the last digit."""

    __slots__ = ()


class RowLabel(str):
    """A word of ours in a column of ids, as the `mean` of all queries: programs get an empty cell."""

    __slots__ = ()


class Preformatted(str):
    """A number in the form in which it is to be shown."""

    __slots__ = ()


@dataclass
class Table:
    """A table to be written: columns, rows, what to mark, and what to say under it.

    `letters` stand raised behind a cell, where a form can raise; elsewhere they stand after it. For a
    terminal: columns named in `wrapped` hold sentences, which are wrapped; those in `optional` are dropped
    first, in this order, where the terminal is narrow; of a `whole` table every row is shown.
    """

    columns: list[str]
    rows: list[list[Cell]]
    best: set[tuple[int, int]] = field(default_factory=set)
    letters: dict[tuple[int, int], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    title: str = ""
    digits: int = 4
    wrapped: frozenset[str] = frozenset()
    optional: tuple[str, ...] = ()
    whole: bool = False


def render(sheet: Table, form: str, *, to_file: bool = False, raw_csv: bool = False) -> str:
    """Write a sheet in one of the formats of this package; a terminal gets what fits, a file all of it.

    With `raw_csv`, text cells of CSV are written as they are (see `leadline.reporting.render.csv`).
    """
    on_terminal = not to_file and sys.stdout.isatty()
    if form == "table" and on_terminal:
        form = "terminal"
    if form == "csv":
        from leadline.reporting.render import csv

        text = csv.write(sheet, raw=raw_csv)
        return visible(text, lines=True) if on_terminal else text
    written: str = importlib.import_module(f"{__name__}.{form}").write(sheet)
    return written


def text_columns(sheet: Table) -> set[int]:
    """Return the columns that hold text: these stand to the left, and the first always does."""
    found = {0}
    for place, column in enumerate(zip(*sheet.rows, strict=True)):
        words = [cell for cell in column if isinstance(cell, str)]
        if words and not any(isinstance(cell, Preformatted) for cell in words):
            found.add(place)
    return found


def marked(sheet: Table) -> tuple[list[str], list[list[str]]]:
    """Return head and cells as text; where a column has a best value, all others are padded for its mark."""
    cells = [[shown(cell, sheet.digits) for cell in row] for row in sheet.rows]
    starred = {column for _, column in sheet.best}
    for column in starred:
        for place, row in enumerate(cells):
            row[column] += "*" if (place, column) in sheet.best else " "
    raised = {column: 0 for _, column in sheet.letters}
    for (_, column), letters in sheet.letters.items():
        raised[column] = max(raised[column], len(letters) + 1)
    for column, width in raised.items():
        for place, row in enumerate(cells):
            row[column] += f" {sheet.letters.get((place, column), '')}".ljust(width)
    after = [" " * ((column in starred) + raised.get(column, 0)) for column in range(len(sheet.columns))]
    return [visible(name) + padding for name, padding in zip(sheet.columns, after, strict=True)], cells


def aligned(text: str, width: int, *, left: bool) -> str:
    """Fill a text with blanks up to a width in terminal cells."""
    blanks = " " * max(width - width_of(text), 0)
    return text + blanks if left else blanks + text


def shown(cell: Cell, digits: int) -> str:
    """Write a cell for people; undefined is a dash, control characters are escaped."""
    if cell is None:
        return "-"
    if isinstance(cell, Probability) and 0 < cell < 0.5 * 10.0**-digits:
        return f"<{10.0**-digits:.{digits}f}"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return visible(str(cell))
