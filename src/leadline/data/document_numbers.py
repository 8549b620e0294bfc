"""Numbers for the documents of several runs, by hashes that are confirmed by the bytes of the ids."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Codes, Hashes, Integers
from leadline.data.ids import Ids


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
            if compiled is None or compiled.number_ids is None:
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
