"""Runs and qrels as rows: named tuples, dictionaries, or (query, document, number)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

from leadline.errors import InputError
from leadline.formats import columns
from leadline.formats.records import Records, Row

SHAPES = "(query, document, number), or a named tuple or dictionary with such names"


def records(
    source: Iterable[Any], what: str, *, path: str, by_rank: bool = False, unit: str = "record"
) -> Records:
    """Give the rows of any iterable, which is gone through once; the first row tells their shape."""
    return numbered(enumerate(source, start=1), what, path=path, by_rank=by_rank, unit=unit)


def numbered(
    source: Iterable[tuple[int, Any]], what: str, *, path: str, by_rank: bool, unit: str
) -> Records:
    """Give the rows of an iterable of (place, row)."""
    rows = iter(source)
    first = next(rows, None)
    found = Records((), path=path, unit=unit)
    if first is None:
        return found
    present = names_of(first[1])
    if present is None:
        found.rows = _plain(chain([first], rows), found)
        return found
    try:
        chosen = columns.choose(present, what, by_rank=by_rank)
    except InputError as error:
        raise found.at(error, first[0]) from None
    found.names, found.columns = tuple(present), chosen[:2]
    found.ranked = bool(chosen[3])
    tag = columns.find(present, columns.TAG) if what == "score" else None
    if tag is not None:
        value = _getter(first[1])(tag)(first[1])
        found.tag = value if isinstance(value, str) else ""
    share = columns.find(present, columns.PROBABILITY) if what == "grade" else None
    found.rows = _named(chain([first], rows), (*chosen, share or ""), type(first[1]), found)
    return found


def names_of(row: object) -> list[str] | None:
    """Give the names of a row's columns, None when it has none."""
    if isinstance(row, Mapping):
        return list(row)
    fields = getattr(row, "_fields", None)
    return None if fields is None else list(fields)


def _getter(row: object) -> Any:
    return itemgetter if isinstance(row, Mapping) else attrgetter


def _named(
    rows: Iterable[tuple[int, Any]], chosen: tuple[str, ...], kind: type, records: Records
) -> Iterator[Row]:
    getters: list[Any] = []
    for place, row in rows:
        if not getters:
            make = _getter(row)
            getters = [make(name) if name else _nothing for name in chosen]
        try:
            query, document, value, rank, share = (get(row) for get in getters)
        except (AttributeError, KeyError, TypeError):
            present = names_of(row)
            shown = (
                type(row).__name__
                if present is None
                else f"{kind.__name__} of " + ", ".join(present)
            )
            error = InputError(shown, expected=", ".join(filter(None, chosen)))
            raise records.at(error, place) from None
        if chosen[-1]:
            records.shares[query, document] = share
        yield place, query, document, value, rank


def _nothing(_row: object) -> None:
    return None


def _plain(rows: Iterable[tuple[int, Any]], records: Records) -> Iterator[Row]:
    for place, row in rows:
        if not isinstance(row, (tuple, list)) or len(row) != 3:
            size = f" of {len(row)}" if isinstance(row, (tuple, list)) else ""
            error = InputError(f"a {type(row).__name__}{size}", expected=SHAPES)
            raise records.at(error, place)
        yield place, row[0], row[1], row[2], None
