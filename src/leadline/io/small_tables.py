"""Small tables: CSV text and Parquet, row by row, and one column of a file."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from leadline.data.optional import import_optional
from leadline.data.wording import counted
from leadline.errors import InputError, RecordNumber, UsageError, did_you_mean, refuse_repeated
from leadline.io.opening import (
    BOM,
    LONGEST_TEXT,
    PARQUET,
    first_bytes,
    is_compressed,
    whole_content,
    whole_text,
)
from leadline.io.opening import lines as text_lines
from leadline.io.read_paths import Watch
from leadline.io.run_names import IR_DATASETS
from leadline.io.score_cells import checked_object, json_of

Rows = Iterator[tuple[int, dict[str, Any]]]


class TableLine(int):
    """Number of the first line below the header of a table, with that of the header."""

    header: int


FIELD = re.compile(r"[^ \t\r\n]+")
GUARDED = r"(?s)'+[=+\-@\t\r]."
QUOTING = (
    "Quote each cell that contains a separator, a quote or a line break, and double the quotes inside it"
)
NO_ROWS = "Use a table with a header and at least one row"


def refuse_ragged(
    row: Sequence[str], header: Sequence[str], path: str, line: int, *, first: str = "header"
) -> None:
    """Refuse a row whose number of cells differs from that of the header, or of the first row."""
    if len(row) != len(header):
        found = f"the row has {counted(len(row), 'cell')}, but the {first} has {len(header)}"
        raise InputError(found, path=path, line=line, code="columns")


def delimiter_of(header: str) -> str:
    """Return the delimiter of a header.

    >>> delimiter_of("query_id,doc_id,score")
    ','
    """
    return max(",\t;", key=header.count)


def cells_of(
    numbered: Iterable[tuple[int, str]], path: str, *, quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the cells of every row of a CSV or TSV table, the header first, with the number of its line.

    Empty lines are left out, and lines that begin with `#` before the header: after it they are rows.

    >>> lines = ["# systems\n", "run,team\n", "\n", 'a,"one\n', '# two"\n', "#1,two\n"]
    >>> list(cells_of(enumerate(lines, start=1), "systems.csv"))
    [(2, ['run', 'team']), (4, ['a', 'one\n# two']), (6, ['#1', 'two'])]
    """
    begun = [0]  # first line of the row being read; 0 between rows

    def pulled() -> Iterator[str]:
        for number, line in numbered:
            begun[0] = begun[0] or number
            yield line

    lines = pulled()
    for first in lines:
        if first.strip("\r\n") and not first.startswith("#"):
            break
        begun[0] = 0
    else:
        return
    delimiter = delimiter_of(first)
    if delimiter == "\t" and not quoted:
        for line in chain([first], lines):
            text = line.rstrip("\r\n")
            if text:
                yield begun[0], text.split("\t")
            begun[0] = 0
        return
    import csv

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_TEXT))  # a cell may hold a document
    rows = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"invalid CSV ({error})", path=path, line=begun[0], hint=QUOTING) from None
        if cells:
            yield begun[0], cells
        begun[0] = 0


def records(
    path: str, *, known: Iterable[str] | None = None, encoding: str = "utf-8", quoted: bool = False
) -> Rows:
    """Yield the rows of a table as dictionaries, with their lines (or places) from 1.

    A table is CSV or TSV with a header, JSON Lines, a list of objects in JSON, or Parquet. `known` are names
    of columns by which a header is told: without one, two columns are `id` and `text`. In TSV a quote is a
    letter like any other, unless `quoted`. Lines above the header that begin with `#` are remarks.
    """
    head = first_bytes(path, 1 << 16)
    start = b"" if head is None else head.removeprefix(BOM).lstrip()
    if start.startswith(PARQUET):
        yield from parquet(path)
    elif start.startswith(b"["):
        for number, found in enumerate(json_of(whole_text(path, encoding=encoding), path), start=1):
            yield RecordNumber(number), checked_object(found, path, RecordNumber(number))
    elif start.startswith(b"{"):
        for number, line in text_lines(path, encoding=encoding):
            if line.strip():
                found = json_of(line, path, number, hint="Each line must be a JSON object")
                yield number, checked_object(found, path, number)
    else:
        numbered = ((number, line + "\n") for number, line in text_lines(path, encoding=encoding))
        yield from _table(cells_of(numbered, path, quoted=quoted), path, known)


def _table(rows: Iterator[tuple[int, list[str]]], path: str, known: Iterable[str] | None) -> Rows:
    top, header = next(rows, (1, []))
    first = "header"
    cells = {cell.lower() for cell in header}
    if known is not None and len(header) == 2 and cells.isdisjoint(name.lower() for name in known):
        yield top, dict(zip(("id", "text"), header, strict=True))
        header, first = ["id", "text"], "first row"
    refuse_repeated("column", header, path=path, line=top)
    for place, (number, row) in enumerate(rows):
        refuse_ragged(row, header, path, number, first=first)
        line = number if place else TableLine(number)
        if isinstance(line, TableLine):
            line.header = top
        yield line, dict(zip(header, row, strict=True))


def csv_table(text: str, path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    r"""Return the header of a table, and its rows with their lines: as many cells as the header.

    Apostrophes that prevent formulas are left out.

    >>> csv_table("run,team\n\n'-a,one\n", "systems.csv")
    (['run', 'team'], [(3, ['-a', 'one'])])
    """
    lines = cells_of(enumerate(io.StringIO(text, newline=""), start=1), path)
    header = list(map(unguarded, next(lines, (1, []))[1]))
    rows = [(line, list(map(unguarded, cells))) for line, cells in lines]
    for line, cells in rows:
        refuse_ragged(cells, header, path, line)
    if not rows:
        raise InputError("contains no rows", path=path, hint=NO_ROWS)
    return header, rows


def column_of(
    place: str, keys: Sequence[str] = (), *, example: str
) -> tuple[str, list[tuple[int, Any, Any]]]:
    """Return the file of FILE:COLUMN, and the line, key and cell of each row of its table.

    The key is in the first of some columns that the table has, else in its first column.
    """
    path, column = file_and_column(place, example=example)
    columns, rows = unguarded_table(records(path, quoted=True))
    if not rows:
        raise InputError("contains no rows", path=path, hint=NO_ROWS)
    need_columns(columns, [column], path, None if isinstance(rows[0][0], RecordNumber) else 1)
    return path, cells_by_id(columns, rows, keys, column, path)


def cells_by_id(
    columns: Sequence[str],
    rows: Iterable[tuple[int, dict[str, Any]]],
    keys: Sequence[str],
    column: str,
    path: str,
) -> list[tuple[int, Any, Any]]:
    """Return the line, id and cell of each row; the id is in the first of `keys` there, or column 1."""
    key = next((name for name in keys if name in columns), columns[0])
    cells = [(line, row.get(key), row.get(column)) for line, row in rows]
    for line, name, _ in cells:
        if name in (None, ""):
            raise InputError(f"the row has no id in column '{key}'", path=path, line=line, hint="Add an id")
    return cells


def file_and_column(place: str, *, example: str) -> tuple[str, str]:
    """Split FILE:COLUMN; both parts are required."""
    path, column = split_place(place)
    if not path or not column:
        raise UsageError(f"'{place}' must have the form FILE:COLUMN, such as {example}")
    return path, column


def unguarded_table(rows: Rows) -> tuple[list[str], list[tuple[int, dict[str, Any]]]]:
    """Return the columns that any row has, and the rows, both without apostrophes that prevent formulas."""

    def plain(cell: Any) -> Any:
        return unguarded(cell) if isinstance(cell, str) else cell

    found = [(line, {plain(name): plain(cell) for name, cell in row.items()}) for line, row in rows]
    return list(dict.fromkeys(name for _, row in found for name in row)), found


def need_columns(present: Iterable[object], wanted: Sequence[str], path: str, line: int | None) -> None:
    """Refuse a table that lacks a column; the nearest names are said.

    >>> need_columns(["a", "clicks"], ["click"], "a.csv", 1)
    Traceback (most recent call last):
        ...
    leadline.errors.InputError: a.csv:1: no column 'click'. Did you mean 'clicks'? The columns are a, clicks.
    """
    names = list(map(str, present))
    for name in wanted:
        if name not in names:
            listed = f"The {'columns are' if len(names) > 1 else 'only column is'} {', '.join(names)}"
            hint = f"{did_you_mean(name, names, most=2)} {listed}".lstrip() if names else ""
            raise InputError(f"no column '{name}'", path=path, line=line, hint=hint)


def split_place(place: str) -> tuple[str, str]:
    """Split FILE:COLUMN at the last colon that leaves a file before it; without one the column is empty.

    Without a file before any colon, it is split at the last colon; opening the file then fails.

    >>> split_place("none.csv:AP"), split_place("none.csv")
    (('none.csv', 'AP'), ('none.csv', ''))
    """
    if os.path.exists(place) or place.startswith(IR_DATASETS):
        return place, ""
    colons = [number for number, letter in enumerate(place) if letter == ":"]
    last = colons[-1] if colons else len(place)
    at = next((number for number in reversed(colons) if os.path.exists(place[:number])), last)
    return place[:at], place[at + 1 :]


def unguarded(text: str) -> str:
    """Return a cell of a result table without the apostrophe that prevents its reading as a formula.

    >>> unguarded("'=1+1"), unguarded("''-x"), unguarded("bm25"), unguarded("'bm25'")
    ('=1+1', "'-x", 'bm25', "'bm25'")
    """
    return text[1:] if text.startswith("'") and re.match(GUARDED, text) else text


def parquet(path: str) -> Rows:
    """Yield the rows of a Parquet file, some thousands at a time."""
    lib, package = import_optional("pyarrow.lib"), import_optional("pyarrow.parquet")
    number, watch = 0, Watch(path)
    plain = os.path.isfile(path) and not is_compressed(path)
    try:
        file = path if plain else lib.BufferReader(whole_content(path))
        for batch in package.ParquetFile(file, pre_buffer=False).iter_batches(
            batch_size=4096, use_threads=False
        ):
            batch.validate(full=True)  # Arrow does not check that text is UTF-8
            for row in batch.to_pylist():
                number += 1
                yield RecordNumber(number), row
    except (lib.ArrowException, OSError) as error:
        raise InputError(f"is not a valid Parquet file ({error})", path=path) from None
    watch.check()
