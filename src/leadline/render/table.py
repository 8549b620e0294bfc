"""A table for people: rich on a terminal, plain text elsewhere."""

from __future__ import annotations

import shutil
import sys

from leadline.render import Sheet, shown

HEAD, TAIL = 20, 5


def write(sheet: Sheet) -> str:
    """Write a sheet as aligned text; on a terminal a long one is cut and says so."""
    if sys.stdout.isatty():
        return _for_terminal(sheet)
    return _plain(sheet)


def _cells(sheet: Sheet) -> list[list[str]]:
    """Give the cells as text; where a column has a best value, all others leave room for its mark."""
    cells = [[shown(cell, sheet.digits) for cell in row] for row in sheet.rows]
    for column in {column for _, column in sheet.best}:
        for place, row in enumerate(cells):
            row[column] += "*" if (place, column) in sheet.best else " "
    return cells


def _plain(sheet: Sheet) -> str:
    cells = _cells(sheet)
    starred = {column for _, column in sheet.best}
    header = [name + " " * (column in starred) for column, name in enumerate(sheet.columns)]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    lines = [sheet.title, ""] if sheet.title else []
    for row in (header, *cells):
        first = row[0].ljust(widths[0])
        rest = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *rest)).rstrip())
    if sheet.best:
        lines += ["", "* best"]
    lines += ["", *sheet.notes] if sheet.notes else []
    return "\n".join(lines) + "\n"


def _for_terminal(sheet: Sheet) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    width = shutil.get_terminal_size((100, 24)).columns
    table = Table(
        box=box.SIMPLE_HEAD, title=sheet.title or None, title_justify="left", pad_edge=False
    )
    table.add_column(sheet.columns[0], overflow="ellipsis", no_wrap=True, ratio=None)
    starred = {column for _, column in sheet.best}
    for column, name in enumerate(sheet.columns[1:], start=1):
        table.add_column(name + " " * (column in starred), justify="right", no_wrap=True)
    cells = _cells(sheet)
    cut = len(cells) > HEAD + TAIL + 1
    for place, row in enumerate(cells):
        if cut and HEAD <= place < len(cells) - TAIL:
            if place == HEAD:
                table.add_row("...", *([""] * (len(row) - 1)))
            continue
        styled = [
            f"[bold green]{text}[/]" if (place, column) in sheet.best else text.replace("[", r"\[")
            for column, text in enumerate(row)
        ]
        table.add_row(*styled)
    console = Console(width=min(width, 120))
    with console.capture() as capture:
        console.print(table)
        if sheet.best:
            console.print("[bold green]*[/] best", highlight=False)
        for note in sheet.notes:
            console.print(note, highlight=False, markup=False)
        if cut:
            hidden = len(cells) - HEAD - TAIL
            console.print(
                f"{hidden} rows are not shown; -o FILE or `| less` has them all", highlight=False
            )
    return capture.get()
