"""Comma-separated values with a header; numbers in full precision, undefined and labels empty."""

from __future__ import annotations

import csv
import io

from leadline.render import Cell, Label, Sheet


def write(sheet: Sheet) -> str:
    """Write a sheet as CSV."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows(
        [float.__repr__(cell) if isinstance(cell, float) else _text(cell) for cell in row]
        for row in sheet.rows
    )
    return target.getvalue()


def _text(cell: Cell) -> Cell:
    return "" if cell is None or isinstance(cell, Label) else cell
