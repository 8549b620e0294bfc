"""Read one column of a table about runs or documents: `FILE:COLUMN`, and the ids of a collection."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping

from leadline.errors import InputError, UsageError
from leadline.formats.csv import delimiter_of
from leadline.formats.opening import read_whole

OWNERS = ("run", "name")
DOCUMENTS = ("doc_id", "docid", "docno", "id")


def read_labels(place: str) -> dict[str, str]:
    """Give what a column says of every run; `place` is FILE:COLUMN, a table with a header.

    The column called run or name, or else the first one, names the run.
    """
    path, colon, column = place.rpartition(":")
    if not colon or not path or not column:
        raise UsageError(f"'{place}'; expected FILE:COLUMN, as in systems.tsv:team")
    header, rows = _table(_text(path), path)
    if column not in header:
        raise InputError(
            f"no column '{column}'", expected="one of " + ", ".join(header), path=path, line=1
        )
    owner = next((header.index(name) for name in OWNERS if name in header), 0)
    wanted = header.index(column)
    found: dict[str, str] = {}
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise InputError(
                f"{len(row)} cells",
                expected=f"{len(header)} as in the header",
                path=path,
                line=line,
            )
        if found.setdefault(row[owner], row[wanted]) != row[wanted]:
            raise InputError(
                f"run '{row[owner]}' again", expected="each once", path=path, line=line
            )
    return found


def teams_of(labels: Mapping[str, str], names: Iterable[str], place: str = "") -> list[str]:
    """Give the team of every run; an error where one has none. `place` says where labels are from.

    >>> teams_of({"a": "one", "b": "two"}, ["b", "a"])
    ['two', 'one']
    """
    wanted = list(names)
    missing = [name for name in wanted if name not in labels]
    if missing:
        where = f" in {place}" if place else ""
        raise UsageError(f"no team for run '{missing[0]}' ({len(missing)} in all){where}")
    return [labels[name] for name in wanted]


def read_document_ids(path: str) -> list[str]:
    """Give the ids of a collection: JSON lines or a table with `doc_id`, or one id a line."""
    text = _text(path)
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and lines[0].lstrip().startswith("{"):
        return [_id_of(line, path, number) for number, line in enumerate(lines, start=1)]
    header = lines[0].rstrip("\r").split(delimiter_of(lines[0])) if lines else []
    named = next((header.index(name) for name in DOCUMENTS if name in header), None)
    if named is not None:
        return [row[named] for row in _table(text, path)[1] if len(row) > named]
    for number, line in enumerate(lines, start=1):
        if len(line.split()) != 1:
            raise InputError(
                f"{len(line.split())} words", expected="one document id a line, or a column doc_id",
                path=path, line=number,
            )  # fmt: skip
    if not lines:
        raise InputError("holds no document ids", expected="at least one", path=path)
    return [line.strip() for line in lines]


def _text(path: str) -> str:
    window = read_whole(path)
    return window.text[: window.end].tobytes().decode("utf-8", "surrogateescape")


def _table(text: str, path: str) -> tuple[list[str], list[list[str]]]:
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter_of(text.partition("\n")[0])
    )
    found = [row for row in rows if row]
    if not found:
        raise InputError("holds nothing", expected="a table with a header", path=path)
    return found[0], found[1:]


def _id_of(line: str, path: str, number: int) -> str:
    try:
        record = json.loads(line)
    except ValueError:
        raise InputError("no JSON", expected="an object a line", path=path, line=number) from None
    found = next((record[name] for name in DOCUMENTS if name in record), None)
    if not isinstance(found, str):
        raise InputError("no doc_id", expected="a text doc_id", path=path, line=number)
    return found
