"""Cells of tables as text."""

from __future__ import annotations

from leadline.data.table import Cell, Preformatted, Probability, Table
from leadline.data.wording import cells as width_of
from leadline.data.wording import visible


def text_columns(table: Table) -> set[int]:
    """Return the columns of text, which are aligned to the left; the first column is always one."""
    columns = {0}
    for index, column in enumerate(zip(*table.rows, strict=True)):
        texts = [cell for cell in column if isinstance(cell, str)]
        if texts and not any(isinstance(cell, Preformatted) for cell in texts):
            columns.add(index)
    return columns


def marked(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return header and cells as text, with a star after best values and with letters of significance.

    The other cells of a column with marks are padded, so that digits stay aligned.
    """
    cells = [[shown(cell, table.digits) for cell in row] for row in table.rows]
    starred = {column for _, column in table.best}
    for column in starred:
        for index, row in enumerate(cells):
            row[column] += "*" if (index, column) in table.best else " "
    raised = {column: 0 for _, column in table.letters}
    for (_, column), letters in table.letters.items():
        raised[column] = max(raised[column], len(letters) + 1)
    for column, width in raised.items():
        for index, row in enumerate(cells):
            row[column] += f" {table.letters.get((index, column), '')}".ljust(width)
    padding = [" " * ((column in starred) + raised.get(column, 0)) for column in range(len(table.columns))]
    return [visible(name) + blanks for name, blanks in zip(table.columns, padding, strict=True)], cells


def aligned(text: str, width: int, *, left: bool) -> str:
    """Pad a text with blanks to a width in terminal cells."""
    blanks = " " * max(width - width_of(text), 0)
    return text + blanks if left else blanks + text


def shown(cell: Cell, digits: int) -> str:
    """Return the text of a cell; undefined values are dashes, control characters are escaped."""
    if cell is None:
        return "-"
    if isinstance(cell, Probability) and 0 < cell < 0.5 * 10.0**-digits:
        return f"<{10.0**-digits:.{digits}f}"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return visible(str(cell))
