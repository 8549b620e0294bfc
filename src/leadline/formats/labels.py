"""Read one column of a table about runs or documents: `FILE:COLUMN`, and the ids of a collection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from leadline.errors import InputError, UsageError
from leadline.formats.csv import delimiter_of, table_of, unguarded
from leadline.formats.opening import read_whole, text_of

OWNERS = ("run", "name")
DOCUMENTS = ("doc_id", "docid", "docno", "id")


def read_labels(place: str) -> dict[str, str]:
    """Give what a column says of every run; `place` is FILE:COLUMN, a table with a header.

    The column called run or name, or else the first one, names the run.
    """
    path, colon, column = place.rpartition(":")
    if not colon or not path or not column:
        raise UsageError(f"'{place}'; expected FILE:COLUMN, as in systems.tsv:team")
    header, rows = table_of(text_of(read_whole(path)), path)
    header = list(map(unguarded, header))
    if column not in header:
        raise InputError(
            f"no column '{column}'", expected="one of " + ", ".join(header), path=path, line=1
        )
    owner = next((header.index(name) for name in OWNERS if name in header), 0)
    wanted = header.index(column)
    found: dict[str, str] = {}
    for line, row in rows:
        name, label = unguarded(row[owner]), unguarded(row[wanted])
        if found.setdefault(name, label) != label:
            raise InputError(f"run '{name}' again", expected="each once", path=path, line=line)
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
    text = text_of(read_whole(path))
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise InputError("holds no document ids", expected="at least one", path=path)
    first = lines[0][1]
    if first.lstrip().startswith("{"):
        return [_id_of(line, path, number) for number, line in lines]
    header = first.rstrip("\r").split(delimiter_of(first))
    named = next((header.index(name) for name in DOCUMENTS if name in header), None)
    if named is not None:
        return [row[named] for _, row in table_of(text, path)[1]]
    for number, line in lines:
        if len(line.split()) != 1:
            raise InputError(
                f"{len(line.split())} words", expected="one document id a line, or a column doc_id",
                path=path, line=number,
            )  # fmt: skip
    return [line.strip() for _, line in lines]


def _id_of(line: str, path: str, number: int) -> str:
    try:
        record = json.loads(line)
    except ValueError:
        raise InputError("no JSON", expected="an object a line", path=path, line=number) from None
    found = next((record[name] for name in DOCUMENTS if name in record), None)
    if not isinstance(found, str):
        raise InputError("no doc_id", expected="a text doc_id", path=path, line=number)
    return found
