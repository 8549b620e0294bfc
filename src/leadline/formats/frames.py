"""Runs and qrels as data frames of any library that narwhals knows (pandas, polars, Arrow, ...)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leadline.errors import InputError
from leadline.formats.mappings import number
from leadline.qrels import Qrels
from leadline.run import Run
from leadline.vocabulary import to_bytes

# Column names of ir_measures, PyTerrier, ranx and trectools, in the order in which they are looked for.
QUERY = ("query_id", "qid", "q_id", "query")
DOCUMENT = ("doc_id", "docno", "docid", "document")
GRADE = ("relevance", "label", "rel", "grade", "score")
SCORE = ("score",)


def qrels(source: Any) -> Qrels:
    """Make qrels from a data frame."""
    found = Qrels.of(_rows(source, GRADE, "grade"), source="qrels")
    if not len(found):
        raise InputError("the qrels hold no judgments", expected="a frame with rows")
    return found


def run(source: Any, *, name: str) -> Run:
    """Make a run from a data frame."""
    return Run.of(_rows(source, SCORE, "score"), name=name)


def _rows(source: Any, values: tuple[str, ...], what: str) -> Iterator[tuple[bytes, bytes, float]]:
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
    except TypeError:
        raise InputError(
            f"an object of type {type(source).__name__}",
            expected="a path, a dictionary or a data frame",
        ) from None
    columns = [_column(frame.columns, names, what) for names in (QUERY, DOCUMENT, values)]
    for query, document, value in frame.select(columns).iter_rows():
        yield (
            _id(query, columns[0]),
            _id(document, columns[1]),
            number(value, what, query, document),
        )


def _column(present: list[str], names: tuple[str, ...], what: str) -> str:
    for name in names:
        if name in present:
            return name
    raise InputError(
        f"a frame for {what}s with columns {', '.join(map(str, present))}",
        expected="a column called " + " or ".join(names),
    )


def _id(value: Any, column: str) -> bytes:
    if not isinstance(value, str):
        raise InputError(
            f"id {value!r} of type {type(value).__name__} in column '{column}'",
            expected="a string",
            hint="ids are never converted, since 1, 01 and 1.0 would become one",
        )
    return to_bytes(value)
