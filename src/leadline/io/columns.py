"""Runs and judgments in columns of Arrow, or found by scans: ids are positions in a text.

Only clean columns are taken: ids of type string without nulls, finite grades, scores without NaN. For all
else there are no lists, and rows are read one by one, which repairs them or says what is wrong and where. The
two ways accept the same input and give the same lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Integers
from leadline.data.ids import Ids, to_text
from leadline.data.reading import Reading
from leadline.io import selection
from leadline.io.row_columns import Records
from leadline.io.run_lists import ListConsumer, Lists, ReadCounts, deliver

BATCH_ROWS = 1 << 16  # number of rows hashed and joined at a time


class NotCleanError(Exception):
    """Raised for columns that must be read row by row."""


def stream(records: Records, consumer: ListConsumer, reading: Reading) -> ReadCounts | None:
    """Pass the lists of columns to a consumer, batch by batch; None if they must be read row by row."""
    if not _readable(records, "score") or reading.by_row:
        return None
    counts = ReadCounts()
    seen: set[bytes] = set()
    try:
        for lists in _chunks(records):
            if seen and lists.queries and to_text(lists.tag) != counts.tag:
                raise NotCleanError
            if seen.intersection(lists.queries) or len(set(lists.queries)) < len(lists.queries):
                consumer.restart()  # a query reappears: its rows must be merged first
                return _read(records, _deliver(whole(records, "score"), consumer, reading, ReadCounts()))
            seen.update(lists.queries)
            if _deliver(lists, consumer, reading, counts) is None:
                consumer.restart()
                return None
    except NotCleanError:
        consumer.restart()
        return None
    return _read(records, counts if counts.rows else None)


def _read(records: Records, counts: ReadCounts | None) -> ReadCounts | None:
    """Let go of the rows once they were read as columns."""
    if counts is not None:
        records.rows = ()
    return counts


def _deliver(
    lists: Lists | None, consumer: ListConsumer, reading: Reading, counts: ReadCounts
) -> ReadCounts | None:
    if lists is None:
        return None
    selection.clean(lists, reading)
    if not deliver(lists, consumer, counts):
        return None
    return counts


def whole(records: Records, what: str) -> Lists | None:
    """Return the lists of all rows, merged by query; None if they must be read row by row."""
    if not _readable(records, what):
        return None
    try:
        if records.scan is not None:
            (lists,) = records.scan(_roles(records, what), whole=True)
        else:
            import pyarrow as pa

            batches = list(_batches(records, size=1 << 31))
            if not batches:
                return None
            lists = _lists(pa.concat_batches(batches) if len(batches) > 1 else batches[0], what, records)
    except NotCleanError:
        return None
    lists.group()
    return lists if len(lists.scores) else None


def _roles(records: Records, what: str) -> dict[str, int]:
    """Return what the chosen columns hold, as the scans count it."""
    roles = (0, 1, 2, 3, 4, 5) if what == "score" else (0, 1, 2, 5, 5, 5)
    return {name: role for name, role in zip(records.chosen, roles, strict=False) if name}


def _readable(records: Records, what: str) -> bool:
    """Return whether rows are available as columns; grades with probabilities or judges are not."""
    more = what == "grade" and any(records.chosen[4:])
    return (records.scan or records.arrow) is not None and kernels.compiled is not None and not more


def _chunks(records: Records) -> Iterator[Lists]:
    """Yield the lists of a run chunk by chunk, never a part of a list."""
    if records.scan is not None:
        yield from records.scan(_roles(records, "score"), whole=False)
        return
    import pyarrow as pa

    begun = None  # rows of the list that the next batch may continue
    for batch in _batches(records, size=BATCH_ROWS):
        rows = batch if begun is None else pa.concat_batches([begun, batch])
        last = int(_runs_of(rows.column(0))[1][-2]) if len(rows) else 0  # first row of the last list
        begun = rows.slice(last)
        if last:
            yield _lists(rows.slice(0, last), "score", records)
    if begun is not None and len(begun):
        yield _lists(begun, "score", records)


def _batches(records: Records, size: int) -> Iterator[Any]:
    """Yield batches of at most some rows, of the chosen columns in their order."""
    import pyarrow as pa

    assert records.arrow is not None
    names = [name for name in records.chosen if name]
    try:
        for batch in records.arrow(records.chosen):
            columns = [_plain(pa, batch.column(name), ids=name in records.columns) for name in names]
            plain = pa.record_batch(columns, names=names)
            for start in range(0, len(plain), size):
                yield plain.slice(start, size)
    except (pa.ArrowException, OSError, UnicodeError, TypeError, ValueError, OverflowError):
        raise NotCleanError from None


def _plain(pa: Any, column: Any, *, ids: bool) -> Any:
    """Return a column of strings or numbers in its simplest type."""
    kinds, kind = pa.types, column.type
    if column.null_count:
        raise NotCleanError
    if kinds.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
        if column.null_count:
            raise NotCleanError
    if kinds.is_string(kind) or (not ids and (kinds.is_floating(kind) or kinds.is_integer(kind))):
        return column
    if kinds.is_large_string(kind) or str(kind) == "string_view":
        return column.cast(pa.large_string())
    raise NotCleanError


def _lists(batch: Any, what: str, records: Records) -> Lists:
    """Return the lists of some rows."""
    columns = dict(zip((name for name in records.chosen if name), batch.columns, strict=True))
    query, document, value, more, beside, _ = (columns.get(name) for name in records.chosen)
    found = value.to_numpy(zero_copy_only=False)
    if found.dtype.kind not in "fiu":
        raise NotCleanError
    scores = np.asarray(found, dtype=np.float64)
    if (np.isnan(scores) if what == "score" else ~np.isfinite(scores)).any():
        raise NotCleanError
    ranks: Integers | None = None
    if what == "score" and more is not None:
        found = more.to_numpy(zero_copy_only=False)
        if found.dtype.kind not in "iu" or found.dtype == np.uint64:
            raise NotCleanError
        ranks = np.maximum(found.astype(np.int64), -1)
    queries, bounds = _runs_of(query)
    ids = _strings(document)
    lists = Lists(queries, bounds, (ids.text, ids.start, ids.stop), scores, ranks)
    if what == "score" and beside is not None and len(beside):
        lists.tag = str(beside[-1].as_py()).encode("utf-8", "surrogateescape")
        if len(beside.unique()) > 1:
            raise NotCleanError
    return lists


def _strings(column: Any) -> Ids:
    """Return the strings of a column, without a copy of the text."""
    if not len(column):
        return Ids.of([])
    _, offsets, data = column.buffers()
    kind = np.int64 if str(column.type) == "large_string" else np.int32
    last = column.offset + len(column)  # a file may have more bytes than offsets
    raw: npt.NDArray[Any] = np.frombuffer(offsets, dtype=kind, count=last + 1)
    places: Integers = raw[column.offset :].astype(np.int64)
    text = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    return Ids(text, places[:-1], places[1:])


def _runs_of(query: Any) -> tuple[list[bytes], Integers]:
    """Return the query of each list, and the boundaries of the lists."""
    from pyarrow import compute

    encoded = compute.run_end_encode(query)
    ends = np.asarray(encoded.run_ends.to_numpy(), dtype=np.int64)
    return list(_strings(encoded.values)), np.concatenate((np.zeros(1, dtype=np.int64), ends))
