"""A table on a terminal: coloured, as wide as fits; of a long one head and tail."""

from __future__ import annotations

import shutil

from leadline.render import Sheet, marked, text_columns

HEAD, TAIL = 20, 5
WIDEST = 120
NARROWEST_NAME = 12


def write(sheet: Sheet) -> str:
    """Write a sheet for a terminal; what is cut is said."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    width = min(shutil.get_terminal_size((100, 24)).columns, WIDEST)
    head, cells = marked(sheet)
    table = Table(
        box=box.SIMPLE_HEAD, title=sheet.title or None, title_justify="left", pad_edge=False
    )
    table.add_column(
        escape(head[0]), overflow="ellipsis", no_wrap=True, max_width=_room(head, cells, width)
    )
    left = text_columns(sheet)
    for place, name in enumerate(head[1:], start=1):
        table.add_column(escape(name), justify="left" if place in left else "right", no_wrap=True)
    for place, row in _chosen(cells):
        table.add_row(
            *(
                f"[bold green]{escape(text)}[/]" if (place, column) in sheet.best else escape(text)
                for column, text in enumerate(row)
            )
        )
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
        if sheet.best:
            console.print("[bold green]*[/] best", highlight=False)
        notes = list(sheet.notes)
        if len(cells) > HEAD + TAIL + 1:
            notes.append(f"rows not shown: {len(cells) - HEAD - TAIL}; -o FILE or `| less` has all")
        for note in notes:
            console.print(note, highlight=False, markup=False)
    return capture.get()


def _room(head: list[str], cells: list[list[str]], width: int) -> int:
    """Give how wide the first column may be so that the others are whole."""
    others = [max(map(len, column)) for column in zip(head, *cells, strict=True)][1:]
    return max(NARROWEST_NAME, width - sum(others) - 3 * len(head))


def _chosen(cells: list[list[str]]) -> list[tuple[int, list[str]]]:
    """Give the rows to show with their places: all, or head, dots and tail."""
    rows = list(enumerate(cells))
    if len(rows) <= HEAD + TAIL + 1:
        return rows
    dots = (-1, ["...", *([""] * (len(cells[0]) - 1))])
    return [*rows[:HEAD], dots, *rows[-TAIL:]]
