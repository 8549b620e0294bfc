"""Runs and qrels as dictionaries: `{query: {document: number}}`, or bare ranked lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, Protocol

from leadline.errors import InputError
from leadline.formats.records import Records, Row


class Items(Protocol):
    """What has items: a dictionary, or an object of a JSON text with its repeated names."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Give names and values in order."""


def records(
    source: Items, what: str, *, path: str, unit: str = "", subtopics: bool = False
) -> Records:
    """Give the rows of a dictionary; `{query: [document, ...]}` is a run of score -rank.

    With subtopics it is `{query: {subtopic: {document: grade}}}`.
    """
    if subtopics:
        return Records(_by_subtopic(source, path), path=path, unit=unit, ranked=True)
    first = next((documents for _, documents in source.items()), None)
    if what == "score" and _is_list(first):
        rows = _listed(source, path)
        return Records(rows, path=path, unit="place", ranked=True, listed=True)
    return Records(_rows(source, what, path), path=path, unit=unit)


def _rows(source: Items, what: str, path: str) -> Iterator[Row]:
    place: Callable[[], int] = count(1).__next__
    for query, documents in source.items():
        for document, value in _members(documents, query, f"{{document: {what}}}", path):
            yield place(), query, document, value, None


def _by_subtopic(source: Items, path: str) -> Iterator[Row]:
    place: Callable[[], int] = count(1).__next__
    for query, found in source.items():
        for subtopic, documents in _members(found, query, "{subtopic: {document: grade}}", path):
            for document, grade in _members(documents, query, "{document: grade}", path):
                yield place(), query, document, grade, subtopic


def _members(value: Any, query: Any, expected: str, path: str) -> Iterable[tuple[Any, Any]]:
    if not hasattr(value, "items"):
        raise InputError(
            f"query {query!r} has {type(value).__name__}", expected=expected, path=path
        )
    found: Iterable[tuple[Any, Any]] = value.items()
    return found


def _listed(source: Items, path: str) -> Iterator[Row]:
    for query, documents in source.items():
        if not _is_list(documents):
            kind = type(documents).__name__
            raise InputError(f"query {query!r} has {kind}", expected="[document, ...]", path=path)
        for rank, document in enumerate(documents, start=1):
            yield rank, query, document, -rank, rank


def _is_list(documents: object) -> bool:
    return isinstance(documents, (list, tuple))
