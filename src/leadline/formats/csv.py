"""CSV and TSV with a header; quotes as in RFC 4180."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from leadline.errors import InputError
from leadline.formats import columns
from leadline.formats.opening import Window, text_of
from leadline.formats.records import Records, Row
from leadline.formats.table import Table

DELIMITERS = "\t,;"
GUARDED = re.compile(r"'+[=+\-@\t\r].", re.DOTALL)


def records(window: Window, what: str, *, by_rank: bool = False) -> Records:
    """Give the rows of a table."""
    text = text_of(window)
    found = Records((), path=window.path, unit="line", text=True)
    lines = _lines(text, window.path)
    header = next(lines, (1, []))[1]
    try:
        chosen = columns.choose(header, what, by_rank=by_rank)
    except InputError as error:
        raise found.at(error, 1) from None
    places = [header.index(name) if name else -1 for name in chosen]
    found.columns, found.ranked = chosen[:2], bool(chosen[3])
    found.names = tuple(header)
    tag = columns.find(header, columns.TAG) if what == "score" else None
    share = columns.find(header, columns.PROBABILITY) if what == "grade" else None
    more = [header.index(name) if name else -1 for name in (tag, share)]
    found.rows = _rows(lines, header, [*places, *more], found)
    return found


def delimiter_of(header: str) -> str:
    """Give what separates the cells of a header.

    >>> delimiter_of("query_id,doc_id,score")
    ','
    """
    return max(",\t;", key=header.count)


def table_of(text: str, path: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    r"""Give the header of a table, and its rows with their lines: as many cells as the header.

    >>> table_of("run,team\n\na,one\n", "systems.csv")
    (['run', 'team'], [(3, ['a', 'one'])])
    """
    lines = _lines(text, path)
    header = next(lines, (1, []))[1]
    rows = list(lines)
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(
                f"{len(cells)} cells", expected=f"{len(header)} as in the header", path=path, line=line
            )  # fmt: skip
    if not rows:
        raise InputError("holds no rows", expected="a table with a header", path=path)
    return header, rows


def unguarded(text: str) -> str:
    """Return a cell of a result table without the apostrophe that keeps it from being a formula.

    >>> unguarded("'=1+1"), unguarded("''-x"), unguarded("bm25"), unguarded("'bm25'")
    ('=1+1', "'-x", 'bm25', "'bm25'")
    """
    return text[1:] if GUARDED.match(text) else text


def _lines(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of every line that has any, with the number of its first line."""
    header = text.lstrip("\r\n").partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(header), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"no CSV ({error})",
                expected="cells in the manner of RFC 4180",
                path=path,
                line=line,
            ) from None
        if cells:
            yield line, cells


def _rows(
    lines: Iterator[tuple[int, list[str]]],
    header: list[str],
    places: list[int],
    records: Records,
) -> Iterator[Row]:
    query, document, value, rank, tag, share = places
    for line, cells in lines:
        if len(cells) != len(header):
            error = InputError(f"{len(cells)} cells", expected=f"{len(header)} as in the header")
            raise records.at(error, line)
        for place in (query, document):
            if not cells[place]:
                error = InputError(f"no id in column '{header[place]}'", expected="a string")
                raise records.at(error, line)
        if tag >= 0:
            records.tag = cells[tag]
        if share >= 0:
            records.shares[cells[query], cells[document]] = cells[share] or None
        yield (
            line, cells[query], cells[document], cells[value] if value >= 0 else None,
            cells[rank] if rank >= 0 else None,
        )  # fmt: skip


def write(table: Table) -> bytes:
    """Write a table with a header."""
    target = io.StringIO(newline="")
    writer = csv.writer(
        target, lineterminator="\n", delimiter="\t" if table.suffix == ".tsv" else ","
    )
    writer.writerow(table.columns)
    for query, document, number, *more in table.rows:
        if not query or not document:
            raise InputError("an id without a letter", expected="JSON, which can hold it")
        writer.writerow([query, document, repr(number), *more])
    return target.getvalue().encode("utf-8", "surrogateescape")
