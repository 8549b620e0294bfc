"""Lists in columns of Arrow, or found by compiled scans in JSON Lines, JSON and CSV, without reading rows.

Only clean input is taken: ids of type string without nulls, records that all have the members of the first
one, finite grades, scores without NaN. For all else there are no lists, and rows are read one by one, which
repairs them or says what is wrong and where. The two ways accept the same input and give the same lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Bytes, Integers
from leadline.data.ids import Ids, to_bytes, to_text
from leadline.data.reading import Reading
from leadline.errors import InputError
from leadline.io import selection
from leadline.io.ahead import COLUMNS, POWERS
from leadline.io.opening import Buffers, Chunk
from leadline.io.row_columns import Records, Scan
from leadline.io.run_lists import ListConsumer, Lists, ReadCounts, deliver
from leadline.io.trec_lists import lists_of_scan

if TYPE_CHECKING:
    from leadline.io.formats import Opened

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
            returns = seen.intersection(lists.queries) or len(set(lists.queries)) < len(lists.queries)
            found = whole(records, "score") if returns else lists  # the rows of a query must be merged
            if found is None:
                raise NotCleanError
            if returns:
                consumer.restart()
                counts = ReadCounts()
            seen.update(lists.queries)
            selection.clean(found, reading)
            if not deliver(found, consumer, counts):
                raise NotCleanError
            if returns:
                break
    except NotCleanError:
        consumer.restart()
        return None
    if not counts.rows:
        return None
    records.rows = ()
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
    query, document, _, more, beside, _ = (columns.get(name) for name in records.chosen)
    found = columns[records.chosen[2]].to_numpy(zero_copy_only=False)
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


RECORD_COLUMNS = (*COLUMNS, "value_start", "value_stop")
# What the scans fill, in the order of their arguments.
FILLED = (
    *("start", "stop", "value_start", "value_stop", "ranks", "bounds"),
    *("query_start", "query_stop", "list_byte"),
)
SHORTEST_LINE = 6  # "q,d,1\n"
IGNORED = 5  # role of a column that is not read
MOST_NAMES = 64
NOTHING = np.empty(0, dtype=np.uint8)

# Scan a text from a byte to another into columns, given whether it ends there; return whether it is clean.
Scanner = Callable[[Bytes, int, int, bool, dict[str, Any], Integers], bool]


def json_lines_scan(source: Opened, names: Sequence[str]) -> Scan | None:
    """Return the scan of JSON Lines whose first object has members of these names."""
    if len(names) > MOST_NAMES:
        return None
    try:
        encoded = list(map(to_bytes, names))
    except InputError:
        return None
    text = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)

    def scan(roles: Mapping[str, int], *, whole: bool) -> Iterator[Lists]:
        needed = sum(1 << place for place, name in enumerate(names) if name in roles)
        return _scanned_lists(source, _scanner(0, text, ends, _places_of(names, roles), needed), whole=whole)

    return scan


def csv_scan(source: Opened, names: Sequence[str], delimiter: str) -> Scan:
    """Return the scan of the rows of a CSV table with this header."""

    def scan(roles: Mapping[str, int], *, whole: bool) -> Iterator[Lists]:
        scanner = _scanner(ord(delimiter), NOTHING, NOTHING.astype(np.int64), _places_of(names, roles), 0)
        return _scanned_lists(source, scanner, whole=whole, header=True)

    return scan


def mapping_lists(window: Chunk) -> Lists | None:
    """Return the lists of a text that is `{query: {document: number}}`; None for any other text."""
    if kernels.compiled is None:
        return None
    scan_mapping = kernels.compiled.scan_mapping
    names = ("start", "stop", "value_start", "value_stop", "bounds", "query_start", "query_stop")

    def scan(
        text: Bytes, _begin: int, end: int, _last: bool, columns: dict[str, Any], tally: Integers
    ) -> bool:
        columns["ranks"].fill(-1)
        found: bool = scan_mapping(text, end, *(columns[name] for name in names), tally)
        return found

    rows = int(np.count_nonzero(window.text[: window.end] == ord(":")))
    try:
        return _scanned(window, 0, scan, rows)
    except NotCleanError:
        return None


def _places_of(names: Sequence[str], roles: Mapping[str, int]) -> Integers:
    """Return the role of every column; of two columns of one name the first has it."""
    found = [IGNORED] * len(names)
    for name, role in roles.items():
        found[list(names).index(name)] = role
    return np.array(found, dtype=np.int64)


def _scanner(delimiter: int, names: Bytes, ends: Integers, roles: Integers, needed: int) -> Scanner:
    """Return the scanner of lines: cells between delimiters, or objects if there is none."""
    positions = np.zeros(10, dtype=np.int64)

    def scan(text: Bytes, begin: int, end: int, last: bool, columns: dict[str, Any], tally: Integers) -> bool:
        if kernels.compiled is None:
            return False
        filled = [columns[name] for name in FILLED]
        found: bool = kernels.compiled.scan_records(
            *(text, begin, end, last, delimiter, names, ends, roles, needed), *filled, *(positions, tally)
        )
        return found

    return scan


def _scanned_lists(source: Opened, scanner: Scanner, *, whole: bool, header: bool = False) -> Iterator[Lists]:
    """Yield the lists of a text chunk by chunk, never a part of a list."""
    if whole or source.whole is not None:
        window = source.text
        yield _scanned(window, _below(window) if header else 0, scanner, window.end // SHORTEST_LINE)
        return
    with Chunk(source.path, Buffers()) as window:
        byte = 0
        while not window.last:
            window.advance(byte)
            begin = _below(window) if header else 0
            lists = _scanned(window, begin, scanner, window.end // SHORTEST_LINE)
            byte, header = lists.next_byte, False
            yield lists


def _below(window: Chunk) -> int:
    """Return the end of the first line."""
    text = window.content()
    begin = text.find(b"\n") + 1
    if b"\r" in text[: max(begin - 2, 0)]:  # ends a line of CSV too
        raise NotCleanError
    return begin


def _scanned(window: Chunk, begin: int, scanner: Scanner, rows: int) -> Lists:
    """Scan a chunk; its arrays are in the workspace of the chunk, to be used before it advances."""
    assert kernels.compiled is not None
    text, end = window.text, window.end
    if b"\\" in text[:end].tobytes():  # escapes are replaced in the text
        text = text[:end].copy()
    columns = window.workspace.columns(RECORD_COLUMNS, rows + 2)
    tally = np.zeros(8, dtype=np.int64)
    if not end or not scanner(text, begin, end, window.last, columns, tally):
        raise NotCleanError
    lists = lists_of_scan(text, columns, tally.tolist())
    count = len(lists.scores)
    spans = columns["value_start"][:count], columns["value_stop"][:count]
    if not kernels.compiled.numbers(text, *spans, POWERS, lists.scores):
        raise NotCleanError
    kernels.compiled.hash_ids(text, lists.start, lists.stop, lists.hashes)
    return lists
