"""Comma-separated values with a header; numbers in full precision, undefined and labels empty.

A spreadsheet takes a text cell that begins with `=`, `+`, `-` or `@` for a formula. Such a cell gets an
apostrophe in front, and so does one that begins with apostrophes before such a character, so that taking one
apostrophe away gives the text back. Commands that read result tables do that. Cells that are numbers, and
text of a single character, are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.reporting.render import Cell, Preformatted, RowLabel, Table

QUOTED = re.compile(r'[,"\r\n]')
FORMULA = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)


def write(sheet: Table, *, raw: bool = False) -> str:
    """Write a sheet as CSV; with `raw`, text cells are written as they are."""
    rows: list[Sequence[Cell]] = [sheet.columns, *sheet.rows]
    lines = (",".join(_cell(cell, raw=raw) for cell in row) for row in rows)
    return "".join(f"{line}\n" if line else '""\n' for line in lines)


def guarded(text: str) -> str:
    """Write a text so that no spreadsheet takes it for a formula.

    >>> guarded("=1+1"), guarded("bm25"), guarded("'-x"), guarded("-")
    ("'=1+1", 'bm25', "''-x", '-')
    """
    return f"'{text}" if FORMULA.match(text) else text


def _cell(cell: Cell, *, raw: bool) -> str:
    if cell is None or isinstance(cell, RowLabel):
        return ""
    if isinstance(cell, float):
        return float.__repr__(cell)
    text = str(cell)
    if isinstance(cell, str) and not isinstance(cell, Preformatted) and not raw:
        text = guarded(text)
    # The module csv leaves a carriage return unquoted, at which readers end the row.
    if QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
