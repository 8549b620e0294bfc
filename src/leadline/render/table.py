"""A table as aligned plain text, whole, for files and pipes."""

from __future__ import annotations

from leadline.render import Sheet, marked


def write(sheet: Sheet) -> str:
    """Write a sheet as aligned text."""
    head, cells = marked(sheet)
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    lines = [sheet.title, ""] if sheet.title else []
    for row in (head, *cells):
        first = row[0].ljust(widths[0])
        rest = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *rest)).rstrip())
    if sheet.best:
        lines += ["", "* best"]
    lines += ["", *sheet.notes] if sheet.notes else []
    return "\n".join(lines) + "\n"
