"""Small tables: CSV text and Parquet, row by row, and one column of a file."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from leadline.data.optional import import_optional
from leadline.errors import InputError, UsageError
from leadline.io.opening import read_whole, text_of
from leadline.io.read_paths import Watch
from leadline.io.run_names import IR_DATASETS

Rows = Iterator[tuple[int, dict[str, Any]]]
FIELD = re.compile(r"[^ \t\r\n]+")
GUARDED = re.compile(r"'+[=+\-@\t\r].", re.DOTALL)


def refuse_ragged(row: Sequence[str], header: Sequence[str], path: str, line: int) -> None:
    """Refuse a row whose number of cells differs from that of the header."""
    if len(row) != len(header):
        expected = f"{len(header)} as in the header"
        raise InputError(f"{len(row)} cells", expected=expected, path=path, line=line)


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

    Examples
    --------
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

    rows = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"no CSV ({error})", expected="cells in the manner of RFC 4180", path=path, line=begun[0]
            ) from None
        if cells:
            yield begun[0], cells
        begun[0] = 0


def csv_table(text: str, path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    r"""Return the header of a table, and its rows with their lines: as many cells as the header.

    >>> csv_table("run,team\n\na,one\n", "systems.csv")
    (['run', 'team'], [(3, ['a', 'one'])])
    """
    lines = _lines(text, path)
    header = next(lines, (1, []))[1]
    rows = list(lines)
    for line, cells in rows:
        refuse_ragged(cells, header, path, line)
    if not rows:
        raise InputError("contains no rows", expected="a table with a header", path=path)
    return header, rows


def table_column(
    place: str, keys: Sequence[str] = (), *, example: str
) -> tuple[str, list[tuple[int, str, str]]]:
    """Return the file of FILE:COLUMN, and the line, key and cell of each row."""
    path, column = split_place(place)
    if not path or not column:
        raise UsageError(f"'{place}'; expected FILE:COLUMN, as in {example}")
    header, rows = csv_table(text_of(read_whole(path)), path)
    header = list(map(unguarded, header))
    if column not in header:
        raise InputError(f"no column '{column}'", expected="one of " + ", ".join(header), path=path, line=1)
    key = next((header.index(name) for name in keys if name in header), 0)
    wanted = header.index(column)
    return path, [(line, unguarded(row[key]), unguarded(row[wanted])) for line, row in rows]


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
    return text[1:] if GUARDED.match(text) else text


def _lines(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    return cells_of(enumerate(io.StringIO(text, newline=""), start=1), path)


def parquet(path: str) -> Rows:
    """Yield the rows of a Parquet file, some thousands at a time."""
    lib, package = import_optional("pyarrow.lib"), import_optional("pyarrow.parquet")
    number, watch = 0, Watch(path)
    try:
        for batch in package.ParquetFile(path).iter_batches(batch_size=4096):
            batch.validate(full=True)  # Arrow does not check that text is UTF-8
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (lib.ArrowException, OSError) as error:
        raise InputError(f"no Parquet ({error})", expected="a Parquet file", path=path) from None
    watch.check()
