"""Read TREC runs: list by list for a consumer, or whole as a `Run`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Floats
from leadline.data.ids import Ids, Vocabulary, to_bytes, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, Reading
from leadline.data.run import RunColumns
from leadline.errors import InputError
from leadline.io import selection
from leadline.io.joined_text import can_join, joined_chunks
from leadline.io.lines_by_query import LARGE, NOT_THE_TOP, Parts
from leadline.io.opening import Buffers, Chunk, computed_ahead, read_whole, text_size
from leadline.io.run_lists import (
    JoinConsumer,
    JoinedText,
    ListConsumer,
    Lists,
    RankedLists,
    ReadCounts,
    are_unique,
    deliver,
)
from leadline.io.run_names import run_name
from leadline.io.trec_lists import as_fields, scan_lists
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.tables import OutputTable


class _QueryReturnsError(Exception):
    """A query reappears after another one: its lists must be merged first."""


class Scanned(NamedTuple):
    """A chunk of text and, once found, its lists; `line` is the number of its first line.

    The lists end at the byte `stop`; from there the text is part of the next chunk.
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


def stream(
    path: str,
    consumer: ListConsumer,
    *,
    reading: Reading = DEFAULT_READING,
    workspaces: Sequence[Buffers] = (),
    whole: Chunk | None = None,
    joins: JoinConsumer | None = None,
) -> ReadCounts:
    """Pass the lists of a run file to a consumer while it is read, chunk by chunk.

    `joins` is the consumer if it takes joined lists too, which is faster. `workspaces` is memory that is
    reused from run to run; `whole` is the text if it has been read already.
    Tags are counted if runs are named by them.
    """
    counts = _delivered(path, whole or Chunk(path, *(workspaces or [Buffers()])), consumer, reading, joins)
    if not counts.queries:
        if reading.selects:
            selection.refuse_nothing(reading, path)
        raise InputError("contains no lines of a run", expected=plain.RUN_COLUMNS, path=path)
    return counts


def _delivered(
    path: str, text: Chunk, consumer: ListConsumer, reading: Reading, joins: JoinConsumer | None
) -> ReadCounts:
    """Deliver the lists chunk by chunk; where a query reappears, again, merged."""
    if not text.last:
        with text as window:
            try:
                # The beginning of a text that no reader accepts is all there is of it; the scan refuses it.
                if joins is not None and can_join(reading) and not window.stream.closed:
                    with closing(_joined(window, joins.qrels, reading)) as chunks:
                        return _deliver(chunks, consumer, reading, joins)
                with closing(_scanned(window, reading)) as chunks:
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
        with Chunk(path, Buffers()) as window:
            if not parts.fill(window, run=True):
                return None
        try:
            found = (_find(part, NOT_THE_TOP, reading, whole=True)[0] for part in parts)
            counts = _deliver(found, consumer, reading)
        except InputError:  # the whole text has the lines of faults
            consumer.restart()
            return None
    counts.tag, counts.remarks = to_text(parts.tag), parts.remarks
    return counts


def _deliver(
    chunks: Iterable[Scanned], consumer: ListConsumer, reading: Reading, joins: JoinConsumer | None = None
) -> ReadCounts:
    """Pass lists to a consumer until a query reappears; return the counts."""
    counts = ReadCounts()
    tags: set[bytes] = set()
    seen: set[bytes] = set()
    for scanned in chunks:
        rows = counts.rows
        if scanned.joined is not None and joins is not None:
            joins.take_joined(scanned.joined)
            counts.add_joined(scanned.joined)
            queries, tag = scanned.joined.queries, scanned.joined.tag
        else:
            lists = scanned.lists
            if lists is None or not deliver(lists, consumer, counts):
                lists = _plain_lists(scanned, reading)
                deliver(lists, consumer, counts)
            queries, tag = lists.queries, lists.tag
        expected = len(seen) + len(queries)
        seen.update(queries)
        if len(seen) < expected:
            raise _QueryReturnsError
        if reading.by_tag:
            tags |= _tags(scanned, tag, counts.rows - rows)
    counts.other_tags = len(tags - {to_bytes(counts.tag)})
    return counts


class _Gathered:
    """The lists of a run, kept while it is read."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Discard all lists."""
        self.queries: list[bytes] = []
        self.sizes: list[int] = []
        self.ids: list[Ids] = []
        self.scores: list[Floats] = []

    def take(self, lists: RankedLists) -> bool:
        """Keep some lists, unless one contains a document twice."""
        if not are_unique(lists.unordered):
            return False
        self.add(lists)
        return True

    def add(self, lists: RankedLists) -> None:
        """Keep some lists."""
        self.queries += lists.queries
        self.sizes += np.diff(lists.bounds).tolist()
        self.ids.append(lists.ids())
        self.scores.append(lists.scores.copy())

    def run(self, name: str, tag: str) -> RunColumns:
        """Return the run, its lists ordered by query."""
        queries = Vocabulary.of_bytes(self.queries)
        order = np.argsort(queries.encode(self.queries))
        ids, scores = Ids.concatenate(self.ids), np.concatenate(self.scores)
        sizes = np.array(self.sizes, dtype=np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes[order])))
        if (order[1:] < order[:-1]).any():
            begin = np.cumsum(sizes) - sizes
            rows = np.arange(len(scores)) + np.repeat(begin[order] - offsets[:-1], sizes[order])
            ids, scores = ids.take(rows), scores[rows]
        return RunColumns.of_ids(queries, offsets, ids, scores, name=name, tag=tag)


class _Whole:
    """The lists of a run that was read as a whole."""

    def take(self, lists: RankedLists) -> bool:
        """Take all lists, unless one contains a document twice."""
        self.lists = lists.unordered
        return are_unique(self.lists)

    def restart(self) -> None:
        """Do nothing: never called for a whole file."""


def read(
    path: str, *, reading: Reading = DEFAULT_READING, name: str | None = None, whole: Chunk | None = None
) -> tuple[RunColumns, ReadCounts]:
    """Read a run file whole, unjudged documents included; `whole` is its text if it has been read already.

    Tags are counted if runs are named by them.
    """
    name = run_name(path) if name is None else name
    if reading.on_duplicate == "hold":  # what is held is numbered over the whole run
        every = _Whole()
        counts = stream(path, every, reading=reading, whole=whole or read_whole(path))
        return run_of(every.lists, name=name, tag=counts.tag), counts
    consumer = _Gathered()
    counts = stream(path, consumer, reading=reading, whole=whole)
    return consumer.run(name, counts.tag), counts


def _tags(scanned: Scanned, tag: bytes, rows: int) -> set[bytes]:
    """Return the tags of the lists of a chunk; `tag` is one of them."""
    text = scanned.text[: scanned.stop].tobytes()
    if text.count(b" %b\n" % tag) + text.count(b"\t%b\n" % tag) == rows:
        return {tag}  # most files; without a look at every line
    lines = (plain.fields_of(line) for _, line in plain.data_lines(text, scanned.line))
    return {fields[5] for fields in lines if len(fields) > 5}


def run_of(lists: Lists, *, name: str, tag: str, first_repeat: int = 1) -> RunColumns:
    """Return the run of some lists; a repeat that is held keeps its rank under a unique name.

    `first_repeat` is the number of the first of these names.
    """
    if not lists.held and len(set(lists.queries)) == len(lists.queries):
        every = _Gathered()
        every.add(RankedLists(lists))
        return every.run(name, tag)
    names = list(lists.ids())
    place = Vocabulary.of_bytes(names).encode(names)
    held = np.zeros(len(names), dtype=np.bool_)
    held[lists.held] = True
    for count, row in enumerate(lists.held, start=first_repeat):
        names[row] += b" (repeat %d)" % count  # no id of a TREC file has a blank
    queries = Vocabulary.of_bytes(lists.queries)
    documents = Vocabulary.of_bytes(names)
    query = np.repeat(queries.encode(lists.queries), np.diff(lists.bounds))
    document = documents.encode(names).astype(np.int32)
    order = np.lexsort((held, -place, -lists.scores, query))
    offsets = np.searchsorted(query[order], np.arange(len(queries) + 1)).astype(np.int64)
    return RunColumns.of_columns(
        queries, offsets, documents, document[order], lists.scores[order], name=name, tag=tag
    )


def _scanned(window: Chunk, reading: Reading) -> Generator[Scanned, None, None]:
    """Find the lists chunk by chunk; with two workspaces the next chunk is read while one is in use."""

    def scan(place: tuple[int, int]) -> tuple[Scanned, tuple[int, int] | None]:
        byte, line = place
        if byte >= 0:
            window.advance(byte)
        scanned, lists = _find(window, line, reading, whole=False)
        return scanned, None if scanned.last else (lists.next_byte, lists.next_line)

    return computed_ahead(scan, (-1 if window.begun else 0, 1), background=len(window.workspaces) > 1)


def _joined(window: Chunk, qrels: QrelsColumns, reading: Reading) -> Generator[Scanned, None, None]:
    """Join the lists chunk by chunk."""
    with closing(joined_chunks(window, qrels, reading)) as chunks:
        for text, end, line, lists in chunks:
            yield Scanned(None, window.path, text, end, line, last=True, whole=False, stop=end, joined=lists)


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
    try:
        rows = plain.scan_run(
            scanned.text[: scanned.end].tobytes(),
            scanned.line,
            scanned.last,
            by_rank=reading.by_rank,
            drop_nan=reading.on_nan == "drop",
        )
        lists = Lists.of_rows(rows)
        selection.clean(lists, reading, whole=scanned.whole)
        lists.resolve_duplicates(reading)
    except InputError as error:
        raise error if error.path else error.at(scanned.path) from None
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
