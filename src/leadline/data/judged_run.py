"""Judged: the join of one run with the qrels, made once; all that judged measures see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers, freeze
from leadline.data.ids import Ids, Vocabulary
from leadline.data.qrels import Qrels
from leadline.data.reading import DEFAULT_READING, UNCUT, Cut, Reading
from leadline.data.run import Run
from leadline.errors import UsageError


class Lists(NamedTuple):
    """Some ordered lists: for each row its row in the qrels (-1: unjudged), its score, its id if kept.

    `queries` holds a query code per list, -1 for a query that was not judged; `bounds` the first row of
    each list and the end of the last.
    """

    queries: Integers
    bounds: Integers
    rows: Codes
    scores: Floats
    ids: Ids | None = None

    @classmethod
    def together(cls, parts: Sequence[Lists]) -> Lists:
        """Put lists one after the other, as copies: what they were read from may be used again."""
        ends = np.cumsum([0, *(len(part.rows) for part in parts)])
        bounds = [part.bounds[1:] + start for part, start in zip(parts, ends[:-1], strict=True)]
        return cls(
            np.concatenate([np.empty(0, dtype=np.int64), *(part.queries for part in parts)]),
            np.concatenate([np.zeros(1, dtype=np.int64), *bounds]),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.rows for part in parts)]),
            np.concatenate([np.empty(0), *(part.scores for part in parts)]),
            Ids.together([part.ids for part in parts if part.ids is not None]),
        )


class Ties(NamedTuple):
    """Groups of equal scores that hold only unjudged documents, by first and last rank."""

    query: Codes
    first: Codes
    last: Codes


class Hits(NamedTuple):
    """The retrieved relevant documents, in order of query and rank.

    `nth` counts them within the query from 1.
    """

    query: Codes
    rank: Codes
    nth: Integers


class Gains(NamedTuple):
    """The retrieved documents with a positive gain, in order of query and rank."""

    query: Codes
    rank: Codes
    gain: Floats


class _Part(NamedTuple):
    query: Codes
    length: Codes
    found: Codes
    rank: Codes
    row: Codes
    first: Codes
    last: Codes
    ties: Ties
    parted: Flags


class JudgedRun:
    """One run joined with the qrels, per query of the qrels.

    `present[q]` says whether the run has the query, `length[q]` how long its list is (after the cut).
    Row i of the columns is a retrieved judged document: `rank`, `row` in the qrels, `tie_first` and
    `tie_last` (the ranks that its group of equal scores takes up). `unjudged_ties` are the tie groups
    without a judged document. `parted[q]` says that the list was cut between equal scores, one of them of a
    judged document. `lists` are all rows, unjudged documents and queries too, where they were to be kept.
    """

    def __init__(
        self,
        qrels: Qrels,
        *,
        present: Flags,
        length: Codes,
        offsets: Integers,
        rank: Codes,
        row: Codes,
        tie_first: Codes,
        tie_last: Codes,
        unjudged_ties: Ties,
        parted: Flags | None = None,
        lists: Lists | None = None,
    ) -> None:
        freeze(present, length, offsets, rank, row, tie_first, tie_last)
        self.qrels = qrels
        self.present = present
        self.length = length
        self.offsets = offsets
        self.rank = rank
        self.row = row
        self.tie_first = tie_first
        self.tie_last = tie_last
        self.unjudged_ties = unjudged_ties
        self.parted = np.zeros(len(present), dtype=np.bool_) if parted is None else parted
        self.lists = lists
        self.example = ""  # the first document of a run of which none is judged
        self._hits: dict[float, Hits] = {}

    @classmethod
    def of_lists(
        cls, qrels: Qrels, parts: Iterable[Lists], *, cut: Cut = UNCUT, keep: bool = False
    ) -> JudgedRun:
        """Join ordered lists, each cut, with the qrels.

        `keep` keeps the lists themselves too, uncut.
        """
        join = Join(qrels, cut, keep=keep)
        for part in parts:
            join.add(part)
        return join.judged_run()

    @classmethod
    def _of_parts(cls, qrels: Qrels, joined: Sequence[_Part], lists: Lists | None) -> JudgedRun:
        query = _together([part.query for part in joined])
        size = len(qrels.queries)
        present = np.zeros(size, dtype=np.bool_)
        present[query] = True
        length = np.zeros(size, dtype=np.int32)
        length[query] = _together([part.length for part in joined])
        parted = np.zeros(size, dtype=np.bool_)
        parted[query] = np.concatenate([part.parted for part in joined] or [parted[:0]])
        found = np.zeros(size, dtype=np.int64)
        found[query] = _together([part.found for part in joined])
        spans = _spans_by_query(query, joined)
        rank = _together([joined[part].rank[span] for part, span in spans])
        row = _together([joined[part].row[span] for part, span in spans])
        first = last = rank
        if any(part.last is not part.rank for part in joined):
            first = _together([joined[part].first[span] for part, span in spans])
            last = _together([joined[part].last[span] for part, span in spans])
        return cls(
            qrels,
            present=present,
            length=length,
            offsets=np.concatenate(([0], np.cumsum(found))).astype(np.int64),
            rank=rank,
            row=row,
            tie_first=first,
            tie_last=last,
            unjudged_ties=Ties(*(_together([part.ties[column] for part in joined]) for column in range(3))),
            parted=parted,
            lists=lists,
        )

    @classmethod
    def of_run(
        cls,
        run: Run,
        qrels: Qrels,
        *,
        reading: Reading = DEFAULT_READING,
        cut: Cut = UNCUT,
        keep: bool = False,
    ) -> JudgedRun:
        """Join a run in memory with the qrels."""
        codes = qrels.queries.encode(run.queries.names)
        lookup = qrels.lookup
        names = run.documents.names
        bounds = run.offsets.tolist()
        rows = np.full(len(run.scores), -1, dtype=np.int32)
        for place, code in enumerate(codes.tolist()):
            if code >= 0:
                span = slice(bounds[place], bounds[place + 1])
                judged = lookup[code]
                rows[span] = [judged.get(names[item], -1) for item in run.document[span].tolist()]
        scores = run.scores
        if reading.single_precision:
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
            query = np.repeat(np.arange(len(codes)), np.diff(run.offsets))
            order = np.lexsort((-run.document, -scores, query))
            rows, scores = rows[order], scores[order]
        ids = (
            Ids.of(names).take(run.document.astype(np.int64))
            if keep and not reading.single_precision
            else None
        )
        part = Lists(codes, run.offsets, rows, scores, ids)
        return cls.of_lists(qrels, [part], cut=cut, keep=keep)

    @classmethod
    def of_grades(cls, grades: Sequence[float | None], judged: Sequence[float] | None = None) -> JudgedRun:
        """Make the join of one list from the grades in its order; None is an unjudged document.

        `judged` holds the grades of all judged documents, by default those in the list.

        >>> JudgedRun.of_grades([1, None, 0], judged=[1, 1, 0]).rank
        array([1, 3], dtype=int32)
        """
        listed = [grade for grade in grades if grade is not None]
        rest = list(judged) if judged is not None else list(listed)
        for grade in listed:
            if grade not in rest:
                raise UsageError(f"grade {grade!r} in the list, but not as often among all judged grades")
            rest.remove(grade)
        everything = np.array([*listed, *rest], dtype=np.float64)
        qrels = Qrels.of_columns(
            Vocabulary(["1"]),
            np.array([0], dtype=np.int64),
            np.array([len(everything)], dtype=np.int64),
            Ids.of(str(row).encode() for row in range(len(everything))),
            everything,
        )
        rows = np.cumsum([grade is not None for grade in grades], dtype=np.int32) - 1
        rows[[grade is None for grade in grades]] = -1
        scores = -np.arange(len(grades), dtype=np.float64)
        bounds = np.array([0, len(grades)], dtype=np.int64)
        return cls.of_lists(qrels, [Lists(np.zeros(1, np.int64), bounds, rows, scores)])

    @cached_property
    def query(self) -> Codes:
        """Return the query code of every row."""
        return np.repeat(np.arange(len(self.present), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def grade(self) -> Floats:
        """Return the grade of every row."""
        return self.qrels.grades[self.row]

    def hits(self, rel: float) -> Hits:
        """Return the retrieved documents of grade `rel` or more."""
        if rel not in self._hits:
            chosen = np.flatnonzero(self.grade >= rel)
            query = self.query[chosen]
            first = np.searchsorted(query, np.arange(len(self.present)))
            nth = np.arange(1, len(chosen) + 1) - first[query]
            self._hits[rel] = Hits(query, self.rank[chosen], nth)
        return self._hits[rel]

    @cached_property
    def gains(self) -> Gains:
        """Return the retrieved documents with a positive grade, which is their gain."""
        chosen = np.flatnonzero(self.grade > 0)
        return Gains(self.query[chosen], self.rank[chosen], self.grade[chosen])

    def before(self, chosen: Flags) -> Integers:
        """Count, for every row, the chosen rows above it in its list."""
        running = np.concatenate(([0], np.cumsum(chosen)))
        above: Integers = running[:-1] - running[self.offsets[:-1]][self.query]
        return above

    def count_queries(self, chosen: Flags) -> int:
        """Count the queries of the chosen rows."""
        return int(np.count_nonzero(np.bincount(self.query[chosen])))

    def total(self, query: Codes, weights: Floats | Integers | None = None) -> Floats:
        """Add up weights (or count) per query, in the order of rank."""
        return np.bincount(query, weights, minlength=len(self.present)).astype(np.float64)


class Join:
    """A run that is joined with the qrels while it is read; lists may come in several parts.

    `keep` keeps the lists themselves too, uncut.
    """

    def __init__(self, qrels: Qrels, cut: Cut = UNCUT, *, keep: bool = False) -> None:
        self.qrels = qrels
        self.cut = cut
        self.keep = keep
        self.clear()

    def clear(self) -> None:
        """Forget all lists."""
        self._joined: list[_Part] = []
        self._kept: list[Lists] = []

    def add(self, part: Lists) -> None:
        """Join some ordered lists; their columns may be used again afterwards."""
        self._joined.append(_join(self.qrels, part, self.cut))
        if self.keep:
            self._kept.append(Lists.together([part]))

    def judged_run(self) -> JudgedRun:
        """Return the join of all lists."""
        lists = None
        if self.keep:
            lists = self._kept[0] if len(self._kept) == 1 else Lists.together(self._kept)
        return JudgedRun._of_parts(self.qrels, self._joined, lists)  # noqa: SLF001  # same module


def _together(columns: Sequence[Codes]) -> Codes:
    """Put columns one after the other."""
    return np.concatenate(columns) if columns else np.empty(0, dtype=np.int32)


def _spans_by_query(query: Codes, joined: Sequence[_Part]) -> list[tuple[int, slice]]:
    """Return the part and the rows of every list, in the order of query codes."""
    if not np.any(query[1:] < query[:-1]):
        return [(place, slice(None)) for place in range(len(joined))]
    spans: list[tuple[int, slice]] = []
    for place, part in enumerate(joined):
        ends = np.cumsum(part.found).tolist()
        spans += [(place, slice(*span)) for span in zip([0, *ends], ends, strict=False)]
    return [spans[place] for place in np.argsort(query, kind="stable").tolist()]


def _join(qrels: Qrels, part: Lists, cut: Cut) -> _Part:
    """Find rank and tie group of the judged rows of some lists; lists of unjudged queries fall away."""
    queries, bounds, rows, scores, _ = part
    depth = cut.depth
    parted = _parted(part, depth)
    if cut.judged_only:
        keep = (rows >= 0) & (qrels.grades[rows] >= 0)
        if depth is not None:
            keep &= np.arange(len(rows)) - np.repeat(bounds[:-1], np.diff(bounds)) < depth
        bounds = np.concatenate(([0], np.cumsum(keep)))[bounds]
        rows, scores = rows[keep], scores[keep]
    if not np.all(queries >= 0):
        wanted = queries >= 0
        keep = np.repeat(wanted, np.diff(bounds))
        rows, scores = rows[keep], scores[keep]
        bounds = np.concatenate(([0], np.cumsum(np.diff(bounds)[wanted])))
        queries, parted = queries[wanted], parted[wanted]
    places = np.flatnonzero(rows >= 0)
    owner = np.searchsorted(bounds, places, side="right") - 1
    start = bounds[owner]
    tied = _tie_groups(places, queries, bounds, scores)
    length = np.diff(bounds)
    rank = places - start + 1
    if depth is not None:
        length = np.minimum(length, depth)
        kept = rank <= depth
        places, owner, rank = places[kept], owner[kept], rank[kept]
        start = start[kept]
        tied = tied and (tied[0][kept], tied[1][kept], tied[2])
    ranks = rank.astype(np.int32)
    none = np.empty(0, dtype=np.int32)
    return _Part(
        query=queries.astype(np.int32),
        length=length.astype(np.int32),
        found=np.bincount(owner, minlength=len(queries)).astype(np.int32),
        rank=ranks,
        row=rows[places],
        first=(tied[0] - start + 1).astype(np.int32) if tied else ranks,
        last=(tied[1] - start).astype(np.int32) if tied else ranks,
        ties=tied[2] if tied else Ties(none, none, none),
        parted=parted,
    )


def _parted(part: Lists, depth: int | None) -> Flags:
    """Return which lists the depth cuts between equal scores, one of them of a judged document."""
    found = np.zeros(len(part.queries), dtype=np.bool_)
    if depth is None:
        return found
    low, high = part.bounds[:-1], part.bounds[1:]
    longer = np.flatnonzero(high - low > depth)
    edge = low[longer] + depth
    for place in longer[part.scores[edge - 1] == part.scores[edge]].tolist():
        span = slice(int(low[place]), int(high[place]))
        score = part.scores[span.start + depth]
        found[place] = np.any(part.rows[span][part.scores[span] == score] >= 0)
    return found


def _tie_groups(
    places: Integers, queries: Integers, bounds: Integers, scores: Floats
) -> tuple[Integers, Integers, Ties] | None:
    """Return first place and end of the tie group of each judged row, and the groups without one.

    None when no scores are equal.
    """
    equal = scores[1:] == scores[:-1]
    inner = bounds[1:-1]
    equal[inner[(inner > 0) & (inner < len(scores))] - 1] = False
    if not equal.any():
        return None
    starts = np.flatnonzero(np.concatenate(([True], ~equal)))
    ends = np.append(starts[1:], len(scores))
    group = np.searchsorted(starts, places, side="right") - 1
    lonely = ends - starts > 1
    lonely[group] = False
    begin = starts[lonely]
    owner = np.searchsorted(bounds, begin, side="right") - 1
    ties = Ties(
        queries[owner].astype(np.int32),
        (begin - bounds[owner] + 1).astype(np.int32),
        (ends[lonely] - bounds[owner]).astype(np.int32),
    )
    return starts[group], ends[group], ties
