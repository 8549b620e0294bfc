"""Read TREC runs list by list for a consumer."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Integers, bytes_of
from leadline.data.ids import Slots, table_of, to_bytes, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, Reading
from leadline.data.run import JoinedLists, TieGroups
from leadline.errors import InputError
from leadline.io import selection
from leadline.io.ahead import POWERS, SHORTEST_LINE, BackgroundTask, computed_ahead
from leadline.io.lines_by_query import LARGE, NOT_THE_TOP, Parts
from leadline.io.opening import Buffers, Chunk, read_whole, text_size
from leadline.io.run_lists import JoinConsumer, JoinedText, ListConsumer, Lists, ReadCounts, deliver
from leadline.io.trec_lists import as_fields, scan_lists
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.tables import OutputTable


# What the kernel fills, in the order of its arguments: columns of one list at a time and of lists; results.
SCRATCH = (
    *("start", "stop", "hashes", "values", "ranks"),
    *("list_row", "query_start", "query_stop", "list_line", "list_byte"),
)
FOUND = (
    *("code", "length", "found", "first_start", "first_stop"),
    *("rank", "row", "above", "below", "tie_query", "tie_first", "tie_last"),
)
SPARE = 4  # elements of the spare column for each row, which hold two numbers each


class Scanned(NamedTuple):
    """A chunk of text and, once found, its lists; `line` is the number of its first line.

    The lists end at the byte `stop`; from there the text is part of the next chunk. `joined` is in place of
    lists that the kernel has joined.
    """

    lists: Lists | None
    path: str
    text: Bytes
    end: int
    line: int
    last: bool
    whole: bool
    stop: int = 0
    joined: JoinedText | None = None
    remarks: int = 0  # before the text


class _Work:
    """A chunk that is being joined, in a workspace that is not used again before."""

    def __init__(
        self, qrels: QrelsColumns, queries: Slots, reading: Reading, window: Chunk, end: int, *, top: bool
    ) -> None:
        self.qrels, self.queries, self.text, self.end = qrels, queries, window.text, end
        self.begin = self.remarks = self.skipped = 0
        if top and end and self.text[0] <= ord("#"):
            text = self.text[:end].tobytes()
            self.begin, self.remarks = plain.after_remarks(text)
            self.skipped = text.count(b"\n", 0, self.begin)
        size = end // SHORTEST_LINE + 2
        self.columns = window.workspace.columns(SCRATCH + FOUND, size)
        self.spare = window.workspace.columns(("spare",), SPARE * size)["spare"]
        self.tally = np.zeros(11, dtype=np.int64)
        self.narrow = reading.single_precision

    def run(self) -> bool:
        """Call the kernel; return whether the text is clean and no list has a document twice."""
        assert kernels.compiled is not None
        columns = self.columns
        clean: bool = kernels.compiled.judge(
            *(self.text, self.begin, self.end, 0, self.narrow, POWERS),
            *(columns[name] for name in SCRATCH),
            *self.queries,
            *self.qrels.slots,
            self.spare,
            *(columns[name] for name in FOUND),
            self.tally,
        )
        return clean

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


def can_join(reading: Reading) -> bool:
    """Return whether the kernel can join runs that are read like this."""
    return kernels.compiled is not None and not reading.by_row and not reading.selects


def _joined(window: Chunk, qrels: QrelsColumns, reading: Reading) -> Generator[Scanned, None, None]:
    """Join a run chunk by chunk; with several workspaces, as many chunks at the same time."""
    assert kernels.compiled is not None
    queries = table_of(qrels.queries.names)
    working: deque[tuple[_Work, BackgroundTask[bool] | None]] = deque()
    together, line, end, top, filled = len(window.workspaces), 1, 0, True, window.begun

    def finished() -> Scanned:
        nonlocal line
        work, task = working.popleft()
        stop, first = work.end, line
        clean = work.run() if task is None else task.result()
        lines = int(work.tally[3]) + work.skipped
        line += lines if clean else int(np.count_nonzero(work.text[:stop] == ord("\n")))
        text, size = work.text[work.begin :], stop - work.begin
        here = Scanned(None, window.path, text, size, first + work.skipped, last=True, whole=False, stop=size)
        return here._replace(joined=work.lists()) if clean else here._replace(remarks=work.remarks)

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
            top = top and work.begin == end  # nothing but remarks so far
        while working:
            yield finished()
    finally:
        for _, task in working:
            if task is not None:
                task.wait()


class _QueryReturnsError(Exception):
    """A query reappears after another one: its lists must be merged first."""


def stream(
    path: str,
    consumer: ListConsumer,
    *,
    reading: Reading = DEFAULT_READING,
    workspaces: Sequence[Buffers] = (),
    whole: Chunk | None = None,
) -> ReadCounts:
    """Pass the lists of a run file to a consumer while it is read, chunk by chunk.

    They are joined if the consumer takes joined lists, which is faster. `workspaces` is memory that is reused
    from run to run; `whole` is the text if it has been read already.
    Tags are counted if runs are named by them.
    """
    counts = _delivered(path, whole or Chunk(path, *(workspaces or [Buffers()])), consumer, reading)
    if not counts.rows:
        if reading.selects:
            selection.refuse_nothing(reading, path)
        if counts.dropped:
            selection.refuse_empty(path, counts.dropped)
        raise InputError("contains no run lines", path=path, hint=plain.RUN_COLUMNS)
    return counts


def _delivered(path: str, text: Chunk, consumer: ListConsumer, reading: Reading) -> ReadCounts:
    """Deliver the lists chunk by chunk; where a query reappears, again, merged."""
    if not text.last:
        with text as window:
            found = _scanned(window, reading)
            # The beginning of a text that no reader accepts is all there is of it; the scan refuses it.
            if isinstance(consumer, JoinConsumer) and can_join(reading) and not window.stream.closed:
                found = _joined(window, consumer.qrels, reading) if consumer.takes_joined else found
            try:
                with closing(found) as chunks:
                    return _deliver(chunks, consumer, reading)
            except _QueryReturnsError:
                consumer.restart()
        counts = _grouped_on_disk(path, consumer, reading)
        if counts is not None:
            return counts
        text = read_whole(path)
    scanned, _ = _find(text, 1, reading, whole=True)
    return _deliver([scanned], consumer, reading)


def _grouped_on_disk(path: str, consumer: ListConsumer, reading: Reading) -> ReadCounts | None:
    """Deliver the lists of a run whose lines are grouped on disk; None if it is not large or not clean."""
    size = text_size(path)
    if size <= LARGE or kernels.compiled is None or reading.by_row:
        return None
    with Parts(path, size) as parts:
        if not parts.fill(run=True):
            return None
        try:
            found = (_find(part, NOT_THE_TOP, reading, whole=True)[0] for part in parts)
            counts = _deliver(found, consumer, reading)
        except InputError:  # the whole text has the lines of faults
            consumer.restart()
            return None
    counts.tag, counts.remarks = to_text(parts.tag), parts.remarks
    return counts


def _deliver(chunks: Iterable[Scanned], consumer: ListConsumer, reading: Reading) -> ReadCounts:
    """Pass lists to a consumer until a query reappears; return the counts."""
    counts = ReadCounts()
    tags: set[bytes] = set()
    seen: set[bytes] = set()
    for scanned in chunks:
        rows = counts.rows
        if scanned.joined is not None and isinstance(consumer, JoinConsumer):
            consumer.take_joined(scanned.joined)
            counts.add_joined(scanned.joined)
            queries, tag = scanned.joined.queries, scanned.joined.tag
        else:
            lists = scanned.lists
            if lists is None or not deliver(lists, consumer, counts):
                lists = _plain_lists(scanned, reading)
                deliver(lists, consumer, counts)
                counts.remarks += scanned.remarks
            queries, tag = lists.queries, lists.tag
        expected = len(seen) + len(queries)
        seen.update(queries)
        if len(seen) < expected:
            raise _QueryReturnsError
        if reading.by_tag:
            tags |= _tags(scanned, tag, counts.rows - rows)
    counts.other_tags = len(tags - {to_bytes(counts.tag)})
    return counts


def _tags(scanned: Scanned, tag: bytes, rows: int) -> set[bytes]:
    """Return the tags of the lists of a chunk; `tag` is one of them."""
    text = scanned.text[: scanned.stop].tobytes()
    if text.count(b" %b\n" % tag) + text.count(b"\t%b\n" % tag) == rows:
        return {tag}  # most files; without a look at every line
    lines = (plain.fields_of(line) for _, line in plain.data_lines(text, scanned.line))
    return {fields[5] for fields in lines if len(fields) > 5}


def _scanned(window: Chunk, reading: Reading) -> Generator[Scanned, None, None]:
    """Find the lists chunk by chunk; with two workspaces the next chunk is read while one is in use."""

    def scan(place: tuple[int, int]) -> tuple[Scanned, tuple[int, int] | None]:
        byte, line = place
        if byte >= 0:
            window.advance(byte)
        scanned, lists = _find(window, line, reading, whole=False)
        return scanned, None if scanned.last else (lists.next_byte, lists.next_line)

    return computed_ahead(scan, (-1 if window.begun else 0, 1), background=len(window.workspaces) > 1)


def _find(window: Chunk, line: int, reading: Reading, *, whole: bool) -> tuple[Scanned, Lists]:
    """Find the lists of a chunk with the compiled kernel if its text is clean, else in Python."""
    here = Scanned(None, window.path, window.text, window.end, line, window.last, whole)
    lists = None if reading.by_row else scan_lists(window, line, run=True)
    if lists is None:
        lists = _plain_lists(here, reading)
    else:
        selection.clean(lists, reading, whole=whole)
    return here._replace(lists=lists, stop=min(lists.next_byte, window.end)), lists


def _plain_lists(scanned: Scanned, reading: Reading) -> Lists:
    """Find the lists of a chunk by `bytes.split`; report or repair faults."""
    text = scanned.text[: scanned.end].tobytes()
    scan = partial(plain.scan_run, by_rank=reading.by_rank, drop_nan=reading.on_nan == "drop")
    try:
        try:
            rows = scan(text, scanned.line, scanned.last)
        except InputError as error:  # unless a document is repeated before
            before = text.split(b"\n")[: (error.line or 0) - scanned.line]
            _resolved(scan(b"\n".join(before), scanned.line, True), reading, whole=True)
            raise
        return _resolved(rows, reading, whole=scanned.whole)
    except InputError as error:
        raise error if error.path else error.at(scanned.path) from None


def _resolved(rows: plain.ParsedRows, reading: Reading, *, whole: bool) -> Lists:
    lists = Lists.of_rows(rows)
    selection.clean(lists, reading, whole=whole)
    lists.resolve_duplicates(reading)
    return lists


def write(table: OutputTable) -> Iterator[bytes]:
    """Yield a run as text: ranks from 1, scores to full precision, the tag or name as the last column."""
    last, rank = None, 0
    tag = b"_".join(table.tag.encode("utf-8", "surrogateescape").split()) or b"run"
    for query, document, score in table.rows:
        rank = rank + 1 if query == last else 1
        last = query
        code, name = as_fields(query, document)
        yield b"%b Q0 %b %d %b %b\n" % (code, name, rank, repr(score).encode(), tag)
