"""Ids in little memory: packed ids, tables that find judged documents, numbers for the documents of runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Bytes, Codes, Hashes, Integers, freeze
from leadline.data.ids import Ids


class PackedIds(Ids):
    """Ids without the bytes that all begin with, one after the other; `ends` begins with 0.

    The columns of `Ids` are made when something asks for them.

    >>> list(PackedIds(b"d", np.frombuffer(b"122", np.uint8), np.array([0, 1, 3])))
    [b'd1', b'd22']
    """

    def __init__(self, prefix: bytes, rest: Bytes, ends: Integers) -> None:
        freeze(rest, ends)
        self.prefix = prefix
        self.rest = rest
        self.ends = ends

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, row: int) -> bytes:  # type: ignore[override]  # no slices: use `take`
        start, stop = self.ends[:-1][row], self.ends[1:][row]
        return self.prefix + self.rest[start:stop].tobytes()

    @cached_property
    def text(self) -> Bytes:  # type: ignore[override]  # computed when used
        """The text of all ids."""
        if not self.prefix:
            return self.rest
        text = np.empty(int(self.stop[-1]) if len(self) else 0, dtype=np.uint8)
        others = np.ones(len(text), dtype=np.bool_)
        for place, byte in enumerate(self.prefix):
            text[self.start + place] = byte
            others[self.start + place] = False
        text[others] = self.rest
        freeze(text)
        return text

    @cached_property
    def start(self) -> Integers:  # type: ignore[override]  # computed when used
        """Begin of each id in the text."""
        start = self.ends[:-1] + len(self.prefix) * np.arange(len(self))
        freeze(start)
        return start

    @cached_property
    def stop(self) -> Integers:  # type: ignore[override]  # computed when used
        """End of each id in the text."""
        stop = self.ends[1:] + len(self.prefix) * np.arange(1, len(self) + 1)
        freeze(stop)
        return stop


class Slots(NamedTuple):
    """Hash tables of the judged documents, one per query, as arguments of the kernel `match`.

    The documents are a prefix and what follows it in the text, from start to stop; the rows of a query are
    begin to end, and its table begins at `offset` of `rows`.
    """

    prefix: Bytes
    text: Bytes
    start: Integers
    stop: Integers
    begin: Integers
    end: Integers
    offset: Integers
    rows: npt.NDArray[np.uint32]


def table_sizes(counts: Integers) -> Integers:
    """Return the size of the table of each query, from its number of rows, as the kernels compute it.

    >>> table_sizes(np.array([0, 1, 2, 300])).tolist()
    [1, 2, 4, 512]
    """
    sizes: Integers = 2 ** np.ceil(np.log2(counts + counts // 2 + 1)).astype(np.int64)
    return sizes


def table_of(names: Iterable[bytes]) -> Slots:
    """Return the table of ids: they are the documents of a single query."""
    ids = Ids.of(names)
    return slots_of(ids, np.zeros(1, dtype=np.int64), np.array([len(ids)], dtype=np.int64), None)[0]


def slots_of(
    ids: Ids, begin: Integers, end: Integers, hashes: Hashes | None
) -> tuple[Slots, tuple[int, int] | None]:
    """Return the tables of judged documents, and two rows of a query with the same document if there are."""
    if kernels.compiled is None:
        raise RuntimeError("slots are for the compiled kernels")
    if hashes is None:
        hashes = np.empty(len(ids), dtype=np.uint64)
        kernels.compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
    sizes = table_sizes(end - begin)
    offset = np.cumsum(sizes) - sizes
    rows = np.zeros(int(sizes.sum()), dtype=np.uint32)
    first = np.zeros(1, dtype=np.int64)
    second = kernels.compiled.fill_slots(
        ids.text, ids.start, ids.stop, hashes, begin, end, offset, rows, first
    )
    prefix = np.empty(0, dtype=np.uint8)
    slots = Slots(prefix, ids.text, ids.start, ids.stop, begin, end, offset, rows)
    return slots, (int(first[0]), second) if second >= 0 else None


class DocumentNumbers:
    """Number the documents of several runs in the order in which they come, in any thread.

    >>> numbers = DocumentNumbers()
    >>> [numbers.of(Ids.of(ids), np.array([0, 2])).tolist() for ids in ([b"d1", b"d2"], [b"d3", b"d1"])]
    [[0, 1], [2, 0]]
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes | int, int] = {}
        self._known = _Known.of_size(0, 0)
        self._lock = threading.Lock()

    def of(self, ids: Ids, bounds: Integers, hashes: Hashes | None = None) -> Codes:
        """Return the number of every row of some lists; a repeat in a list gets a number of its own."""
        compiled = kernels.compiled
        with self._lock:
            if compiled is None:
                return self._plain(ids, bounds)
            if hashes is None:
                hashes = np.empty(len(ids), dtype=np.uint64)
                compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
            numbers = np.empty(len(ids), dtype=np.int32)
            self._known = self._known.with_capacity(ids, compiled.number_ids)
            compiled.number_ids(ids.text, ids.start, ids.stop, hashes, bounds, *self._known, numbers)
            return numbers

    def ids(self) -> Ids:
        """Return the numbered documents in the order of their numbers."""
        if self._numbers:
            return Ids.of(name if isinstance(name, bytes) else b"" for name in self._numbers)
        many = int(self._known.tally[0])
        return Ids(self._known.text[:], self._known.start[:many], self._known.start[1 : many + 1])

    def _plain(self, ids: Ids, bounds: Integers) -> Codes:
        """Return the numbers of the documents of some lists."""
        numbers = np.fromiter(map(self._number, ids), dtype=np.int32, count=len(ids))
        owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((numbers, owner))  # stable: of equal documents the first place comes first
        again = (np.diff(numbers[order]) == 0) & (np.diff(owner[order]) == 0)
        for row in order[1:][again].tolist():
            numbers[row] = self._number(None)
        return numbers

    def _number(self, name: bytes | None) -> int:
        """Return the number of a document; of None, a new one."""
        return self._numbers.setdefault(len(self._numbers) if name is None else name, len(self._numbers))


class _Known(NamedTuple):
    """The documents that have a number, as the kernel `number_ids` keeps them."""

    text: Bytes
    start: Integers
    hashes: Hashes
    slots: Codes
    lister: Codes
    tally: Integers

    @classmethod
    def of_size(cls, documents: int, size: int) -> _Known:
        """Return an empty table with capacity for some documents, whose ids have `size` bytes together."""
        return cls(
            np.empty(size, dtype=np.uint8),
            np.zeros(documents + 1, dtype=np.int64),
            np.empty(documents, dtype=np.uint64),
            np.zeros(1 << (2 * documents).bit_length(), dtype=np.int32),
            np.empty(documents, dtype=np.int32),
            np.zeros(2, dtype=np.int64),
        )

    def with_capacity(self, ids: Ids, number_ids: Callable[..., Any]) -> _Known:
        """Return the same documents with capacity for more; the capacity at least doubles if it grows."""
        many = int(self.tally[0])
        documents, size = many + len(ids), int(self.start[many] + (ids.stop - ids.start).sum())
        if documents <= len(self.hashes) and size <= len(self.text):
            return self
        larger = self.of_size(2 * documents, 2 * size)
        if many:  # in their order, as one list, all get the numbers that they have
            spare = np.empty(many, dtype=np.int32)
            bounds = np.array([0, many], dtype=np.int64)
            number_ids(self.text, self.start[:-1], self.start[1:], self.hashes, bounds, *larger, spare)
        return larger
