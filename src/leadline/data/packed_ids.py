"""Judged documents in little memory: packed ids, and tables that find their rows in the kernels."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Bytes, Hashes, Integers, freeze
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
