"""A table as aligned plain text, whole, for files and pipes."""

from __future__ import annotations

from leadline.render import Sheet, marked, text_columns


def write(sheet: Sheet) -> str:
    """Write a sheet as aligned text."""
    head, cells = marked(sheet)
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    left = text_columns(sheet)
    lines = [sheet.title, ""] if sheet.title else []
    for row in (head, *cells):
        cells_of_row = (
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells_of_row).rstrip())
    if sheet.best:
        lines += ["", "* best"]
    lines += ["", *sheet.notes] if sheet.notes else []
    return "\n".join(lines) + "\n"
