"""JSON: `{query: {document: number}}`, `{query: [document, ...]}`, or a list of records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from leadline.errors import InputError
from leadline.formats import mappings, tuples
from leadline.formats.opening import Window
from leadline.formats.records import Records
from leadline.formats.table import Table

SHOWN = 40  # characters of an object in a message


class Members(Mapping[str, Any]):
    """An object of a JSON text: a dictionary whose `items` still has names that were repeated."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs
        self.named = dict(pairs)

    def __getitem__(self, name: str) -> Any:
        return self.named[name]

    def __iter__(self) -> Any:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __repr__(self) -> str:
        text = repr(self.named)
        return text if len(text) <= SHOWN else text[:SHOWN] + "...}"

    def items(self) -> Any:
        """Give names and values in order, repeated ones too."""
        return self.pairs


Members.__name__ = "object"  # what messages call it


def records(
    window: Window, what: str, *, by_rank: bool = False, subtopics: bool = False
) -> Records:
    """Give the rows of a JSON text."""
    found = parse(window.text[: window.end].tobytes(), window.path)
    path = window.path
    if isinstance(found, Members):
        return mappings.records(found, what, path=path, unit="record", subtopics=subtopics)
    if isinstance(found, list):
        return tuples.records(found, what, path=path, by_rank=by_rank)
    raise InputError(f"JSON of a {type(found).__name__}", expected="an object or a list", path=path)


def parse(text: bytes, path: str, line: int = 0) -> Any:
    """Read a JSON text; objects keep repeated names."""
    try:
        return json.loads(
            text.rstrip().decode("utf-8", "surrogateescape"), object_pairs_hook=Members
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"no JSON at column {error.colno} ({error.msg.lower()})", expected="a whole JSON text",
            path=path, line=line or error.lineno,
        ) from None  # fmt: skip
    except RecursionError:
        raise InputError("JSON nested too deeply", expected="objects", path=path) from None
    except ValueError:  # a whole number of thousands of digits
        raise InputError("a number that is too long", expected="a number", path=path) from None


def write(table: Table) -> bytes:
    """Write `{query: {document: number}}`, a query on a line; by subtopic where there are some."""
    found: dict[str, dict[str, Any]] = {}
    for query, document, number, *subtopic in table.rows:
        documents = found.setdefault(query, {})
        for name in subtopic:
            documents = documents.setdefault(name, {})
        documents[document] = number
    lines = [f"{dump(query)}: {dump(documents)}" for query, documents in found.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def dump(value: Any) -> str:
    """Write a value in one line of valid UTF-8; what is no Unicode is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
