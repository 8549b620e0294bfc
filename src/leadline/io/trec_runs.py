"""Read TREC runs: straight into `Judged`, or whole as a `Run`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import isfile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.arrays import Bytes, Codes, Floats, Integers
from leadline.data.ids import Vocabulary, to_text
from leadline.data.judged_run import JudgedRun, Lists
from leadline.data.qrels import Qrels
from leadline.data.reading import DEFAULT_READING, UNCUT, Cut, Reading
from leadline.data.run import Run
from leadline.errors import InputError
from leadline.io.opening import BackgroundTask, Buffers, Chunk, read_whole, run_name
from leadline.io.trec_lists import CompiledLists, PlainLists, TrecLists, as_fields
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.tables import OutputTable


@dataclass
class ReadCounts:
    """What reading one run met; every number is shown to the user when it is not 0."""

    rows: int = 0
    queries: int = 0
    extra_columns: int = 0
    repeated: int = 0
    dropped: int = 0
    disordered: int = 0
    tag: str = ""
    other_tags: int = 0
    unjudged_queries: int = 0
    unjudged_query: str = ""

    def add(self, found: Matched) -> None:
        """Count what some lists hold."""
        lists = found.lists
        self.rows += len(found.rows)
        self.queries += len(lists.queries)
        self.extra_columns += lists.extra
        self.repeated += lists.repeated
        self.dropped += lists.dropped
        self.tag = to_text(lists.tag) or self.tag
        unjudged = np.flatnonzero(found.codes < 0)
        self.unjudged_queries += len(unjudged)
        if len(unjudged) and not self.unjudged_query:
            self.unjudged_query = to_text(lists.queries[int(unjudged[0])])


class _QueryReturnsError(Exception):
    """A query comes back after another one: the lists must be brought together first."""


class Scanned(NamedTuple):
    """A stretch of text and, once found, its lists; `line` is the number of its first line."""

    lists: TrecLists | None
    path: str
    text: Bytes
    end: int
    line: int
    last: bool
    whole: bool


class Matched(NamedTuple):
    """Some lists of a run, the code of each one's query, and each row's row in the qrels."""

    lists: TrecLists
    codes: Integers
    rows: Codes


def judge(
    path: str,
    qrels: Qrels,
    *,
    reading: Reading = DEFAULT_READING,
    cut: Cut = UNCUT,
    workspaces: Sequence[Buffers] = (),
    whole: Chunk | None = None,
    keep: bool = False,
) -> tuple[JudgedRun, ReadCounts]:
    """Join a run file with the qrels while it is read, one stretch of lists at a time.

    `workspaces` are memory to use, the same for one run after the other; `whole` is the text where it is
    read already; `keep` keeps all rows. The tags are counted where they name runs.
    """
    narrow = reading.single_precision
    try:
        if whole is not None or not isfile(path):  # a pipe cannot be read a second time
            raise _QueryReturnsError
        tally = ReadCounts()
        lists = ordered(_streamed(path, qrels, reading, workspaces or [Buffers()]), tally, narrow, keep)
        judged = JudgedRun.of_lists(qrels, lists, cut=cut, keep=keep)
    except _QueryReturnsError:
        tally = ReadCounts()
        whole = whole or read_whole(path)
        lists = ordered([_matched_whole(whole, qrels, reading)], tally, narrow, keep)
        judged = JudgedRun.of_lists(qrels, lists, cut=cut, keep=keep)
    if not tally.queries:
        raise InputError("holds no lines of a run", expected=plain.RUN_COLUMNS, path=path)
    if reading.by_tag:
        tally.other_tags = _other_tags(whole or read_whole(path), tally)
    return judged, tally


def read(
    path: str, *, reading: Reading = DEFAULT_READING, name: str | None = None, whole: Chunk | None = None
) -> tuple[Run, ReadCounts]:
    """Read a run file whole, unjudged documents included; `whole` is its text where it is read already.

    The tags are counted where they name runs.
    """
    tally = ReadCounts()
    whole = whole or read_whole(path)
    found = _matched_whole(whole, Qrels.of([]), reading)
    tally.add(found)
    if reading.by_tag:
        tally.other_tags = _other_tags(whole, tally)
    if not tally.queries:
        raise InputError("holds no lines of a run", expected=plain.RUN_COLUMNS, path=path)
    scores, ranks = found.lists.scores, found.lists.ranks
    order = found.lists.order()
    if order is not None:
        scores, ranks = scores[order], ranks[order]
    tally.disordered = disordered(found.lists.bounds, scores, ranks)
    return run_of(found.lists, name=run_name(path) if name is None else name, tag=tally.tag), tally


def _other_tags(window: Chunk, tally: ReadCounts) -> int:
    """Count the tags besides the one that was kept."""
    text = window.text[: window.end].tobytes()
    tag = tally.tag.encode("utf-8", "surrogateescape")
    if text.count(b" %b\n" % tag) + text.count(b"\t%b\n" % tag) == tally.rows:
        return 0  # most files; without a look at every line
    lines = (line.split() for line in text.split(b"\n") if not line.startswith(b"#"))
    return len({fields[5] for fields in lines if len(fields) > 5} - {tag})


def run_of(lists: TrecLists, *, name: str, tag: str) -> Run:
    """Make a run of lists; a repeat that was held keeps its rank under a name of its own."""
    names = list(lists.ids())
    place = Vocabulary.of_bytes(names).encode(names)
    held = np.zeros(len(names), dtype=np.bool_)
    held[lists.held] = True
    for count, row in enumerate(lists.held, start=1):
        names[row] += b" (repeat %d)" % count  # no id of a TREC file has a blank
    queries = Vocabulary.of_bytes(lists.queries)
    documents = Vocabulary.of_bytes(names)
    query = np.repeat(queries.encode(lists.queries), np.diff(lists.bounds))
    document = documents.encode(names).astype(np.int32)
    order = np.lexsort((held, -place, -lists.scores, query))
    offsets = np.searchsorted(query[order], np.arange(len(queries) + 1)).astype(np.int64)
    return Run.of_columns(
        queries, offsets, documents, document[order], lists.scores[order], name=name, tag=tag
    )


def _streamed(path: str, qrels: Qrels, reading: Reading, workspaces: Sequence[Buffers]) -> Iterator[Matched]:
    """Give the lists of a file, stretch by stretch, until a query comes back."""
    seen: set[bytes] = set()
    for scanned in _scanned(path, reading, workspaces):
        found = _matched(scanned, qrels, reading)
        queries = found.lists.queries
        expected = len(seen) + len(queries)
        seen.update(queries)
        if len(seen) < expected:
            raise _QueryReturnsError
        yield found


def _scanned(path: str, reading: Reading, workspaces: Sequence[Buffers]) -> Iterator[Scanned]:
    """Find the lists stretch by stretch; with two workspaces the next is read while one is used."""
    with Chunk(path, *workspaces) as window:
        scanned, byte, line = _scan(window, 0, 1, reading)
        while not scanned.last:
            if len(workspaces) == 1:
                yield scanned
                scanned, byte, line = _scan(window, byte, line, reading)
                continue
            following = BackgroundTask(_scan, window, byte, line, reading)
            try:
                yield scanned
            except GeneratorExit:
                following.wait()  # the window is closed on the way out
                raise
            scanned, byte, line = following.result()
        yield scanned


def _scan(window: Chunk, byte: int, line: int, reading: Reading) -> tuple[Scanned, int, int]:
    """Read on and find the lists; say at which byte and line to go on."""
    window.advance(byte)
    scanned, lists = _find(window, line, reading, whole=False)
    return scanned, lists.next_byte, lists.next_line


def _find(window: Chunk, line: int, reading: Reading, *, whole: bool) -> tuple[Scanned, TrecLists]:
    """Find the lists of a stretch, compiled when its text is clean, else plain."""
    here = Scanned(None, window.path, window.text, window.end, line, window.last, whole)
    lists: TrecLists | None = None
    if reading.order == "score":
        lists = CompiledLists.scan(window, line, run=True)
    if lists is None:
        lists = _plain_lists(here, reading)
    elif whole:
        lists.group()
    return here._replace(lists=lists), lists


def _matched_whole(window: Chunk, qrels: Qrels, reading: Reading) -> Matched:
    """Give all lists of a text at once, each query's rows brought together."""
    return _matched(_find(window, 1, reading, whole=True)[0], qrels, reading)


def _matched(scanned: Scanned, qrels: Qrels, reading: Reading) -> Matched:
    """Look the documents of some lists up; a list that names one twice is read again, plainly."""
    if scanned.lists is not None:
        codes = qrels.queries.encode(scanned.lists.queries)
        rows = scanned.lists.match(qrels, codes)
        if rows is not None:
            return Matched(scanned.lists, codes, rows)
    plainly = _plain_lists(scanned, reading)
    codes = qrels.queries.encode(plainly.queries)
    return Matched(plainly, codes, plainly.match(qrels, codes))


def _plain_lists(scanned: Scanned, reading: Reading) -> PlainLists:
    """Find the lists of a stretch by `bytes.split`, and say what is wrong or repair it."""
    try:
        rows = plain.scan_run(
            scanned.text[: scanned.end].tobytes(),
            scanned.line,
            scanned.last,
            by_rank=reading.by_rank,
            drop_nan=reading.on_nan == "drop",
        )
        lists = PlainLists(rows)
        if scanned.whole:
            lists.group()
        if reading.single_precision:
            lists.narrow()
        lists.settle(reading)
    except InputError as error:
        raise error.at(scanned.path) from None
    return lists


def ordered(
    found: Iterable[Matched], tally: ReadCounts, narrow: bool, named: bool = False
) -> Iterator[Lists]:
    """Put the rows of every list in order, with their ids if `named`, and count what was met."""
    for part in found:
        tally.add(part)
        lists, rows = part.lists, part.rows
        if narrow:
            lists.narrow()
        scores, ranks = lists.scores, lists.ranks
        order = lists.order()
        if order is not None:
            rows, scores, ranks = rows[order], scores[order], ranks[order]
        ids = lists.ids() if named else None
        if ids is not None and order is not None:
            ids = ids.take(order)
        tally.disordered += disordered(lists.bounds, scores, ranks)
        yield Lists(part.codes, lists.bounds, rows, scores, ids)


def disordered(bounds: Integers, scores: Floats, ranks: Integers) -> int:
    """Count the lists in which a higher score has a larger rank than a lower one."""
    falls = ranks[1:] < ranks[:-1]
    inner = bounds[1:-1]
    falls[inner[(inner > 0) & (inner < len(scores))] - 1] = False
    count = 0
    owners = np.searchsorted(bounds, np.flatnonzero(falls), side="right") - 1
    for place in np.flatnonzero(np.bincount(owners)).tolist():
        low, high = int(bounds[place]), int(bounds[place + 1])
        rank, score = ranks[low:high], scores[low:high]
        if rank.min() < 0:  # the column holds something else than ranks
            continue
        group = np.flatnonzero(np.concatenate(([True], score[1:] != score[:-1])))
        lowest, highest = np.minimum.reduceat(rank, group), np.maximum.reduceat(rank, group)
        count += bool(np.any(lowest[1:] < np.maximum.accumulate(highest)[:-1]))
    return count


def write(table: OutputTable) -> bytes:
    """Write a run: ranks from 1, scores to full precision, the tag or name as the last column."""
    lines: list[bytes] = []
    last, rank = None, 0
    tag = b"_".join(table.tag.encode("utf-8", "surrogateescape").split()) or b"run"
    for query, document, score in table.rows:
        rank = rank + 1 if query == last else 1
        last = query
        code, name = as_fields(query, document)
        lines.append(b"%b Q0 %b %d %b %b\n" % (code, name, rank, repr(score).encode(), tag))
    return b"".join(lines)
