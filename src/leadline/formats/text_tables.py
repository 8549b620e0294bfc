"""Documents and queries as JSON Lines, JSON, CSV, TSV, Parquet: one record a row, all columns kept."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from leadline.errors import InputError, MissingPackageError
from leadline.formats.csv import delimiter_of
from leadline.formats.lines import lines, whole_text

Rows = Iterator[tuple[int, dict[str, Any]]]


def json_lines(path: str, *, encoding: str = "utf-8") -> Rows:
    """Give the object of every line that has one."""
    for number, line in lines(path, encoding=encoding):
        if line.strip():
            yield number, _object(_parsed(line, path, number), path, number)


def json_list(path: str, *, encoding: str = "utf-8") -> Rows:
    """Give the objects of a list, numbered from 1."""
    for number, found in enumerate(_parsed(whole_text(path, encoding=encoding), path, 1), start=1):
        yield number, _object(found, path, number)


def _parsed(text: str, path: str, number: int) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError("JSON nested too deeply", expected="objects", path=path) from None
    except ValueError as error:
        found = f" ({error.msg.lower()})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"no JSON{found}", expected="an object on every line", path=path, line=number
        ) from None


def _object(found: Any, path: str, number: int) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(
            f"JSON of a {type(found).__name__}", expected="an object", path=path, line=number
        )
    return found


def table(
    path: str, known: Iterable[str] = (), *, encoding: str = "utf-8", headed: bool = False
) -> Rows:
    """Return the rows of a CSV or TSV table; two columns without a header are id and text.

    `known` are names of id columns, by which a header is told; `headed`: there is one in any case. In TSV a
    quote is a letter like any other. Lines that begin with `#` are comments: before the header, and in TSV
    anywhere.
    """
    numbered = lines(path, encoding=encoding)
    first = next((line for _, line in numbered if not line.startswith("#")), "")
    delimiter = delimiter_of(first)
    cells = _cells(first, numbered, delimiter, path)
    header = next(cells, (1, []))[1]
    if not headed and len(header) == 2 and not set(header) & set(known):
        yield 1, dict(zip(("id", "text"), header, strict=True))
        header = ["id", "text"]
    for name in header:
        if header.count(name) > 1:
            raise InputError(f"two columns called '{name}'", expected="one", path=path, line=1)
    for number, row in cells:
        if len(row) != len(header):
            raise InputError(
                f"{len(row)} cells", expected=f"{len(header)} as in the header", path=path, line=number
            )  # fmt: skip
        yield number, dict(zip(header, row, strict=True))


def _cells(
    first: str, rest: Iterator[tuple[int, str]], delimiter: str, path: str
) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of every line that is not empty."""
    if delimiter == "\t":
        yield 1, first.split("\t")
        for number, line in rest:
            if line and not line.startswith("#"):
                yield number, line.split("\t")
        return
    reader = csv.reader(
        (line + "\n" for line in _chained(first, rest)), delimiter=delimiter, strict=True
    )
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"no CSV ({error})", expected="cells in the manner of RFC 4180", path=path, line=number
            ) from None  # fmt: skip
        if row:
            yield number, row


def _chained(first: str, rest: Iterator[tuple[int, str]]) -> Iterator[str]:
    yield first
    for _, line in rest:
        yield line


def parquet(path: str) -> Rows:
    """Give the rows of a Parquet file, some thousands at a time."""
    try:
        from pyarrow import lib
        from pyarrow import parquet as package
    except ImportError:
        raise MissingPackageError(
            f"{path} needs pyarrow: pip install 'leadline[parquet]'"
        ) from None
    number = 0
    try:
        for batch in package.ParquetFile(path).iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (lib.ArrowException, OSError) as error:
        raise InputError(f"no Parquet ({error})", expected="a Parquet file", path=path) from None
