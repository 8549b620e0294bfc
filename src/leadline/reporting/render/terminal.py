"""A table on a terminal: as wide as the terminal is, no number cut; of a long table head and tail."""

from __future__ import annotations

import os
import re
import shutil
from typing import NamedTuple

from leadline.data.wording import cells, folded, shortened, visible
from leadline.reporting.render import Table, aligned, marked, text_columns

HEAD, TAIL = 20, 5
NAME = 12  # cells that a name keeps as long as columns can be dropped instead
PROSE = 24  # cells that a column of sentences keeps
GAP = 2  # blanks between columns
NUMBER = re.compile(r"[-+<]?[\d.,:]*\d[\d.,:]*(?:e[-+]?\d+)?(?: ?%)?\*? ?", re.IGNORECASE)
BEST, HEADING, PLAIN = "\x1b[1;32m", "\x1b[1m", "\x1b[0m"


class Layout(NamedTuple):
    """Which columns are shown, how wide each is, and which are not shown."""

    shown: list[int]
    widths: dict[int, int]
    dropped: list[int]


def write(sheet: Table) -> str:
    """Write a sheet for a terminal; what is left out is said below.

    Names are shortened in the middle, sentences are wrapped, and where that is not enough columns are
    dropped: first those of `sheet.optional` in their order, then columns of numbers from the right, then
    columns of text from the right. The first column and the first number stay.
    """
    width = max(shutil.get_terminal_size((100, 24)).columns, 10)
    head, body = marked(sheet)
    rows = list(enumerate(body)) if sheet.whole else _chosen(body)
    layout = fit(sheet, head, [row for _, row in rows], width)
    lines = _title(sheet, width) + _table(sheet, head, rows, layout)
    if sheet.best:
        lines += ["", f"{_paint('*', BEST)} best"]
    notes = _left_out(sheet, layout, len(body) - len([place for place, _ in rows if place >= 0]))
    if sheet.notes or notes:
        lines += ["", *(line for note in sheet.notes for line in folded(visible(note), width))]
        lines += [line for note in notes for line in folded(note, width)]
    return "\n".join(lines) + "\n"


def fit(sheet: Table, head: list[str], body: list[list[str]], width: int) -> Layout:
    """Choose columns and their widths so that a row fits into so many cells."""
    columns = list(zip(head, *body, strict=True))
    natural = [max(map(cells, column)) for column in columns]
    text = text_columns(sheet)
    least = list(natural)
    for place in text:
        prose = sheet.columns[place] in sheet.wrapped
        kept = [cells(column) for column in columns[place] if NUMBER.fullmatch(column)]
        minimum = PROSE if prose else NAME
        least[place] = min(natural[place], max(minimum, cells(head[place]), *kept, 0))
    shown = list(range(len(columns)))
    dropped: list[int] = []
    for place in drop_order(sheet):
        if _width(shown, least) <= width:
            break
        shown.remove(place)
        dropped.append(place)
    widths = {place: least[place] for place in shown}
    over = _width(shown, least) - width
    for place in sorted(text & set(shown), key=lambda place: -widths[place]):
        if over > 0:  # a very narrow terminal: names give way before numbers
            given = min(over, max(widths[place] - 3, 0))
            widths[place] -= given
            over -= given
    _grow(widths, natural, -over, [p for p in shown if sheet.columns[p] not in sheet.wrapped])
    _grow(widths, natural, width - _width(shown, widths), shown)
    return Layout(shown, widths, sorted(dropped))


def drop_order(sheet: Table) -> list[int]:
    """Return the columns in the order in which they are dropped."""
    first = [sheet.columns.index(name) for name in sheet.optional if name in sheet.columns]
    text = text_columns(sheet)
    places = range(len(sheet.columns) - 1, 0, -1)
    numbers = [place for place in places if place not in text]
    rest = [*numbers[:-1], *(place for place in places if place in text)]
    return [*first, *(place for place in rest if place not in first)]


def _width(shown: list[int], widths: list[int] | dict[int, int]) -> int:
    return sum(widths[place] for place in shown) + GAP * max(len(shown) - 1, 0)


def _grow(widths: dict[int, int], natural: list[int], spare: int, places: list[int]) -> None:
    """Return spare cells to the narrowest of the columns that want more."""
    while spare > 0:
        wanting = [place for place in places if widths[place] < natural[place]]
        if not wanting:
            return
        widths[min(wanting, key=lambda place: widths[place])] += 1
        spare -= 1


def _table(sheet: Table, head: list[str], rows: list[tuple[int, list[str]]], layout: Layout) -> list[str]:
    """Return the lines of head and rows."""
    left = text_columns(sheet)
    columns = {}
    for place in layout.shown:
        column = [head[place], *(row[place] for _, row in rows)]
        most = layout.widths[place]
        if sheet.columns[place] in sheet.wrapped:
            columns[place] = [folded(text, most) for text in column]
        else:
            short = dict(zip(column[1:], shortened(column[1:], most), strict=True))
            columns[place] = [shortened(column[:1], most), *([short[text]] for text in column[1:])]
    lines = []
    for number, place_of_row in enumerate([None, *(place for place, _ in rows)]):
        tall = max(len(columns[place][number]) for place in layout.shown)
        for level in range(tall):
            parts = []
            for place in layout.shown:
                texts = columns[place][number]
                text = texts[level] if level < len(texts) else ""
                whole = aligned(text, layout.widths[place], left=place in left)
                content = text.strip()
                if place_of_row is None:
                    whole = whole.replace(content, _paint(content, HEADING))
                elif (place_of_row, place) in sheet.best:
                    whole = whole.replace(content, _paint(content, BEST))
                parts.append(whole)
            lines.append((" " * GAP).join(parts).rstrip(" "))
    return lines


def _title(sheet: Table, width: int) -> list[str]:
    return [*folded(visible(sheet.title), width), ""] if sheet.title else []


def _left_out(sheet: Table, layout: Layout, rows: int) -> list[str]:
    """Describe what is not shown and how to see it."""
    notes = []
    if layout.dropped:
        names = ", ".join(visible(sheet.columns[place]) for place in layout.dropped)
        notes.append(f"columns not shown at this width: {names}; -f csv or `| less -S` has all")
    if rows:
        notes.append(f"rows not shown: {rows}; -f csv or `| less` has all")
    return notes


def _paint(text: str, code: str) -> str:
    """Colour a text, unless the user or the terminal does not want colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not text.strip():
        return text
    return f"{code}{text}{PLAIN}"


def _chosen(body: list[list[str]]) -> list[tuple[int, list[str]]]:
    """Return the rows to show with their places: all, or head, dots and tail."""
    rows = list(enumerate(body))
    if len(rows) <= HEAD + TAIL + 1:
        return rows
    dots = (-1, ["...", *([""] * (len(body[0]) - 1))])
    return [*rows[:HEAD], dots, *rows[-TAIL:]]
