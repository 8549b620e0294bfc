"""A table as aligned plain text, whole, for files and pipes."""

from __future__ import annotations

from leadline.data.wording import cells as width_of
from leadline.data.wording import visible
from leadline.reporting.render import Table, aligned, marked, text_columns


def write(sheet: Table) -> str:
    """Write a sheet as aligned text."""
    head, cells = marked(sheet)
    widths = [max(map(width_of, column)) for column in zip(head, *cells, strict=True)]
    left = text_columns(sheet)
    lines = [visible(sheet.title), ""] if sheet.title else []
    for row in (head, *cells):
        cells_of_row = (
            aligned(text, width, left=place in left)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells_of_row).rstrip())
    if sheet.best:
        lines += ["", "* best"]
    lines += ["", *map(visible, sheet.notes)] if sheet.notes else []
    return "\n".join(lines) + "\n"
