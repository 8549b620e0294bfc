"""Find every fault of a text, not only the first: the parsers are those of the readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from leadline.errors import InputError
from leadline.formats import Opened, records_of
from leadline.formats.records import lists_of
from leadline.formats.trec_lists import PlainLists, Repair
from leadline.kernels import plain

STRETCH = 256  # lines that are parsed at a time, so that a fault costs little


class Found(NamedTuple):
    """The lists of a text without its faulty lines; `returns` are lines where a query comes back."""

    lists: PlainLists
    faults: list[InputError]
    returns: list[int]
    tag: str
    listed: bool = False  # bare ranked lists, where a repeat holds its rank


def find(source: Opened, kind: str) -> Found:
    """Parse a text and collect its faults."""
    if source.form == "trec":
        assert source.whole is not None
        return _in_trec(source.whole.text[: source.whole.end].tobytes(), kind)
    faults: list[InputError] = []
    rows = records_of(source, "score" if kind == "run" else "grade")
    try:
        lists = lists_of(
            rows, "score" if kind == "run" else "grade", Repair(), on_fault=faults.append
        )
    except InputError as error:  # the text itself is broken: nothing behind this place is known
        faults.append(error)
        rows.rows = ()
        lists = lists_of(rows, "score", Repair())
    return Found(lists, faults, [], rows.tag, rows.listed)


def _in_trec(text: bytes, kind: str) -> Found:
    faults: list[InputError] = []
    pieces = list(_pieces(text, kind, faults))
    queries: list[bytes] = []
    bounds: list[int] = []
    returns: list[int] = []
    seen: set[bytes] = set()
    documents = [name for rows in pieces for name in rows.documents]
    size = 0
    for rows in pieces:
        for query, low in zip(rows.queries, rows.bounds, strict=False):
            if queries and query == queries[-1]:
                continue
            if query in seen and low < len(rows.lines):
                returns.append(rows.lines[low])
            seen.add(query)
            queries.append(query)
            bounds.append(size + low)
        size += len(rows.documents)
    merged = plain.Rows(
        queries, [*bounds, size], documents,
        [value for rows in pieces for value in rows.values],
        [rank for rows in pieces for rank in rows.ranks],
        [line for rows in pieces for line in rows.lines],
        sum(rows.extra for rows in pieces), b"", 0, 0, 0,
    )  # fmt: skip
    lists = PlainLists(merged)
    lists.group()
    tags = [rows.tag for rows in pieces if rows.tag]
    return Found(
        lists, faults, returns, tags[-1].decode("utf-8", "surrogateescape") if tags else ""
    )


def _pieces(text: bytes, kind: str, faults: list[InputError]) -> Iterator[plain.Rows]:
    lines = text.split(b"\n")
    for start in range(0, len(lines), STRETCH):
        yield from _around(lines[start : start + STRETCH], start + 1, kind, faults)


def _around(
    lines: list[bytes], line: int, kind: str, faults: list[InputError]
) -> Iterator[plain.Rows]:
    """Parse some lines around those that are faulty."""
    while lines:
        try:
            yield _scan(lines, line, kind)
        except InputError as error:
            faults.append(error)
            place = (error.line or line) - line
            if place:
                yield _scan(lines[:place], line, kind)
            lines, line = lines[place + 1 :], line + place + 1
        else:
            return


def _scan(lines: list[bytes], line: int, kind: str) -> plain.Rows:
    text = b"\n".join(lines)
    return plain.scan_run(text, line, True) if kind == "run" else plain.scan_qrels(text, line)
