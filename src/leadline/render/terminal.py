"""Tables on a terminal: fitted to its width without truncating numbers; long tables show head and tail."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from leadline.data.table import Table
from leadline.data.wording import cells, folded, shortened, terminal_columns, visible
from leadline.render.text_formats import aligned, marked, text_columns

HEAD, TAIL = 20, 5
NAME = 12  # minimum width of names as long as columns can be dropped instead
PROSE = 24  # minimum width of columns of sentences
GAP = 2  # blanks between columns
NUMBER = re.compile(r"[-+<]?[\d.,:]*\d[\d.,:]*(?:e[-+]?\d+)?(?: ?%)?\*? ?", re.IGNORECASE)
BEST, HEADING, PLAIN = "\x1b[1;32m", "\x1b[1m", "\x1b[0m"


class Layout(NamedTuple):
    """Columns that are shown, their widths, and columns that are dropped."""

    shown: list[int]
    widths: dict[int, int]
    dropped: list[int]


def write(table: Table) -> str:
    """Return a table as text for the width of the terminal; omitted rows and columns are noted below.

    Names are shortened in the middle and sentences are wrapped. If that is not enough, columns are dropped:
    first those of `table.optional` in their order, then columns of numbers from the right, then columns of
    text from the right. The first column and the first column of numbers are kept.
    """
    width = max(terminal_columns(100), 10)
    head, body = marked(table)
    rows = list(enumerate(body)) if table.whole else _chosen(body)
    layout = fit(table, head, [row for _, row in rows], width)
    lines = [*folded(visible(table.title), width), ""] if table.title else []
    lines += _table(table, head, rows, layout)
    if table.best:
        lines += ["", f"{_paint('*', BEST)} best"]
    omitted = _left_out(table, layout, len(body) - len([index for index, _ in rows if index >= 0]))
    if table.notes or omitted:
        lines += ["", *(line for note in table.notes for line in folded(visible(note), width))]
        lines += [line for note in omitted for line in folded(note, width)]
    return "\n".join(lines) + "\n"


def fit(table: Table, head: list[str], body: list[list[str]], width: int) -> Layout:
    """Return the columns and widths with which rows fit into a width in terminal cells."""
    columns = list(zip(head, *body, strict=True))
    natural = [max(map(cells, column)) for column in columns]
    text = text_columns(table)
    minimal = list(natural)
    for index in text:
        prose = table.columns[index] in table.wrapped
        numbers = [cells(column) for column in columns[index] if NUMBER.fullmatch(column)]
        lower_limit = PROSE if prose else NAME
        minimal[index] = min(natural[index], max(lower_limit, cells(head[index]), *numbers, 0))
    columns_shown = list(range(len(columns)))
    dropped: list[int] = []
    for index in drop_order(table):
        if _width(columns_shown, minimal) <= width:
            break
        columns_shown.remove(index)
        dropped.append(index)
    widths = {index: minimal[index] for index in columns_shown}
    over = _width(columns_shown, minimal) - width
    for index in sorted(text & set(columns_shown), key=lambda index: -widths[index]):
        if over > 0:  # on a very narrow terminal names are truncated rather than numbers
            removed = min(over, max(widths[index] - 3, 0))
            widths[index] -= removed
            over -= removed
    _grow(widths, natural, -over, [p for p in columns_shown if table.columns[p] not in table.wrapped])
    _grow(widths, natural, width - _width(columns_shown, widths), columns_shown)
    return Layout(columns_shown, widths, sorted(dropped))


def drop_order(table: Table) -> list[int]:
    """Return the columns in the order in which they are dropped."""
    first = [table.columns.index(name) for name in table.optional if name in table.columns]
    text = text_columns(table)
    from_right = range(len(table.columns) - 1, 0, -1)
    numbers = [column for column in from_right if column not in text]
    later = [*numbers[:-1], *(column for column in from_right if column in text)]
    return [*first, *(column for column in later if column not in first)]


def _width(columns: list[int], widths: list[int] | dict[int, int]) -> int:
    return sum(widths[place] for place in columns) + GAP * max(len(columns) - 1, 0)


def _grow(widths: dict[int, int], natural: list[int], spare: int, columns: list[int]) -> None:
    """Distribute spare cells, always to the narrowest column that is below its natural width."""
    while spare > 0:
        wanting = [column for column in columns if widths[column] < natural[column]]
        if not wanting:
            return
        widths[min(wanting, key=lambda column: widths[column])] += 1
        spare -= 1


def _table(table: Table, head: list[str], rows: list[tuple[int, list[str]]], layout: Layout) -> list[str]:
    """Return the lines of the header and the rows."""
    left = text_columns(table)
    columns = {}
    for index in layout.shown:
        column = [head[index], *(row[index] for _, row in rows)]
        width = layout.widths[index]
        if table.columns[index] in table.wrapped:
            columns[index] = [folded(text, width) for text in column]
        else:
            short = dict(zip(column[1:], shortened(column[1:], width), strict=True))
            columns[index] = [shortened(column[:1], width), *([short[text]] for text in column[1:])]
    lines = []
    for number, row_index in enumerate([None, *(index for index, _ in rows)]):
        height = max(len(columns[index][number]) for index in layout.shown)
        for level in range(height):
            parts = []
            for index in layout.shown:
                texts = columns[index][number]
                text = texts[level] if level < len(texts) else ""
                padded = aligned(text, layout.widths[index], left=index in left)
                content = text.strip()
                if row_index is None:
                    padded = padded.replace(content, _paint(content, HEADING))
                elif (row_index, index) in table.best:
                    padded = padded.replace(content, _paint(content, BEST))
                parts.append(padded)
            lines.append((" " * GAP).join(parts).rstrip(" "))
    return lines


def _left_out(table: Table, layout: Layout, rows: int) -> list[str]:
    """Return notes on omitted rows and columns."""
    notes = []
    if layout.dropped:
        names = ", ".join(visible(table.columns[column]) for column in layout.dropped)
        notes.append(f"columns hidden at this width: {names} (for all: -f csv or `| less -S`)")
    if rows:
        notes.append(f"rows hidden: {rows:,} (for all: -f csv or `| less`)")
    return notes


def _paint(text: str, code: str) -> str:
    """Return a text in color, unless NO_COLOR is set or the terminal has no colors."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not text.strip():
        return text
    return f"{code}{text}{PLAIN}"


def _chosen(body: list[list[str]]) -> list[tuple[int, list[str]]]:
    """Return the rows to show with their indices: all, or head, dots (index -1) and tail."""
    rows = list(enumerate(body))
    if len(rows) <= HEAD + TAIL + 1:
        return rows
    dots = (-1, ["...", *([""] * (len(body[0]) - 1))])
    return [*rows[:HEAD], dots, *rows[-TAIL:]]
