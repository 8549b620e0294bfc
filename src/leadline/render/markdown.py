"""A Markdown table, the best values in bold."""

from __future__ import annotations

from leadline.render import Sheet, shown, text_columns


def write(sheet: Sheet) -> str:
    """Write a sheet as Markdown."""
    left = text_columns(sheet)
    sides = ["---" if place in left else "---:" for place in range(len(sheet.columns))]
    lines = [
        "| " + " | ".join(map(_safe, sheet.columns)) + " |",
        "|" + "".join(f" {side} |" for side in sides),
    ]
    for place, row in enumerate(sheet.rows):
        cells = [_safe(shown(cell, sheet.digits)) for cell in row]
        for column in range(len(cells)):
            if (place, column) in sheet.best:
                cells[column] = f"**{cells[column]}**"
        for column in range(len(cells)):
            if letters := sheet.letters.get((place, column)):
                cells[column] += f"<sup>{_safe(letters)}</sup>"
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *sheet.notes] if sheet.notes else []
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
