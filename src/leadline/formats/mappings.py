"""Runs and qrels as dictionaries: `{query: {document: number}}`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from leadline.errors import InputError
from leadline.qrels import Qrels
from leadline.run import Run
from leadline.vocabulary import to_bytes


def qrels(source: Mapping[Any, Any]) -> Qrels:
    """Make qrels from a dictionary; grades may be whole or fractional."""
    found = Qrels.of(_rows(source, "grade"), source="qrels")
    if not len(found):
        raise InputError("the qrels hold no judgments", expected="{query: {document: grade}}")
    return found


def run(source: Mapping[Any, Any], *, name: str) -> Run:
    """Make a run from a dictionary."""
    return Run.of(_rows(source, "score"), name=name)


def _rows(source: Mapping[Any, Any], what: str) -> Iterator[tuple[bytes, bytes, float]]:
    for query, documents in source.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"query {query!r} has {type(documents).__name__}", expected=f"{{document: {what}}}"
            )
        code = to_bytes(query)
        for document, value in documents.items():
            yield code, to_bytes(document), number(value, what, query, document)


def number(value: Any, what: str, query: object, document: object) -> float:
    """Make a float of a score or grade; NaN and infinite grades are refused."""
    place = f"document {document!r} of query {query!r}"
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} {value!r} of {place}", expected="a number") from None
    if (
        isinstance(value, (str, bytes))
        or math.isnan(found)
        or (what == "grade" and math.isinf(found))
    ):
        raise InputError(f"{what} {value!r} of {place}", expected="a number")
    return found
