"""Runs and qrels in memory: dictionaries, data frames, and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain, count
from operator import attrgetter, itemgetter
from typing import Any, Protocol

from leadline.errors import InputError
from leadline.io.columns import STRETCH
from leadline.io.row_checks import Records, Row, Table


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


def table_of_rows(source: Iterable[tuple[int, Any]], *, path: str, unit: str = "record") -> Table | Records:
    """Return the table that an iterable of (place, row) is; rows without names are (query, document, number).

    It is gone through once, and the first row tells the names of the columns.
    """
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        return Records((), path=path, unit=unit)
    rows = chain([first], rows)
    present = names_of(first[1])
    if present is None:
        found = Records((), path=path, unit=unit)
        found.rows = _plain(rows, found)
        return found

    def cells(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        return _cells(rows, chosen, first[1], Records((), path=path, unit=unit))

    return Table(present, cells, path, unit, place=first[0])


def names_of(row: object) -> list[str] | None:
    """Return the names of a row's columns, None when it has none."""
    if isinstance(row, Mapping):
        return list(row)
    fields = getattr(row, "_fields", None)
    return None if fields is None else list(fields)


def _cells(
    rows: Iterable[tuple[int, Any]], chosen: Sequence[str], first: Any, records: Records
) -> Iterator[tuple[int, Sequence[Any]]]:
    make: Any = itemgetter if isinstance(first, Mapping) else attrgetter
    getters = [make(name) if name else _nothing for name in chosen]
    getters[5:] = map(_if_there, chosen[5:])  # a row without a judge is as good as any
    for place, row in rows:
        try:
            yield place, [get(row) for get in getters]
        except (AttributeError, KeyError, TypeError):
            present = names_of(row)
            shown = (
                type(row).__name__ if present is None else f"{type(first).__name__} of " + ", ".join(present)
            )
            error = InputError(shown, expected=", ".join(filter(None, chosen[:4])))
            raise records.at(error, place) from None


def _nothing(_row: object) -> None:
    return None


def _if_there(name: str) -> Callable[[Any], Any]:
    return lambda row: row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


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


def table_of_frame(frame: Any, *, path: str) -> Table:
    """Return a frame as a table; the first row is row 1."""

    def cells(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        present = [name for name in chosen if name]
        places = [present.index(name) if name else len(present) for name in chosen]
        for number, row in enumerate(frame.select(present).iter_rows(), start=1):
            whole = (*row, None)
            yield number, [whole[place] for place in places]

    def batches(chosen: Sequence[str]) -> Iterator[Any]:
        some = frame.select([name for name in chosen if name])
        for start in range(0, len(some), STRETCH):  # so that no whole column is copied
            yield from some[start : start + STRETCH].to_arrow().to_batches()

    convert = ".astype(str)" if frame.implementation.is_pandas_like() else ".cast(str)"
    arrow = batches if find_spec("pyarrow") else None
    return Table(frame.columns, cells, path, "row", convert=convert, arrow=arrow)
