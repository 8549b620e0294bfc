"""Runs and qrels in memory: dictionaries, data frames, and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, count
from operator import attrgetter, itemgetter
from typing import Any, Protocol

from leadline.errors import InputError
from leadline.io import row_checks
from leadline.io.row_checks import Records, Row


class MappingLike(Protocol):
    """What has items: a dictionary, or an object of a JSON text with its repeated names."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return names and values in order."""


def mapping_records(
    source: MappingLike, what: str, *, path: str, unit: str = "", subtopics: bool = False
) -> Records:
    """Return the rows of a dictionary; `{query: [document, ...]}` is a run of score -rank.

    With subtopics it is `{query: {subtopic: {document: grade}}}`.
    """
    if subtopics:
        return Records(_by_subtopic(source, path), path=path, unit=unit, ranked=True)
    first = next((documents for _, documents in source.items()), None)
    if what == "score" and _is_list(first):
        rows = _listed(source, path)
        return Records(rows, path=path, unit="place", ranked=True, listed=True)
    return Records(_rows(source, what, path), path=path, unit=unit)


def _rows(source: MappingLike, what: str, path: str) -> Iterator[Row]:
    place: Callable[[], int] = count(1).__next__
    for query, documents in source.items():
        for document, value in _members(documents, query, f"{{document: {what}}}", path):
            yield place(), query, document, value, None


def _by_subtopic(source: MappingLike, path: str) -> Iterator[Row]:
    place: Callable[[], int] = count(1).__next__
    for query, found in source.items():
        for subtopic, documents in _members(found, query, "{subtopic: {document: grade}}", path):
            for document, grade in _members(documents, query, "{document: grade}", path):
                yield place(), query, document, grade, subtopic


def _members(value: Any, query: Any, expected: str, path: str) -> Iterable[tuple[Any, Any]]:
    if not hasattr(value, "items"):
        raise InputError(f"query {query!r} has {type(value).__name__}", expected=expected, path=path)
    found: Iterable[tuple[Any, Any]] = value.items()
    return found


def _listed(source: MappingLike, path: str) -> Iterator[Row]:
    for query, documents in source.items():
        if not _is_list(documents):
            kind = type(documents).__name__
            raise InputError(f"query {query!r} has {kind}", expected="[document, ...]", path=path)
        for rank, document in enumerate(documents, start=1):
            yield rank, query, document, -rank, rank


def _is_list(documents: object) -> bool:
    return isinstance(documents, (list, tuple))


SHAPES = "(query, document, number), or a named tuple or dictionary with such names"


def tuple_records(
    source: Iterable[Any], what: str, *, path: str, by_rank: bool = False, unit: str = "record"
) -> Records:
    """Return the rows of any iterable, which is gone through once; the first row tells their shape."""
    return numbered(enumerate(source, start=1), what, path=path, by_rank=by_rank, unit=unit)


def numbered(source: Iterable[tuple[int, Any]], what: str, *, path: str, by_rank: bool, unit: str) -> Records:
    """Return the rows of an iterable of (place, row)."""
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
        chosen = row_checks.choose(present, what, by_rank=by_rank)
    except InputError as error:
        raise found.at(error, first[0]) from None
    found.names, found.columns = tuple(present), chosen[:2]
    found.ranked = bool(chosen[3])
    tag = row_checks.find(present, row_checks.TAG) if what == "score" else None
    if tag is not None:
        value = _getter(first[1])(tag)(first[1])
        found.tag = value if isinstance(value, str) else ""
    share = row_checks.find(present, row_checks.PROBABILITY) if what == "grade" else None
    found.rows = _named(chain([first], rows), (*chosen, share or ""), type(first[1]), found)
    return found


def names_of(row: object) -> list[str] | None:
    """Return the names of a row's columns, None when it has none."""
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
            shown = type(row).__name__ if present is None else f"{kind.__name__} of " + ", ".join(present)
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


def open_frame(source: Any) -> Any:
    """Return a narwhals frame, or None for what is no data frame; a lazy one is collected."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError("a frame with two columns of one name", expected="one") from None
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_records(frame: Any, what: str, *, path: str, by_rank: bool = False, unit: str = "row") -> Records:
    """Return the rows of a frame; the first row is row 1."""
    try:
        chosen = row_checks.choose(frame.columns, what, by_rank=by_rank)
    except InputError as error:
        raise error.at(path) from None
    tag = row_checks.find(frame.columns, row_checks.TAG) if what == "score" else None
    first = frame[tag][0] if tag is not None and len(frame) else ""
    share = row_checks.find(frame.columns, row_checks.PROBABILITY) if what == "grade" else None
    found = Records(
        (),
        path=path,
        unit=unit,
        columns=chosen[:2],
        tag=first if isinstance(first, str) else "",
        ranked=bool(chosen[3]),
        names=tuple(frame.columns),
        convert=".astype(str)" if frame.implementation.is_pandas_like() else ".cast(str)",
    )
    found.rows = _frame_rows(frame, (*chosen, share or ""), found)
    return found


def _frame_rows(frame: Any, chosen: tuple[str, ...], records: Records) -> Iterator[Row]:
    present = [name for name in chosen if name]
    where = [present.index(name) if name else -1 for name in chosen]
    query, document, value, rank, share = where
    for place, row in enumerate(frame.select(list(dict.fromkeys(present))).iter_rows(), start=1):
        if share >= 0:
            records.shares[row[query], row[document]] = row[share]
        yield (
            place,
            row[query],
            row[document],
            row[value] if value >= 0 else None,
            row[rank] if rank >= 0 else None,
        )
