"""Find every fault of a text, not only the first: the parsers are those of the readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from leadline.errors import InputError
from leadline.formats import Opened, records_of
from leadline.formats.records import lists_of
from leadline.formats.trec_lists import PlainLists, Repair
from leadline.kernels import plain

STRETCH = 256  # lines that are parsed at a time; fewer behind a fault, so that each costs little
BLOCK = 1 << 16  # bytes that are split into lines at a time
CODES = (
    ("nan", r"score 'nan'|score nan"), ("columns", r"\d+ (columns|cells)$"), ("score", "score "),
    ("grade", "grade "), ("rank", "rank "), ("id", "id |no id "), ("nul", "a NUL byte"),
    ("carriage_return", "a carriage return"),
)  # fmt: skip


def code_of(error: InputError) -> str:
    """Name the kind of an error.

    >>> code_of(InputError("score 'abc'")), code_of(InputError("5 columns"))
    ('score', 'columns')
    """
    if "--on-nan" in error.hint:
        return "nan"
    return next((code for code, found in CODES if re.match(found, error.found)), "unreadable")


class Faults:
    """Faults by their kind, in the order of first lines: the first of each kind, and how many there are."""

    def __init__(self) -> None:
        self.first: dict[str, InputError] = {}
        self.counts: dict[str, int] = {}

    def add(self, error: InputError) -> None:
        """Count a fault; a copy of the first of its kind is kept, without the frames of its traceback."""
        code = code_of(error)
        if code not in self.first:
            self.first[code] = error.at(error.path)
        self.counts[code] = self.counts.get(code, 0) + 1


class Found(NamedTuple):
    """The lists of a text without its faulty lines; `returns` are lines where a query comes back."""

    lists: PlainLists
    faults: Faults
    returns: list[int]
    tag: str
    listed: bool = False  # bare ranked lists, where a repeat holds its rank


def find(source: Opened, kind: str) -> Found:
    """Parse a text and count its faults."""
    if source.form == "trec":
        assert source.whole is not None
        return _in_trec(source.whole.text[: source.whole.end].tobytes(), kind)
    faults = Faults()
    rows = records_of(source, "score" if kind == "run" else "grade")
    try:
        lists = lists_of(rows, "score" if kind == "run" else "grade", Repair(), on_fault=faults.add)
    except InputError as error:  # the text itself is broken: nothing behind this place is known
        faults.add(error)
        rows.rows = ()
        lists = lists_of(rows, "score", Repair())
    return Found(lists, faults, [], rows.tag, rows.listed)


def blocks(text: bytes) -> Iterator[tuple[int, list[bytes]]]:
    r"""Split a text into lines, some at a time, each time with the number of the first.

    >>> list(blocks(b"a\n\nb"))
    [(1, [b'a', b'', b'b'])]
    """
    line, start = 1, 0
    while start <= len(text):
        end = text.find(b"\n", start + BLOCK)
        end = len(text) if end < 0 else end
        lines = text[start:end].split(b"\n")
        yield line, lines
        line, start = line + len(lines), end + 1


def _in_trec(text: bytes, kind: str) -> Found:
    faults = Faults()
    merged = plain.Rows([], [], [], [], [], [], 0, b"", 0, 0, 0)
    returns: list[int] = []
    seen: set[bytes] = set()
    extra, tag = 0, b""
    for rows in _pieces(text, kind, faults):
        for query, low in zip(rows.queries, rows.bounds, strict=False):
            if merged.queries and query == merged.queries[-1]:
                continue
            if query in seen and low < len(rows.lines):
                returns.append(rows.lines[low])
            seen.add(query)
            merged.queries.append(query)
            merged.bounds.append(len(merged.documents) + low)
        merged.documents.extend(rows.documents)
        merged.values.extend(rows.values)
        merged.ranks.extend(rows.ranks)
        merged.lines.extend(rows.lines)
        extra, tag = extra + rows.extra, rows.tag or tag
    merged.bounds.append(len(merged.documents))
    lists = PlainLists(merged._replace(extra=extra))
    lists.group()
    return Found(lists, faults, returns, tag.decode("utf-8", "surrogateescape"))


def _pieces(text: bytes, kind: str, faults: Faults) -> Iterator[plain.Rows]:
    for line, lines in blocks(text):
        yield from _around(lines, line, kind, faults)


def _around(lines: list[bytes], line: int, kind: str, faults: Faults) -> Iterator[plain.Rows]:
    """Parse some lines around those that are faulty."""
    place, size = 0, STRETCH
    while place < len(lines):
        part, first = lines[place : place + size], line + place
        try:
            rows = _scan(part, first, kind)
        except InputError as error:
            faults.add(error)
            good = (error.line or first) - first
            if good:
                yield _scan(part[:good], first, kind)
            place, size = place + good + 1, max(1, size // 4)
        else:
            yield rows
            place, size = place + len(part), min(2 * size, STRETCH)


def _scan(lines: list[bytes], line: int, kind: str) -> plain.Rows:
    text = b"\n".join(lines)
    return plain.scan_run(text, line, True) if kind == "run" else plain.scan_qrels(text, line)
