"""JSON Lines: a record with the names of query, document and number on every line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leadline.errors import InputError
from leadline.formats import json, tuples
from leadline.formats.opening import Window
from leadline.formats.records import Records
from leadline.formats.table import Table


def records(window: Window, what: str, *, by_rank: bool = False) -> Records:
    """Give the rows of JSON Lines."""
    rows = _lines(window)
    return tuples.numbered(rows, what, path=window.path, by_rank=by_rank, unit="line")


def _lines(window: Window) -> Iterator[tuple[int, Any]]:
    text = window.text[: window.end].tobytes()
    for line, raw in enumerate(text.split(b"\n"), start=1):
        if not raw.strip():
            continue
        found = json.parse(raw, window.path, line)
        if not isinstance(found, json.Members):
            raise InputError(
                f"JSON of a {type(found).__name__}", expected="an object on every line",
                path=window.path, line=line,
            )  # fmt: skip
        if len(found.pairs) > len(found):
            raise InputError(
                "a name twice in one object", expected="each once", path=window.path, line=line
            )
        yield line, found


def write(table: Table) -> bytes:
    """Write a record a line."""
    lines = [json.dump(dict(zip(table.columns, row, strict=True))) for row in table.rows]
    return "".join(line + "\n" for line in lines).encode()
