"""Lists of a run or of judgments while they are read: the same form from every source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Codes, Floats, Hashes, Integers
from leadline.data.ids import DocumentNumbers, Ids, Vocabulary, to_bytes, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading
from leadline.data.run import JoinedLists, RunColumns
from leadline.errors import repeated
from leadline.kernels.plain import ParsedRows

REPAIR = "To keep only one, add `--config read.on_duplicate=first` (or last or max)"


class Unmeasured(NamedTuple):
    """The first document of unknown length in a list: its rank, and the length of all above it."""

    document: bytes
    rank: int
    above: float


class Lists:
    """Lists by query: `bounds` has their first rows, the other columns an entry per row.

    Documents are positions in a text. Unless `owned`, the columns are in a workspace that the next chunk
    overwrites. `lines` has the place of every row, counted in `unit`, where rows were read one by one.
    """

    extra = dropped = repeated = next_line = next_byte = 0
    unique = False  # whether no list can contain a document twice
    # Length of every row and all above it in its list; NaN from the first unknown one on.
    costs: Floats | None = None
    identical = 0  # number of documents left out because their id is that of the query
    remarks = 0  # number of remarks at the top of the text
    tag = b""
    unit = "line"

    def __init__(
        self,
        queries: list[bytes],
        bounds: Integers,
        ids: tuple[Bytes, Integers, Integers],
        scores: Floats,
        ranks: Integers | None = None,
        *,
        owned: bool = True,
    ) -> None:
        self.queries = queries
        self.bounds = bounds
        self.text, self.start, self.stop = ids
        self.scores = scores
        self.ranks: Integers = np.full(len(scores), -1, dtype=np.int64) if ranks is None else ranks
        self.owned = owned
        self.lines: list[int] = []
        self.held: list[int] = []  # rows of repeats that are held
        self.unmeasured: dict[bytes, Unmeasured] = {}  # by query

    @classmethod
    def of_rows(cls, rows: ParsedRows) -> Lists:
        """Return rows that were read one by one as lists."""
        bounds, ranks = (np.array(column, dtype=np.int64) for column in (rows.bounds, rows.ranks))
        made = cls(
            rows.queries, bounds, _positions(rows.documents), np.array(rows.values, dtype=float), ranks
        )
        made.lines, made.extra, made.tag, made.dropped = rows.lines, rows.extra, rows.tag, rows.dropped
        made.next_line, made.next_byte, made.remarks = rows.next_line, rows.next_byte, rows.remarks
        return made

    @cached_property
    def hashes(self) -> Hashes | None:
        """The hash of every document; None without compiled kernels."""
        if kernels.compiled is None:
            return None
        hashes = np.empty(len(self.start), dtype=np.uint64)
        kernels.compiled.hash_ids(self.text, self.start, self.stop, hashes)
        return hashes

    def ids(self) -> Ids:
        """Return the document of every row."""
        return self.located() if self.owned else Ids.copied(self.text, self.start, self.stop)

    def located(self) -> Ids:
        """Return the document of every row, unless `owned` as a view that is valid until the next chunk."""
        return Ids(self.text[:], self.start[:], self.stop[:])

    def replace_ids(self, names: Sequence[bytes]) -> None:
        """Replace the document of every row."""
        self.text, self.start, self.stop = _positions(names)
        vars(self).pop("hashes", None)
        self.unique = False

    def name_repeats(self, number: int) -> None:
        """Rename held repeats so that they are distinct and stay in place among tied documents."""
        ids = list(self.located())
        names = list(ids)
        for count, row in enumerate(self.held, start=number):
            place = int(np.searchsorted(self.bounds, row, side="right"))
            rows = range(*self.bounds[place - 1 : place + 1].tolist())
            tied = [ids[other] for other in rows if self.scores[other] == self.scores[row]]
            names[row] += b" (repeat %d)" % count  # no id of a TREC file has a blank
            if tied.count(ids[row]) > 1:  # with this name it would rank above the document
                below = max((name for name in tied if name < ids[row]), default=b"")
                names[row] = b"%b (repeat %d of %b)" % (below, count, ids[row])
        self.replace_ids(names)

    def group(self) -> None:
        """Merge the lists of each query, in the order of first appearance."""
        if len(set(self.queries)) == len(self.queries):
            return
        places: dict[bytes, int] = {}
        pieces = np.array([places.setdefault(query, len(places)) for query in self.queries])
        owner = np.repeat(pieces, np.diff(self.bounds))
        order = np.argsort(owner, kind="stable")
        self.queries = list(places)
        self.bounds = np.searchsorted(owner[order], np.arange(len(places) + 1)).astype(np.int64)
        self.keep_rows(order)

    def keep_rows(self, rows: Integers) -> None:
        """Keep some rows, in their order; the bounds are left to the caller."""
        self.start, self.stop = self.start[rows], self.stop[rows]
        self.scores = self.scores[rows]
        self.ranks = self.ranks[rows] if len(self.ranks) else self.ranks
        self.lines = [self.lines[row] for row in rows.tolist()] if self.lines else []
        self.costs = None if self.costs is None else self.costs[rows]
        if vars(self).get("hashes") is not None:
            vars(self)["hashes"] = vars(self)["hashes"][rows]

    def match(self, qrels: QrelsColumns, codes: Integers) -> Codes | None:
        """Return every row's row in the qrels, -1 for none; None if a list contains a document twice.

        Repeats that are held have none. `codes` holds the code of each list's query in the qrels, -1 for a
        query without judgments. The uncompiled form is for lists whose repeats are resolved.
        """
        if kernels.compiled is None or self.held:
            return self.looked_up(qrels, codes)
        rows = np.empty(len(self.start), dtype=np.int32)
        seen = np.zeros(8 * int(np.diff(self.bounds).max(initial=1)) + 8, dtype=np.int32)
        ids = self.text, self.start, self.stop, self.hashes
        unique = kernels.compiled.match(*ids, self.bounds, codes, *qrels.slots, seen, rows)
        return rows if unique else None

    def looked_up(self, qrels: QrelsColumns, codes: Integers) -> Codes:
        """Return every row's row in the qrels, -1 for none; repeats have it too unless they are held."""
        names, found = list(self.located()), []
        for code, (low, high) in zip(codes.tolist(), pairwise(self.bounds.tolist()), strict=True):
            judged = qrels.lookup[code] if code >= 0 else {}
            found += [judged.get(name, -1) for name in names[low:high]]
        rows = np.array(found, dtype=np.int32)
        rows[self.held] = -1
        return rows

    def narrow(self) -> None:
        """Round the scores to 32-bit floats."""
        with np.errstate(over="ignore"):
            self.scores = self.scores.astype(np.float32).astype(np.float64)

    def order(self) -> Integers | None:
        """Return the rows in the order of the lists, or None if they are in order."""
        if kernels.compiled is not None and not self.held:
            order = np.empty(len(self.start), dtype=np.int64)
            ids, spare = (self.text, self.start, self.stop), np.empty_like(order)
            return order if kernels.compiled.arrange(*ids, self.scores, self.bounds, order, spare) else None
        doubtful = self.unsorted()
        if not len(doubtful):
            return None
        names, scores = list(self.located()), self.scores.tolist()
        order = np.arange(len(names))
        for place in doubtful.tolist():
            rows = range(*self.bounds[place : place + 2].tolist())
            order[rows] = sorted(rows, key=lambda row: (scores[row], names[row]), reverse=True)
        return order

    def unsorted(self) -> Integers:
        """Return the lists whose scores do not fall strictly."""
        rising = np.flatnonzero(self.scores[1:] >= self.scores[:-1]) + 1
        lists = np.searchsorted(self.bounds, rising, side="right") - 1
        return np.flatnonzero(np.bincount(lists[self.bounds[lists] != rising]))

    def resolve_duplicates(self, reading: Reading, *, action: str = "appears") -> None:
        """Refuse or repair documents that occur twice in a list; refuse ranks that do."""
        drop: set[int] = set()
        names = list(self.located())
        for query, (low, high) in zip(self.queries, pairwise(self.bounds.tolist()), strict=True):
            if reading.by_rank and len(set(self.ranks[low:high].tolist())) < high - low:
                self._refuse_repeated_rank(query, low, high)
            if len(set(names[low:high])) < high - low:
                drop |= self._resolve_in_list(query, names, range(low, high), reading.on_duplicate, action)
        if drop:
            keep = np.array([row for row in range(len(names)) if row not in drop])
            self.bounds = np.searchsorted(keep, self.bounds).astype(np.int64)
            self.keep_rows(keep)

    def _refuse_repeated_rank(self, query: bytes, low: int, high: int) -> None:
        seen: dict[int, int] = {}
        for row, rank in enumerate(self.ranks[low:high].tolist(), start=low):
            first = seen.setdefault(rank, row)
            if first != row:
                raise repeated(
                    f"rank {rank}",
                    of=f"query '{to_text(query)}'",
                    first=self._before(first, row),
                    hint="With --config read.order=rank, the ranks for a query must all be different",
                    line=self.lines[row],
                )

    def _before(self, first: int, row: int) -> str:
        """Return where a row stands, unless a later one is of the same record."""
        return "" if self.lines[first] == self.lines[row] else f"{self.unit} {self.lines[first]}"

    def _resolve_in_list(
        self, query: bytes, names: list[bytes], rows: Sequence[int], on_duplicate: str, action: str
    ) -> set[int]:
        kept: dict[bytes, int] = {}
        drop: set[int] = set()
        if on_duplicate == "hold":  # the first occurrence is the one of highest score
            rows = sorted(rows, key=lambda row: (-self.scores[row], row))
        for row in rows:
            first = kept.setdefault(names[row], row)
            if first == row:
                continue
            if on_duplicate == "refuse":
                raise repeated(
                    f"document '{to_text(names[row])}'",
                    verb=action,
                    of=f"query '{to_text(query)}'",
                    first=self._before(first, row),
                    line=self.lines[row],
                    hint=REPAIR if action == "appears" else "",
                )
            if on_duplicate == "hold":
                self.held.append(row)
                continue
            self.repeated += 1
            if on_duplicate == "last" or (on_duplicate == "max" and self.scores[row] > self.scores[first]):
                drop.add(first)
                kept[names[row]] = row
            else:
                drop.add(row)
        return drop


def _positions(names: Sequence[bytes]) -> tuple[Bytes, Integers, Integers]:
    ids = Ids.of(names)
    return ids.text, ids.start, ids.stop


def lists_of_run(run: RunColumns) -> Lists:
    """Return a run in memory as lists."""
    ids = run.ids
    lists = Lists(list(run.queries.names), run.offsets, (ids.text, ids.start, ids.stop), run.scores)
    lists.tag = to_bytes(run.tag)
    lists.unique = True
    return lists


def qrels_of_lists(lists: Lists, source: str) -> QrelsColumns:
    """Return the qrels of judgments by query, without a check for repeated documents."""
    queries = Vocabulary.of_bytes(lists.queries)
    order = np.argsort(queries.encode(lists.queries))
    return QrelsColumns.of_columns(
        queries,
        lists.bounds[:-1][order],
        lists.bounds[1:][order],
        lists.ids(),
        lists.scores,
        hashes=vars(lists).get("hashes"),
        source=source,
    )


class RankedLists:
    """Some lists of a run, best first; their columns may be in memory that is reused."""

    def __init__(self, lists: Lists) -> None:
        self.queries = lists.queries
        self.bounds = lists.bounds
        self.scores = lists.scores
        self.ranks = lists.ranks
        self.unordered = lists
        self.costs = lists.costs
        self._order = lists.order()
        if self._order is not None and self.costs is not None:
            self.costs = self.costs[self._order]
        if self._order is not None:
            self.scores, self.ranks = self.scores[self._order], self.ranks[self._order]

    def rows_in(self, qrels: QrelsColumns, codes: Integers) -> Codes | None:
        """Return every document's row in the qrels, as `Lists.match`."""
        rows = self.unordered.match(qrels, codes)
        return rows if rows is None or self._order is None else rows[self._order]

    def ids(self) -> Ids:
        """Return the id of every document, as a copy."""
        ids = self.unordered.ids()
        return ids if self._order is None else ids.take(self._order)

    def numbered(self, numbers: DocumentNumbers, depth: int | None) -> tuple[Integers, Codes]:
        """Return the bounds of the lists cut at a depth, and the numbers of their documents."""
        lists, bounds, rows = self.unordered, self.bounds, self._order
        ids, hashes = lists.located(), vars(lists).get("hashes")
        if depth is not None:
            bounds, first = first_rows(bounds, depth)
            rows = first if rows is None else rows[first]
        if rows is not None:
            ids, hashes = ids.take(rows), None if hashes is None else hashes[rows]
        return bounds, numbers.of(ids, bounds, hashes)


def first_rows(bounds: Integers, depth: int) -> tuple[Integers, Integers]:
    """Return the bounds of lists that are cut at a depth, and the rows that are left.

    >>> [part.tolist() for part in first_rows(np.array([0, 3, 4]), 2)]
    [[0, 2, 3], [0, 1, 3]]
    """
    sizes = np.minimum(np.diff(bounds), depth)
    cut = np.concatenate(([0], np.cumsum(sizes)))
    return cut, np.arange(cut[-1]) + np.repeat(bounds[:-1] - cut[:-1], sizes)


def are_unique(lists: Lists) -> bool:
    """Return whether no list contains a document twice."""
    return lists.unique or lists.match(QrelsColumns.of([]), np.full(len(lists.queries), -1)) is not None


class JoinedText(NamedTuple):
    """The lists of a chunk of a run, joined: of judged queries in `joined`, the first documents of all."""

    queries: list[bytes]
    unjudged: list[bytes]
    joined: JoinedLists
    rows: int
    extra: int
    disordered: int
    remarks: int
    tag: bytes
    first: Callable[[int], bytes]  # the first document of a list; valid until the next chunk


class ListConsumer(Protocol):
    """Consumer of the lists of a run while it is read."""

    def take(self, lists: RankedLists) -> bool:
        """Take some lists; return False if one has a document twice.

        The caller retries with duplicates removed.
        """

    def restart(self) -> None:
        """Discard all lists: a query reappeared, and the whole run follows."""


@runtime_checkable
class JoinConsumer(ListConsumer, Protocol):
    """Consumer that also takes lists that are joined with its judgments while they are read."""

    qrels: QrelsColumns
    takes_joined: bool  # whether joined lists have all that it needs

    def take_joined(self, lists: JoinedText) -> None:
        """Take some lists."""


@dataclass
class ReadCounts:
    """Counts of problems found while reading a run; those above 0 are shown to the user."""

    rows: int = 0
    queries: int = 0
    extra_columns: int = 0
    repeated: int = 0
    held: int = 0
    dropped: int = 0
    identical: int = 0
    disordered: int = 0
    tag: str = ""
    other_tags: int = 0
    unjudged_queries: int = 0
    remarks: int = 0

    def add(self, lists: Lists, ranked: RankedLists) -> None:
        """Add the counts of some lists."""
        self.rows += len(ranked.scores)
        self.queries += len(lists.queries)
        self.extra_columns += lists.extra
        self.repeated += lists.repeated
        self.held += len(lists.held)
        self.dropped += lists.dropped
        self.identical += lists.identical
        self.remarks += lists.remarks
        self.tag = to_text(lists.tag) or self.tag
        self.disordered += len(disordered(ranked.bounds, ranked.scores, ranked.ranks))

    def add_joined(self, lists: JoinedText) -> None:
        """Add the counts of lists that the kernel has joined."""
        self.rows += lists.rows
        self.queries += len(lists.queries)
        self.extra_columns += lists.extra
        self.remarks += lists.remarks
        self.tag = to_text(lists.tag) or self.tag
        self.disordered += lists.disordered


# Warnings by the field of `ReadCounts` that they report: the code, and the template of the message.
READ_WARNINGS: dict[str, tuple[str, tuple[str, str, str]]] = {
    "remarks": ("remark_lines", ("comment line", "comment lines", "at the top of {runs} (skipped)")),
    "other_tags": (
        "other_tags",
        ("further run tag", "further run tags", "in {runs} (runs are named after their last tag)"),
    ),
    "extra_columns": (
        "ignored_columns",
        ("line", "lines", "with more than six columns in {runs} (extra columns ignored)"),
    ),
    "disordered": (
        "rank_disagrees",
        (
            "query",
            "queries",
            "whose ranks contradict the scores{in_runs} (scores win, unless --config read.order=rank)",
        ),
    ),
    "repeated": (
        "repeated_documents",
        ("repeated document", "repeated documents", "in {runs} (one of each kept)"),
    ),
    "held": (
        "held_documents",
        (
            "repeated document",
            "repeated documents",
            "in {runs} (repeats keep their ranks and count as non-relevant)",
        ),
    ),
    "dropped": (
        "dropped_scores",
        ("document", "documents", "with score NaN in {runs} (dropped as requested)"),
    ),
    "identical": (
        "identical_ids",
        ("document", "documents", "with the same id as their query in {runs} (dropped as requested)"),
    ),
}


def deliver(lists: Lists, consumer: ListConsumer, counts: ReadCounts) -> bool:
    """Pass lists to a consumer and count them; return False if one has a document twice."""
    ranked = RankedLists(lists)
    taken = consumer.take(ranked)
    if taken:
        counts.add(lists, ranked)
    return taken


class Gathered:
    """Consumer that gathers all lists into a run; held repeats are renamed."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Discard all lists."""
        self.queries: list[bytes] = []
        self.sizes: list[Integers] = [np.empty(0, dtype=np.int64)]
        self.ids: list[Ids] = []
        self.scores: list[Floats] = []
        self.repeats = 1  # number of the next one that is held

    def take(self, lists: RankedLists) -> bool:
        """Keep some lists, unless one contains a document twice."""
        if not are_unique(lists.unordered):
            return False
        if lists.unordered.held:
            lists.unordered.name_repeats(self.repeats)
            self.repeats += len(lists.unordered.held)
        self.queries += lists.queries
        self.sizes.append(np.diff(lists.bounds))
        self.ids.append(lists.ids())
        self.scores.append(lists.scores.copy())
        return True

    def run(self, name: str, tag: str) -> RunColumns:
        """Return the run, its lists ordered by query."""
        queries = Vocabulary.of_bytes(self.queries)
        order = np.argsort(queries.encode(self.queries))
        ids, scores = Ids.concatenate(self.ids), np.concatenate(self.scores)
        sizes = np.concatenate(self.sizes)
        offsets = np.concatenate(([0], np.cumsum(sizes[order])))
        if (order[1:] < order[:-1]).any():
            begin = np.cumsum(sizes) - sizes
            rows = np.arange(len(scores)) + np.repeat(begin[order] - offsets[:-1], sizes[order])
            ids, scores = ids.take(rows), scores[rows]
        return RunColumns.of_ids(queries, offsets, ids, scores, name=name, tag=tag)


def run_of(lists: Lists, *, name: str, tag: str) -> RunColumns:
    """Return the run of some lists."""
    gathered = Gathered()
    gathered.take(RankedLists(lists))
    return gathered.run(name, tag)


def disordered(bounds: Integers, scores: Floats, ranks: Integers) -> list[int]:
    """Return the lists in which a higher score has a larger rank than a lower one."""
    falls = ranks[1:] < ranks[:-1]
    inner = bounds[1:-1]
    falls[inner[(inner > 0) & (inner < len(scores))] - 1] = False
    found: list[int] = []
    owners = np.searchsorted(bounds, np.flatnonzero(falls), side="right") - 1
    for place in np.flatnonzero(np.bincount(owners)).tolist():
        low, high = int(bounds[place]), int(bounds[place + 1])
        rank, score = ranks[low:high], scores[low:high]
        if rank.min() < 0:  # the column does not contain ranks
            continue
        group = np.flatnonzero(np.concatenate(([True], score[1:] != score[:-1])))
        lowest, highest = np.minimum.reduceat(rank, group), np.maximum.reduceat(rank, group)
        if np.any(lowest[1:] < np.maximum.accumulate(highest)[:-1]):
            found.append(place)
    return found
