"""JudgedRun: the join of one run with the qrels, from which measures are computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Codes, Flags, Floats, Integers, Small, freeze
from leadline.data.ids import Ids, Vocabulary, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, UNCUT, Cut, Reading
from leadline.data.run import JoinedLists, MatchedLists, RunColumns, TieGroups, join_lists, kept_rows
from leadline.errors import UsageError

Counts: TypeAlias = npt.NDArray[Any]  # uint8 where all are below 256, else int32


class Tops(NamedTuple):
    """Highest score of the list of each query (-inf without a document), and the document if ids are kept.

    `elsewhere` are the ranks of the documents that were judged for other queries only, by query; None if they
    were not looked for.
    """

    score: Floats
    document: dict[int, str]
    elsewhere: dict[int, Integers] | None = None

    def of_codes(self, codes: Integers) -> Tops:
        """Return the tops of some queries, which are numbered anew."""
        numbers = list(enumerate(codes.tolist()))
        kept = {place: self.document[code] for place, code in numbers if code in self.document}
        ranks = self.elsewhere
        if ranks is not None:
            ranks = {place: ranks[code] for place, code in numbers if code in ranks}
        return Tops(self.score[codes], kept, ranks)


class Hits(NamedTuple):
    """The retrieved relevant documents, ordered by query and rank; `nth` numbers them from 1 per query."""

    query: Codes
    rank: Codes
    nth: Codes


class Gains(NamedTuple):
    """The retrieved documents with a positive gain, ordered by query and rank."""

    query: Codes
    rank: Codes
    gain: Floats


def _rows_in(qrels: QrelsColumns, codes: Integers, run: RunColumns) -> Codes:
    """Return the qrels row of every document of a run (-1: unjudged), from the query code of each list."""
    rows = np.full(len(run.scores), -1, dtype=np.int32)
    if kernels.compiled is not None:
        ids = run.ids
        hashes = np.empty(len(rows), dtype=np.uint64)
        kernels.compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
        seen = np.zeros(8 * int(np.diff(run.offsets).max(initial=1)) + 8, dtype=np.int32)
        places = (ids.text, ids.start, ids.stop, hashes, run.offsets, codes)
        if kernels.compiled.match(*places, *qrels.slots, seen, rows):
            return rows
    names, lookup, bounds = list(run.ids), qrels.lookup, run.offsets.tolist()
    for index, code in enumerate(codes.tolist()):
        span = slice(bounds[index], bounds[index + 1])
        if code >= 0:
            rows[span] = [lookup[code].get(name, -1) for name in names[span]]
    return rows


class JudgedRun:
    """One run joined with the qrels, per query of the qrels.

    `present[q]` is whether the run has the query, `length[q]` the length of its list (after the cut).
    Row i of the columns is a retrieved judged document: `rank`, `row` in the qrels, `tie_first` and
    `tie_last` (the ranks of its group of equal scores), which are kept as the number of rows of the group
    `above` and `below`. `unjudged_ties` are the tie groups without a judged
    document. `cut_in_ties[q]` is whether the list was cut within a group of equal scores that holds a judged
    document. `lists` are all rows, including unjudged documents and queries, and `tops` the highest score of
    each list, if they were kept. `fitting[budget][q]` is the number of documents that fit in a budget.
    """

    def __init__(
        self,
        qrels: QrelsColumns,
        *,
        present: Flags,
        length: Codes,
        offsets: Integers,
        rank: Codes,
        row: Codes,
        ties: tuple[Counts, Counts] | None = None,
        unjudged_ties: TieGroups,
        cut_in_ties: Flags | None = None,
        lists: MatchedLists | None = None,
        tops: Tops | None = None,
    ) -> None:
        above, below = ties or (np.zeros_like(rank), np.zeros_like(rank))
        freeze(present, length, offsets, rank, row, above, below)
        if cut_in_ties is None:
            cut_in_ties = np.zeros(len(present), dtype=np.bool_)
        self.qrels, self.present, self.length, self.offsets = qrels, present, length, offsets
        self.rank, self.row, self.above, self.below = rank, row, above, below
        self.unjudged_ties, self.cut_in_ties = unjudged_ties, cut_in_ties
        self.lists, self.tops = lists, tops
        self.fitting: Mapping[int, Codes] = {}
        # First query and document of a run without judged documents, and its queries without judgments:
        self.example = ("", "")
        self.unjudged: list[bytes] = []
        self._hits: dict[float, Hits] = {}

    @classmethod
    def of_lists(
        cls,
        qrels: QrelsColumns,
        parts: Iterable[MatchedLists],
        *,
        cut: Cut = UNCUT,
        keep: bool = False,
        tops: int = 0,
    ) -> JudgedRun:
        """Join ranked lists with the qrels, each list cut; `keep` also keeps the uncut lists."""
        join = Join(qrels, cut, keep=keep, tops=tops)
        for part in parts:
            join.add(part)
        return join.judged_run()

    @classmethod
    def _of_parts(
        cls, qrels: QrelsColumns, joined: Sequence[JoinedLists], columns: _Columns, lists: MatchedLists | None
    ) -> JudgedRun:
        query = _concatenate([part.query for part in joined])
        size = len(qrels.queries)
        present = np.zeros(size, dtype=np.bool_)
        present[query] = True
        length = np.zeros(size, dtype=np.int32)
        length[query] = _concatenate([part.length for part in joined])
        cut_in_ties = np.zeros(size, dtype=np.bool_)
        cut_in_ties[query] = np.concatenate([part.cut_in_ties for part in joined] or [cut_in_ties[:0]])
        judged = _concatenate([part.judged for part in joined])
        counts = np.zeros(size, dtype=np.int64)
        counts[query] = judged
        rank, row, above, below = columns.in_order(query, judged)
        return cls(
            qrels,
            present=present,
            length=length,
            offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            rank=rank,
            row=row,
            ties=(above, below),
            unjudged_ties=TieGroups(
                *(_concatenate([part.ties[column] for part in joined]) for column in range(3))
            ),
            cut_in_ties=cut_in_ties,
            lists=lists,
        )

    @classmethod
    def of_run(
        cls,
        run: RunColumns,
        qrels: QrelsColumns,
        *,
        reading: Reading = DEFAULT_READING,
        cut: Cut = UNCUT,
        keep: bool = False,
        tops: int = 0,
    ) -> JudgedRun:
        """Join a run in memory with the qrels."""
        codes = qrels.queries.encode(run.queries.names)
        rows = _rows_in(qrels, codes, run)
        scores = run.scores
        if reading.single_precision:
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
            query = np.repeat(np.arange(len(codes)), np.diff(run.offsets))
            order = np.lexsort((-run.document, -scores, query))
            rows, scores = rows[order], scores[order]
        ids = run.ids if (keep or tops) and not reading.single_precision else None
        if tops > 1 and reading.single_precision:
            ids = run.ids.take(order)
        part = MatchedLists(codes, run.offsets, rows, scores, ids)
        return cls.of_lists(qrels, [part], cut=cut, keep=keep, tops=tops)

    @classmethod
    def of_grades(cls, grades: Sequence[float | None], judged: Sequence[float] | None = None) -> JudgedRun:
        """Return the join of one list given by its grades in rank order; None is an unjudged document.

        `judged` are the grades of all judged documents; by default those in the list.

        >>> JudgedRun.of_grades([1, None, 0], judged=[1, 1, 0]).rank
        array([1, 3], dtype=int32)
        """
        retrieved = [grade for grade in grades if grade is not None]
        not_retrieved = list(judged) if judged is not None else list(retrieved)
        for grade in retrieved:
            if grade not in not_retrieved:
                raise UsageError(
                    f"grade {grade!r} occurs more often in `grades` than in `judged`. Include the grades of "
                    "all retrieved documents in `judged`"
                )
            not_retrieved.remove(grade)
        all_grades = np.array([*retrieved, *not_retrieved], dtype=np.float64)
        qrels = QrelsColumns.of_columns(
            Vocabulary(["1"]),
            np.array([0], dtype=np.int64),
            np.array([len(all_grades)], dtype=np.int64),
            Ids.of(str(row).encode() for row in range(len(all_grades))),
            all_grades,
        )
        rows = np.cumsum([grade is not None for grade in grades], dtype=np.int32) - 1
        rows[[grade is None for grade in grades]] = -1
        scores = -np.arange(len(grades), dtype=np.float64)
        bounds = np.array([0, len(grades)], dtype=np.int64)
        return cls.of_lists(qrels, [MatchedLists(np.zeros(1, np.int64), bounds, rows, scores)], tops=2)

    def of_present(self) -> JudgedRun:
        """Return the join with the judgments of the queries that the run has; kept lists are left out."""
        codes = np.flatnonzero(self.present)
        qrels = self.qrels.of_codes(codes)
        counts = np.diff(self.offsets)[codes]
        ties = self.unjudged_ties
        number = np.cumsum(self.present) - 1
        judged = JudgedRun(
            qrels,
            present=np.ones(len(codes), dtype=np.bool_),
            length=self.length[codes],
            offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            rank=self.rank,
            row=(self.row + np.repeat(qrels.begin - self.qrels.begin[codes], counts)).astype(np.int32),
            ties=(self.above, self.below),
            unjudged_ties=TieGroups(number[ties.query].astype(np.int32), ties.first, ties.last),
            cut_in_ties=self.cut_in_ties[codes],
            tops=None if self.tops is None else self.tops.of_codes(codes),
        )
        judged.example, judged.unjudged = self.example, self.unjudged
        judged.fitting = {budget: fits[codes] for budget, fits in self.fitting.items()}
        return judged

    def shortened(self, size: Codes) -> JudgedRun:
        """Return the join of the first documents of each list, `size[q]` of them."""
        kept = np.flatnonzero(self.rank <= size[self.query])
        short = np.flatnonzero(self.unjudged_ties.first <= size[self.unjudged_ties.query])
        return JudgedRun(
            self.qrels,
            present=self.present,
            length=np.minimum(self.length, size),
            offsets=np.searchsorted(kept, self.offsets).astype(np.int64),
            rank=self.rank[kept],
            row=self.row[kept],
            ties=(self.above[kept], self.below[kept]),
            unjudged_ties=TieGroups(*(column[short] for column in self.unjudged_ties)),
            cut_in_ties=self.cut_in_ties,
            tops=self.tops,
        )

    def with_grades(self, qrels: QrelsColumns) -> JudgedRun:
        """Return the join with other grades of the same judgments."""
        judged = copy(self)
        for name in ("grade", "levels", "gains"):
            vars(judged).pop(name, None)
        judged.qrels, judged._hits = qrels, {}  # noqa: SLF001  # same class
        return judged

    @cached_property
    def query(self) -> Codes:
        """Query code of every row."""
        return np.repeat(np.arange(len(self.present), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def tie_first(self) -> Codes:
        """Rank of the first row with the score of every row."""
        return np.asarray(self.rank - self.above, dtype=np.int32)

    @cached_property
    def tie_last(self) -> Codes:
        """Rank of the last row with the score of every row."""
        return np.asarray(self.rank + self.below, dtype=np.int32)

    @cached_property
    def tied(self) -> Flags:
        """Flags of the rows whose score another row of the list has."""
        flags: Flags = (self.above != 0) | (self.below != 0)
        return flags

    @cached_property
    def grade(self) -> Floats:
        """Grade of every row."""
        return self.levels.astype(np.float64, copy=False)

    @cached_property
    def levels(self) -> Floats | Small:
        """Grade of every row, in one byte each where the judgments are."""
        return self.qrels.levels[self.row]

    def hits(self, rel: float) -> Hits:
        """Return the retrieved documents of grade `rel` or more."""
        if rel not in self._hits:
            chosen = np.flatnonzero(self.levels >= rel)
            query = self.query[chosen]
            first = np.searchsorted(query, np.arange(len(self.present))).astype(np.int32)
            nth = np.arange(1, len(chosen) + 1, dtype=np.int32) - first[query]
            self._hits[rel] = Hits(query, self.rank[chosen], nth)
        return self._hits[rel]

    @cached_property
    def gains(self) -> Gains:
        """Retrieved documents with a positive grade, which is their gain."""
        chosen = np.flatnonzero(self.levels > 0)
        return Gains(self.query[chosen], self.rank[chosen], self.levels[chosen].astype(np.float64))

    def before(self, chosen: Flags) -> Integers:
        """Return the number of chosen rows above every row in its list."""
        running = np.concatenate(([0], np.cumsum(chosen)))
        above: Integers = running[:-1] - running[self.offsets[:-1]][self.query]
        return above

    def count_queries(self, chosen: Flags) -> int:
        """Return the number of queries with a chosen row."""
        return int(np.count_nonzero(np.bincount(self.query[chosen])))

    def total(self, query: Codes, weights: Floats | Integers | Codes | None = None) -> Floats:
        """Return the sum of weights (by default the number of rows) per query, added in rank order."""
        return np.bincount(query, weights, minlength=len(self.present)).astype(np.float64)


class Join:
    """Join of a run with the qrels while the run is read, in one or more parts.

    `keep` also keeps the uncut lists, `tops` the highest score of each, and from 2 on the ranks of documents
    that were judged for other queries only; `budgets` are those that documents are counted for.
    """

    def __init__(
        self,
        qrels: QrelsColumns,
        cut: Cut = UNCUT,
        *,
        keep: bool = False,
        tops: int = 0,
        budgets: Iterable[int] = (),
    ) -> None:
        self.qrels = qrels
        self.cut = cut
        self.keep = keep
        self.keeps_tops = tops
        self.budgets = tuple(budgets)
        self._judged: frozenset[bytes] | None = None
        self.clear()

    def clear(self) -> None:
        """Remove all lists."""
        self._joined: list[JoinedLists] = []
        self._columns = _Columns(len(self.qrels.documents))
        self._kept: list[MatchedLists] = []
        score = np.full(len(self.qrels.queries) if self.keeps_tops else 0, -np.inf)
        self._fitting = {budget: np.zeros(len(self.qrels.queries), np.int32) for budget in self.budgets}
        self._tops = Tops(score, {}, {} if self.keeps_tops > 1 else None)

    def add(self, part: MatchedLists) -> None:
        """Join ranked lists; their columns may be overwritten afterwards."""
        self.add_joined(join_lists(self.qrels, part, self.cut))
        if self.keeps_tops:
            self._add_tops(part)
        if part.costs is not None:
            for budget, fits in self._fitting.items():
                self._count_fitting(part, part.costs, budget, fits)
        if self.keep:
            self._kept.append(MatchedLists.concatenate([part]))

    def add_joined(self, part: JoinedLists) -> None:
        """Add lists that are joined already; rank, row and what is around may be overwritten afterwards."""
        self._columns.add(part)
        empty = part.rank[:0].copy()
        self._joined.append(part._replace(rank=empty, row=empty, around=None))

    def judged_run(self) -> JudgedRun:
        """Return the join of all lists added; the join itself then holds none."""
        lists = None
        if self.keep:
            lists = self._kept[0] if len(self._kept) == 1 else MatchedLists.concatenate(self._kept)
        made = JudgedRun._of_parts(self.qrels, self._joined, self._columns, lists)  # noqa: SLF001  # same module
        made.tops = self._tops if self.keeps_tops else None
        made.fitting = self._fitting
        self.clear()
        return made

    def _count_fitting(self, part: MatchedLists, costs: Floats, budget: int, fits: Codes) -> None:
        """Count the first documents of each list that fit in a budget together."""
        outside = np.flatnonzero(~(costs <= budget))
        first = np.append(outside, len(costs))[np.searchsorted(outside, part.bounds[:-1])]
        size = np.minimum(first, part.bounds[1:]) - part.bounds[:-1]
        judged = part.queries >= 0
        fits[part.queries[judged]] = size[judged]

    def _add_elsewhere(self, part: MatchedLists, ids: Ids, elsewhere: dict[int, Integers]) -> None:
        """Keep the ranks of the documents that were judged for other queries only."""
        if self._judged is None:
            self._judged = frozenset(self.qrels.documents)
        bounds = part.bounds.tolist()
        for place, code in enumerate(part.queries.tolist()):
            begin, end = bounds[place : place + 2]
            rows = begin + np.flatnonzero(part.rows[begin:end] < 0)
            if code >= 0 and len(rows):
                judged = [name in self._judged for name in ids.take(rows)]
                elsewhere[code] = rows[np.array(judged)] - begin + 1

    def _add_tops(self, part: MatchedLists) -> None:
        """Keep the score and the document of the first row of each list of a judged query."""
        begin, end = part.bounds[:-1], part.bounds[1:]
        first = begin
        if self.cut.judged_only:
            places = np.flatnonzero(kept_rows(self.qrels, part, self.cut))
            first = np.append(places, len(part.rows))[np.searchsorted(places, begin)]
        filled = np.flatnonzero((part.queries >= 0) & (first < end))
        codes = part.queries[filled]
        self._tops.score[codes] = part.scores[first[filled]]
        if self._tops.elsewhere is not None and part.ids is not None and not self.cut.judged_only:
            self._add_elsewhere(part, part.ids, self._tops.elsewhere)
        if part.ids is not None:
            names = map(to_text, part.ids.take(first[filled]))
            self._tops.document.update(zip(codes.tolist(), names, strict=True))


class _Columns:
    """Rank, row and tie group of the judged rows of lists, list by list; at most as many as are judged."""

    def __init__(self, judged: int) -> None:
        self.size = 0
        self.tied = False  # until then there are two columns
        self.columns: list[Counts] = [
            np.empty(judged, dtype=kind) for kind in (np.int32, np.int32, np.uint8, np.uint8)
        ]

    def add(self, part: JoinedLists) -> None:
        """Append the rows of some lists."""
        low, high = self.size, self.size + len(part.rank)
        if high > len(self.columns[0]):  # a query reappears; its lists are merged on a second reading
            self.columns = [np.resize(column, 2 * high) for column in self.columns]
        values = [part.rank, part.row]
        if part.around is not None and not self.tied:
            self.tied = True
            for column in self.columns[2:]:
                column[:low] = 0
        if self.tied:
            values += part.around or [np.zeros_like(part.rank)] * 2
        for place, new in enumerate(values):
            if new.max(initial=0) > np.iinfo(self.columns[place].dtype).max:
                self.columns[place] = self.columns[place].astype(np.int32)
            self.columns[place][low:high] = new
        self.size = high

    def in_order(self, query: Codes, counts: Codes) -> list[Counts]:
        """Return the columns in the order of query codes, given the query and the size of each list."""
        spans = [slice(self.size)]
        if np.any(query[1:] < query[:-1]):
            ends = np.cumsum(counts)
            begin, order = ends - counts, np.argsort(query, kind="stable")
            spans = [slice(*span) for span in zip(begin[order].tolist(), ends[order].tolist(), strict=True)]
        found: list[Counts] = []
        for place in range(4 if self.tied else 2):
            column, self.columns[place] = self.columns[place], self.columns[place][:0].copy()
            found.append(_concatenate([column[span] for span in spans]))
            del column  # before the next one is copied
        none = np.broadcast_to(np.uint8(0), self.size)
        return found if self.tied else [*found, none, none]


def _concatenate(columns: Sequence[Codes]) -> Codes:
    """Return the concatenation of columns; an empty column for none."""
    return np.concatenate(columns) if columns else np.empty(0, dtype=np.int32)
