"""Lines of a large file grouped by query, and lists of a run, in temporary files and in bounded memory."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import pairwise, repeat
from typing import Self

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, bytes_of
from leadline.data.ids import to_text
from leadline.errors import UsageError
from leadline.io.opening import Buffers, Chunk
from leadline.io.run_lists import RankedLists, are_unique
from leadline.io.trec_lists import ScannedText, scan_text

PART = 1 << 23  # bytes of text that are grouped in memory at a time
LARGE = 1 << 25  # bytes of text above which lines are grouped on disk
MOST_PARTS = 1 << 10
NOT_THE_TOP = 2  # number of a line, which no remark can be


class Parts:
    """Lines in parts of a temporary file; all lines of a query are in the same part, in their order.

    The file is in the folder of the system for temporary files. It has no name there, so that nothing is left
    behind however the program ends.
    """

    def __init__(self, path: str, size: int) -> None:
        from tempfile import TemporaryFile  # takes as long to import as a small run to read

        self.path = path
        self.file = TemporaryFile()  # noqa: SIM115  # closed by __exit__
        self.segments: list[list[tuple[int, int]]] = [[] for _ in range(min(size // PART + 1, MOST_PARTS))]
        self.size = 0
        self.tag = b""
        self.remarks = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def fill(self, *, run: bool) -> bool:
        """Read the text; return False if it is not clean."""
        byte, line = 0, 1
        with Chunk(self.path, Buffers()) as window:
            while not window.last:
                window.advance(byte)
                found = scan_text(window, line, run=run)
                if found is None:
                    return False
                self._add(window.text, found)
                self.remarks += found.remarks
                line, byte = found.tally[3], found.tally[4]
                self.tag = window.text[found.tally[5] : found.tally[6]].tobytes() or self.tag
        return True

    def _add(self, text: Bytes, found: ScannedText) -> None:
        """Write the lines of a chunk, those of a part together."""
        assert kernels.compiled is not None
        columns, lists = found.columns, found.tally[1]
        if not lists:
            return
        hashes = np.empty(lists, dtype=np.uint64)
        kernels.compiled.hash_ids(text, columns["query_start"][:lists], columns["query_stop"][:lists], hashes)
        part = (hashes % np.uint64(len(self.segments))).astype(np.int32)
        order = np.argsort(part, kind="stable")
        start = columns["list_byte"][:lists]
        stop = np.append(start[1:], found.tally[4])
        lines = np.empty(int((stop - start).sum()), dtype=np.uint8)
        ends = np.zeros(lists + 1, dtype=np.int64)
        kernels.compiled.pack(text, start[order], stop[order], lines[:0], lines, ends)
        edges = ends[np.searchsorted(part[order], np.arange(len(self.segments) + 1))].tolist()
        for segments, low, high in zip(self.segments, edges[:-1], edges[1:], strict=True):
            if high > low:
                segments.append((self.size + low, high - low))
        try:
            self.file.write(bytes_of(lines))
        except OSError as error:
            from tempfile import gettempdir

            raise UsageError(
                f"{self.path}: the lines of a query are not consecutive, and leadline could not group the "
                f"lines by query in {gettempdir()} ({error.strerror or error}). Group the lines by query "
                "yourself, or set TMPDIR to a folder with enough space"
            ) from None
        self.size += len(lines)

    def __iter__(self) -> Iterator[Chunk]:
        """Iterate over the parts; their memory is that of the next part too."""
        workspace = Buffers(0)
        for segments in self.segments:
            size = sum(length for _, length in segments)
            if not size:
                continue
            if size > len(workspace.text):
                workspace.text = np.empty(size, dtype=np.uint8)
            view, place = bytes_of(workspace.text), 0
            for begin, length in segments:
                self.file.seek(begin)
                self.file.readinto(view[place : place + length])
                place += length
            yield Chunk.of_text(self.path, workspace, size)


class StoredLists(Collection[tuple[str, str, float]]):
    """The rows of a run, the lists ordered by query, in a temporary file without a name."""

    def __init__(self) -> None:
        from tempfile import TemporaryFile

        self.file = TemporaryFile()  # noqa: SIM115  # closed by __exit__
        self.lists: dict[bytes, int] = {}  # where each begins in the file
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # the disk was full before
            self.file.close()

    def restart(self) -> None:
        """Discard all lists."""
        self.file.seek(0)
        self.lists.clear()
        self.rows = 0

    def take(self, lists: RankedLists) -> bool:
        """Store some lists, unless one contains a document twice."""
        if not are_unique(lists.unordered):
            return False
        names = lists.ids().texts()
        try:
            for query, (low, high) in zip(lists.queries, pairwise(lists.bounds.tolist()), strict=True):
                self.lists[query] = self.file.tell()
                pickle.dump((names[low:high], lists.scores[low:high].tolist()), self.file)
            self.file.flush()
        except OSError as error:
            from tempfile import gettempdir

            raise UsageError(
                f"leadline could not order the queries in {gettempdir()} ({error.strerror or error}). Set "
                "TMPDIR to a folder with enough space"
            ) from None
        self.rows += len(names)
        return True

    def __len__(self) -> int:
        return self.rows

    def __contains__(self, row: object) -> bool:
        return row in list(self)

    def __iter__(self) -> Iterator[tuple[str, str, float]]:
        for query in sorted(self.lists):
            self.file.seek(self.lists[query])
            documents, scores = pickle.load(self.file)  # noqa: S301  # written by `take`
            yield from zip(repeat(to_text(query)), documents, scores, strict=False)
