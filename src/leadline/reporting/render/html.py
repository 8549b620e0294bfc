"""A table as HTML, the best values in bold; everything that is not made here is escaped."""

from __future__ import annotations

from html import escape

from leadline.data.wording import visible
from leadline.reporting.render import Cell, Table, shown, text_columns

LEFT, RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def write(sheet: Table) -> str:
    """Write a sheet as an HTML table with its notes below."""
    left = text_columns(sheet)
    sides = [LEFT if place in left else RIGHT for place in range(len(sheet.columns))]
    lines = ["<table>"]
    if sheet.title:
        lines.append(f"<caption>{_safe(sheet.title)}</caption>")
    heads = "".join(f"<th{side}>{_safe(name)}</th>" for side, name in zip(sides, sheet.columns, strict=True))
    lines += ["<thead>", f"<tr>{heads}</tr>", "</thead>", "<tbody>"]
    for number, row in enumerate(sheet.rows):
        cells = "".join(
            f"<td{side}>{_cell(sheet, number, place, cell)}</td>"
            for place, (side, cell) in enumerate(zip(sides, row, strict=True))
        )
        lines.append(f"<tr>{cells}</tr>")
    lines += ["</tbody>", "</table>"]
    if sheet.notes:
        lines.append("<p>" + "<br>\n".join(map(_safe, sheet.notes)) + "</p>")
    return "\n".join(lines) + "\n"


def _cell(sheet: Table, row: int, column: int, cell: Cell) -> str:
    text = _safe(shown(cell, sheet.digits))
    if (row, column) in sheet.best:
        text = f"<strong>{text}</strong>"
    if letters := sheet.letters.get((row, column)):
        text += f"<sup>{_safe(letters)}</sup>"
    return text


def _safe(text: str) -> str:
    r"""Escape a text for HTML; a control character is shown as its escape.

    >>> _safe("<b>\x1b")
    '&lt;b&gt;\\x1b'
    """
    return escape(visible(text)).encode("utf-8", "backslashreplace").decode()
