"""Comma-separated values with a header; numbers in full precision, undefined empty."""

from __future__ import annotations

import csv
import io

from leadline.render import Sheet


def write(sheet: Sheet) -> str:
    """Write a sheet as CSV."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows(
        [
            "" if cell is None else float.__repr__(cell) if isinstance(cell, float) else cell
            for cell in row
        ]
        for row in sheet.rows
    )
    return target.getvalue()
