"""Lists of runs and judgments in JSON Lines, JSON and CSV, found by the compiled kernels.

Only clean text is taken: records that all have the members of the first one, ids in quotation marks, numbers
that are finite. For all else there are no lists, and rows are read one by one by Python, which repairs them
or says what is wrong and where. The two ways accept the same input and give the same lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Integers
from leadline.data.ids import to_bytes
from leadline.errors import InputError
from leadline.io.ahead import COLUMNS, POWERS
from leadline.io.columns import NotCleanError
from leadline.io.opening import Buffers, Chunk
from leadline.io.row_columns import Scan
from leadline.io.run_lists import Lists
from leadline.io.trec_lists import lists_of_scan

if TYPE_CHECKING:
    from leadline.io.formats import Opened

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
        return _lists(source, _scanner(0, text, ends, _roles(names, roles), needed), whole=whole)

    return scan


def csv_scan(source: Opened, names: Sequence[str], delimiter: str) -> Scan:
    """Return the scan of the rows of a CSV table with this header."""

    def scan(roles: Mapping[str, int], *, whole: bool) -> Iterator[Lists]:
        scanner = _scanner(ord(delimiter), NOTHING, NOTHING.astype(np.int64), _roles(names, roles), 0)
        return _lists(source, scanner, whole=whole, header=True)

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


def _roles(names: Sequence[str], roles: Mapping[str, int]) -> Integers:
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


def _lists(source: Opened, scanner: Scanner, *, whole: bool, header: bool = False) -> Iterator[Lists]:
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
    columns: dict[str, Any] = dict(window.workspace.columns(RECORD_COLUMNS, rows + 2))
    columns["ranks"] = columns["ranks"].view(np.int32)
    tally = np.zeros(8, dtype=np.int64)
    if not end or not scanner(text, begin, end, window.last, columns, tally):
        raise NotCleanError
    columns["hashes"] = columns["hashes"].view(np.uint64)
    columns["values"] = columns["values"].view(np.float64)
    lists = lists_of_scan(text, columns, tally.tolist())
    count = len(lists.scores)
    spans = columns["value_start"][:count], columns["value_stop"][:count]
    if not kernels.compiled.numbers(text, *spans, POWERS, lists.scores):
        raise NotCleanError
    kernels.compiled.hash_ids(text, lists.start, lists.stop, lists.hashes)
    return lists
