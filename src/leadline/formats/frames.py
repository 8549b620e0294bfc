"""Runs and qrels as data frames of any library that narwhals knows (pandas, polars, Arrow, ...)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leadline.errors import InputError
from leadline.formats import columns
from leadline.formats.records import Records, Row


def open_frame(source: Any) -> Any:
    """Give a narwhals frame, or None for what is no data frame; a lazy one is collected."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError("a frame with two columns of one name", expected="one") from None
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def records(
    frame: Any, what: str, *, path: str, by_rank: bool = False, unit: str = "row"
) -> Records:
    """Give the rows of a frame; the first row is row 1."""
    try:
        chosen = columns.choose(frame.columns, what, by_rank=by_rank)
    except InputError as error:
        raise error.at(path) from None
    tag = columns.find(frame.columns, columns.TAG) if what == "score" else None
    first = frame[tag][0] if tag is not None and len(frame) else ""
    share = columns.find(frame.columns, columns.PROBABILITY) if what == "grade" else None
    found = Records(
        (), path=path, unit=unit, columns=chosen[:2], tag=first if isinstance(first, str) else "",
        ranked=bool(chosen[3]), names=tuple(frame.columns),
    )  # fmt: skip
    found.rows = _rows(frame, (*chosen, share or ""), found)
    return found


def _rows(frame: Any, chosen: tuple[str, ...], records: Records) -> Iterator[Row]:
    present = [name for name in chosen if name]
    where = [present.index(name) if name else -1 for name in chosen]
    query, document, value, rank, share = where
    for place, row in enumerate(frame.select(list(dict.fromkeys(present))).iter_rows(), start=1):
        if share >= 0:
            records.shares[row[query], row[document]] = row[share]
        yield (
            place, row[query], row[document],
            row[value] if value >= 0 else None, row[rank] if rank >= 0 else None,
        )  # fmt: skip
