"""Runs of TREC text that the compiled kernel joins with judgments while it scans them, chunk by chunk."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Integers, bytes_of
from leadline.data.judged_run import JoinedLists, TieGroups
from leadline.data.packed_ids import Slots, table_of
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading
from leadline.io.opening import BackgroundTask, Buffers, Chunk
from leadline.io.run_lists import JoinedText
from leadline.io.trec_lists import POWERS, SHORTEST_LINE
from leadline.kernels import plain

# What the kernel fills, in the order of its arguments: columns of one list at a time and of lists; results.
SCRATCH = (
    *("start", "stop", "hashes", "values", "ranks"),
    *("list_row", "query_start", "query_stop", "list_line", "list_byte"),
)
FOUND = (
    *("code", "length", "found", "first_start", "first_stop"),
    *("rank", "row", "above", "below", "tie_query", "tie_first", "tie_last"),
)
NARROW = (*FOUND[5:], "ranks")  # of 32 bits
SPARE = 4  # elements of the spare column for each row, which hold two numbers each


class JoinedChunk(NamedTuple):
    """A chunk of whole lists: its text up to `end`, its first line, and its lists if the text is clean."""

    text: Bytes
    end: int
    line: int
    lists: JoinedText | None


class _Work:
    """A chunk that is being joined, in a workspace that is not used again before."""

    def __init__(
        self, qrels: QrelsColumns, queries: Slots, reading: Reading, window: Chunk, end: int, *, top: bool
    ) -> None:
        self.qrels, self.queries, self.text, self.end = qrels, queries, window.text, end
        self.begin = self.remarks = self.skipped = self.lines = 0
        if top and end and self.text[0] <= ord("#"):
            text = self.text[:end].tobytes()
            self.begin, self.remarks = plain.after_remarks(text)
            self.skipped = text.count(b"\n", 0, self.begin)
        self.columns = _columns(window.workspace, end // SHORTEST_LINE + 2)
        self.tally = np.zeros(11, dtype=np.int64)
        self.narrow = reading.single_precision

    def run(self) -> bool:
        """Call the kernel; return whether the text is clean and no list has a document twice."""
        assert kernels.compiled is not None
        assert kernels.compiled.judge is not None
        columns = self.columns
        clean: bool = kernels.compiled.judge(
            *(self.text, self.begin, self.end, 0, self.narrow, POWERS),
            *(columns[name] for name in SCRATCH),
            *self.queries,
            *self.qrels.slots,
            columns["spare"],
            *(columns[name] for name in FOUND),
            self.tally,
        )
        return clean

    def chunk(self, line: int, *, clean: bool) -> JoinedChunk:
        """Return the chunk that begins at a line."""
        self.lines = int(self.tally[3]) + self.skipped
        if not clean:
            self.lines = int(np.count_nonzero(self.text[: self.end] == ord("\n")))
        return JoinedChunk(self.text, self.end, line, self.lists() if clean else None)

    def lists(self) -> JoinedText:
        """Return the lists, in part as views of the workspace."""
        rows, lists, extra, _, _, begin, end, joined, ties, tied, disordered = self.tally.tolist()
        columns, view = self.columns, bytes_of(self.text)
        tag = view[begin:end].tobytes()
        codes, lengths, counts = (columns[name][:lists] for name in FOUND[:3])
        names, judged = self.qrels.queries.names, codes >= 0
        starts, stops = columns["query_start"], columns["query_stop"]
        queries = [
            names[code] if code >= 0 else view[starts[place] : stops[place]].tobytes()
            for place, code in enumerate(codes.tolist())
        ]
        unjudged = []
        if not judged.all():
            unjudged = [queries[place] for place in np.flatnonzero(~judged).tolist()]
            codes, lengths, counts = codes[judged], lengths[judged], counts[judged]
        found = JoinedLists(
            query=codes.astype(np.int32),
            length=lengths.astype(np.int32),
            judged=counts.astype(np.int32),
            rank=columns["rank"][:joined],
            row=columns["row"][:joined],
            around=(columns["above"][:joined], columns["below"][:joined]) if tied else None,
            ties=TieGroups(*(columns[name][:ties].copy() for name in FOUND[-3:])),
            cut_in_ties=np.zeros(len(codes), dtype=np.bool_),
        )
        first = partial(_between, view, columns["first_start"], columns["first_stop"])
        return JoinedText(queries, unjudged, found, rows, extra, disordered, self.remarks, tag, first)


def _between(text: memoryview, start: Integers, stop: Integers, place: int) -> bytes:
    return text[start[place] : stop[place]].tobytes()


def _columns(workspace: Buffers, size: int) -> dict[str, Any]:
    """Return the columns for a text of at most so many lines."""
    columns: dict[str, Any] = dict(workspace.columns(SCRATCH + FOUND, size))
    for name in NARROW:
        columns[name] = columns[name].view(np.int32)
    columns["hashes"] = columns["hashes"].view(np.uint64)
    columns["values"] = columns["values"].view(np.float64)
    columns["spare"] = workspace.columns(("spare",), SPARE * size)["spare"].view(np.int32)
    return columns


def can_join(reading: Reading) -> bool:
    """Return whether the kernel can join runs that are read like this."""
    return (
        kernels.compiled is not None
        and kernels.compiled.judge is not None
        and not reading.by_row
        and not reading.selects
    )


def joined_chunks(window: Chunk, qrels: QrelsColumns, reading: Reading) -> Generator[JoinedChunk, None, None]:
    """Join a run chunk by chunk; with several workspaces, as many chunks at the same time."""
    assert kernels.compiled is not None
    assert kernels.compiled.last_list is not None
    queries = table_of(qrels.queries.names)
    working: deque[tuple[_Work, BackgroundTask[bool] | None]] = deque()
    together, line, end, top, filled = len(window.workspaces), 1, 0, True, window.begun

    def finished() -> JoinedChunk:
        nonlocal line
        work, task = working.popleft()
        chunk = work.chunk(line, clean=work.run() if task is None else task.result())
        line += work.lines
        return chunk

    try:
        while not window.last:
            if len(working) == together:
                yield finished()
            if not filled:
                window.advance(end)
            filled = False
            end = window.end if window.last else kernels.compiled.last_list(window.text, window.end)
            if not end and not window.last:  # a list that goes on: read more, into the next workspace
                while working:
                    yield finished()
                continue
            work = _Work(qrels, queries, reading, window, end, top=top)
            working.append((work, BackgroundTask(work.run) if together > 1 else None))
            top = False
        while working:
            yield finished()
    finally:
        for _, task in working:
            if task is not None:
                task.wait()
