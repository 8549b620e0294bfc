"""Comma-separated values with a header; numbers in full precision, undefined and labels empty.

A spreadsheet takes a text cell that begins with `=`, `+`, `-` or `@` for a formula. Such a cell gets an
apostrophe in front, and so does one that begins with apostrophes before such a character, so that taking one
apostrophe away gives the text back. Commands that read result tables do that. Cells that are numbers, and
text of a single character, are left as they are.
"""

from __future__ import annotations

import csv
import io
import re

from leadline.render import Cell, Digits, Label, Sheet

FORMULA = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)


def write(sheet: Sheet, *, raw: bool = False) -> str:
    """Write a sheet as CSV; with `raw`, text cells are written as they are."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(sheet.columns if raw else list(map(guarded, sheet.columns)))
    writer.writerows(
        [float.__repr__(cell) if isinstance(cell, float) else _text(cell, raw=raw) for cell in row]
        for row in sheet.rows
    )
    return target.getvalue()


def guarded(text: str) -> str:
    """Write a text so that no spreadsheet takes it for a formula.

    >>> guarded("=1+1"), guarded("bm25"), guarded("'-x"), guarded("-")
    ("'=1+1", 'bm25', "''-x", '-')
    """
    return f"'{text}" if FORMULA.match(text) else text


def _text(cell: Cell, *, raw: bool) -> Cell:
    if cell is None or isinstance(cell, Label):
        return ""
    if raw or not isinstance(cell, str) or isinstance(cell, Digits):
        return cell
    return guarded(cell)
