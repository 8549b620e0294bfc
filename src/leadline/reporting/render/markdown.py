"""A Markdown table, the best values in bold."""

from __future__ import annotations

import re

from leadline.data.wording import visible
from leadline.reporting.render import Table, shown, text_columns

# A backslash, a star, a backquote, what begins a tag, a character reference, strikethrough or mathematics,
# what ends the text of a link, and an underscore that is not inside a word.
FORMATTING = re.compile(r"[\\*`~]|<(?=[a-zA-Z/!?])|&(?=#?\w+;)|\$|\](?=[(:\[])|(?<![^\W_])_|_(?![^\W_])")


def write(sheet: Table) -> str:
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
    lines += ["", *map(plain_text, sheet.notes)] if sheet.notes else []
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return re.sub(r"(?<!\\)_|\|", lambda found: "\\" + found[0], plain_text(text))


def plain_text(text: str) -> str:
    r"""Keep the names in a sentence from formatting it.

    >>> print(plain_text("<b> and *x* and ql_jm"))
    \<b> and \*x\* and ql_jm
    """
    return FORMATTING.sub(lambda found: "\\" + found[0], visible(text))
