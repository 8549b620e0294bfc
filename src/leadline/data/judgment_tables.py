"""Beside judgments: ideal lists, subtopics, several judges and one grade of them, the pool of a sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers, Small, freeze
from leadline.data.ids import Vocabulary, to_text
from leadline.data.table import MERGED
from leadline.data.wording import counted
from leadline.errors import UsageError, did_you_mean, either

MOST_TURNS = 60  # of the judges of a query whose pairs have unlike numbers of them
OF_GRADES = ("grades", "_relevant", "ideal")  # what judgments compute of their grades and keep
MOST_LEVELS = 8  # number of grades whose documents are counted to make ideal lists


class Ideal(NamedTuple):
    """The judged documents with a positive gain, in decreasing order of grade within each query."""

    query: Codes
    rank: Codes
    gain: Floats

    @classmethod
    def of(cls, levels: Floats | Small, begin: Integers, end: Integers) -> Ideal:
        """Return the ideal lists of grades; the rows of a query are begin to end.

        >>> Ideal.of(np.array([1.0, 0.0, 2.0]), np.array([0]), np.array([3])).gain
        array([2., 1.])
        """
        if levels.dtype == np.int8:
            # not np.unique, which imports numpy.ma
            kinds = [kind for kind in range(int(levels.max(initial=0)), 0, -1) if (levels == kind).any()]
            if len(kinds) <= MOST_LEVELS:
                return cls._of_counts(levels, kinds, begin, end)
        rows = np.flatnonzero(levels > 0)
        filled = np.flatnonzero(end > begin)
        ordered = filled[np.argsort(begin[filled])].astype(np.int32)
        query = ordered[np.searchsorted(begin[ordered], rows, side="right") - 1]
        gain = levels[rows].astype(np.float64)
        order = np.lexsort((-gain, query))
        query, gain = query[order], gain[order]
        first = np.searchsorted(query, np.arange(len(begin))).astype(np.int32)
        return cls(query, np.arange(1, len(rows) + 1, dtype=np.int32) - first[query], gain)

    @classmethod
    def _of_counts(cls, levels: Floats | Small, kinds: list[int], begin: Integers, end: Integers) -> Ideal:
        """Return the ideal lists from the number of documents of each grade, the highest first."""
        counts = np.empty((len(begin), len(kinds)), dtype=np.int64)
        for place, kind in enumerate(kinds):
            rows = np.flatnonzero(levels == kind)
            counts[:, place] = np.searchsorted(rows, end) - np.searchsorted(rows, begin)
        sizes = counts.sum(axis=1)
        gain = np.repeat(np.tile(np.array(kinds, dtype=np.float64), len(begin)), counts.ravel())
        query = np.repeat(np.arange(len(begin), dtype=np.int32), sizes)
        rank = np.arange(1, len(gain) + 1, dtype=np.int32)
        rank -= np.repeat((np.cumsum(sizes) - sizes).astype(np.int32), sizes)
        return cls(query, rank, gain)


class Subtopics:
    """Judgments by subtopic: one row per judged pair of document and subtopic, ordered by document.

    `row` is the row in the qrels, in increasing order; `code` the subtopic in `names`, which all queries
    share.
    """

    def __init__(self, names: Vocabulary, row: Codes, code: Codes, grades: Floats, *, documents: int) -> None:
        freeze(row, code, grades)
        self.names = names
        self.row = row
        self.code = code
        self.grades = grades
        self.first = np.searchsorted(row, np.arange(documents + 1))
        self.ideals: dict[tuple[float, float], Any] = {}  # ideal lists by relevance level and alpha

    def of_rows(self, rows: Codes | Integers) -> tuple[Integers, Integers]:
        """Return the judgments of rows of the qrels: their indices, and the index in `rows` of each."""
        count = self.first[rows + 1] - self.first[rows]
        index = np.repeat(np.arange(len(rows)), count)
        nth = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
        return self.first[rows][index] + nth, index

    def keys(self, query: Codes, code: Codes) -> Integers:
        """Return one number per pair of query and subtopic."""
        return np.asarray(query.astype(np.int64) * max(len(self.names), 1) + code)

    def queries_of(self, keys: Integers) -> Codes:
        """Return the query of every key."""
        return (keys // max(len(self.names), 1)).astype(np.int32)

    def take(self, rows: Integers) -> Subtopics:
        """Return the judgments of a subset of the rows of the qrels, renumbered from 0."""
        judgments, index = self.of_rows(rows)
        return Subtopics(
            self.names,
            index.astype(np.int32),
            self.code[judgments],
            self.grades[judgments],
            documents=len(rows),
        )


def digest_of_rows(qrels: Any, columns: Sequence[np.ndarray[Any, Any] | None]) -> str:
    """Return the SHA-256 of queries, documents, grades and columns of judgments, in any order of the rows."""
    from leadline.data.arrays import digest  # hashlib takes 4 MiB, and few commands need it

    rows = np.lexsort((np.array(list(qrels.documents), dtype=np.bytes_), qrels.query))
    parts = [None if column is None else column[rows] for column in columns]
    names: Sequence[bytes] = ()
    if qrels.subtopics is not None:
        table = qrels.subtopics
        place = np.empty(len(rows), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        order = np.lexsort((table.code, place[table.row]))
        parts += [place[table.row][order], table.code[order], table.grades[order]]
        names = table.names.names
    unlike = list(_unlike_grades(qrels))
    for power in (1, 2) if unlike else ():
        sums = np.zeros(len(rows))
        for _, row, grades in unlike:
            sums[row] = math.fsum(grade**power for grade in grades)
        parts.append(sums[rows])
    found = (qrels.documents.take(rows), qrels.end - qrels.begin, qrels.grades[rows])
    return digest(qrels.queries.names, names, *found, *parts)


class Turns(NamedTuple):
    """The same judgments with the grades of one judge of each pair at a time."""

    tables: list[Any]  # qrels
    number: Integers  # number of tables that count for each query, the first ones
    highest: Any  # qrels with the highest grade of each pair

    @property
    def counted(self) -> Flags:
        """Flags of the tables that count: tables x queries."""
        return np.arange(len(self.tables))[:, None] < self.number


def by_judge(qrels: Any) -> Turns:
    """Return judgments with the grades of one judge at a time, those of the majority without unlike grades.

    In the tables of a query all judges of a pair take as many turns. Where that needs more than `MOST_TURNS`
    tables, because pairs have unlike numbers of judges, the numbers of turns differ by 1.

    >>> from leadline.data.qrels import QrelsColumns
    >>> qrels = QrelsColumns.of([("q1", "d1", 0.0), ("q1", "d2", 1.0)])
    >>> qrels.votes = {"q1": {"d1": (0.0, 2.0)}}
    >>> [one.to_dict() for one in by_judge(qrels).tables]
    [{'q1': {'d1': 0, 'd2': 1}}, {'q1': {'d1': 2, 'd2': 1}}]
    """
    number = np.ones(len(qrels.queries), dtype=np.int64)
    rows = list(_unlike_grades(qrels))
    if not rows:
        return Turns([qrels], number, qrels)
    for code, _, grades in rows:
        number[code] = math.lcm(int(number[code]), len(grades))
    for code in {code for code, _, _ in rows if number[code] > MOST_TURNS}:
        number[code] = max(MOST_TURNS, *(len(grades) for other, _, grades in rows if other == code))
    highest = _with_grades(qrels, {row: max(grades) for _, row, grades in rows})
    tables = [
        _with_grades(qrels, {row: _at(turn, int(number[code]), grades) for code, row, grades in rows})
        for turn in range(int(number.max()))
    ]
    for one in tables:
        one.highest_grade = highest.highest_grade
    return Turns(tables, number, highest)


def _unlike_grades(qrels: Any) -> Iterator[tuple[int, int, Sequence[float]]]:
    """Yield query code, row and grades of the pairs with unlike grades by several judges."""
    for code, query in enumerate(qrels.queries) if qrels.votes else ():
        votes = qrels.votes.get(query, {})
        for row in range(int(qrels.begin[code]), int(qrels.end[code])) if votes else ():
            grades = votes.get(to_text(qrels.documents[row]))
            if grades is not None:
                yield code, row, grades


def _at(turn: int, turns: int, grades: Sequence[float]) -> float:
    """Return the grade of the judge whose turn it is."""
    if turns % len(grades):
        return grades[min(turn, turns - 1) * len(grades) // turns]
    return grades[turn % len(grades)]


def _with_grades(qrels: Any, chosen: Mapping[int, float]) -> Any:
    """Return the same judgments with other grades of some rows."""
    one, grades = copy(qrels), qrels.grades.copy()
    grades[list(chosen)] = list(chosen.values())
    for name in OF_GRADES:
        vars(one).pop(name, None)
    one.levels, one.votes = grades, {}
    one.highest_grade = max(qrels.highest_grade, float(grades.max()))
    return one


class Pooled(NamedTuple):
    """The pairs of a pool, row by row."""

    queries: list[str]
    documents: list[str]
    probability: Floats  # inclusion probability of the pair, in (0, 1]
    # Rank of the document in every run that contributed it; none for one that was drawn.
    contributors: list[Mapping[str, int]]

    def pairs(self) -> list[tuple[str, str]]:
        """Return (query, document) of every row."""
        return list(zip(self.queries, self.documents, strict=True))

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns of the pairs by name."""
        columns = (list(self.queries), list(self.documents), self.probability.tolist())
        return dict(zip(("query_id", "doc_id", "probability"), columns, strict=True))

    def by_query(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: probability}}`."""
        found: dict[str, dict[str, float]] = {}
        for query, document, share in zip(
            self.queries, self.documents, self.probability.tolist(), strict=True
        ):
            found.setdefault(query, {})[document] = share
        return found


@dataclass(frozen=True)
class DrawnPool:
    """The frame of a pool, row by row, and which of its pairs were drawn."""

    queries: list[str]  # the pairs of the frame
    documents: list[str]
    # Inclusion probability of each pair, in (0, 1]; 0 for one that both runs of a compared pair have alike.
    probability: Floats
    # Permanent random number over unscaled probability; the pairs of smallest order are a smaller draw.
    order: Floats
    contributors: list[Mapping[str, int]]  # rank of the document in every pooled run that has it in the frame
    drawn: Flags  # the pairs to be judged
    # How it was drawn: measures, budget, depth, level, seed, scale, runs. Empty for a plain table of pairs.
    design: dict[str, Any] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)  # judge of each query, if queries were assigned

    @classmethod
    def listed(cls, rows: Sequence[tuple[str, str, float]]) -> DrawnPool:
        """Return the pool of pairs that were drawn, with their probabilities; the others are unknown."""
        return cls(
            [query for query, _, _ in rows],
            [document for _, document, _ in rows],
            np.array([share for _, _, share in rows], dtype=np.float64),
            np.full(len(rows), np.nan),
            [{} for _ in rows],
            np.ones(len(rows), dtype=np.bool_),
        )

    @property
    def judged_before(self) -> Flags:
        """Whether each pair had a judgment when the pool was drawn (`pool --judged`)."""
        return np.asarray((self.order == 0) & (self.probability == 1))

    @classmethod
    def of_shares(cls, shares: Mapping[str, Mapping[str, float]]) -> DrawnPool:
        """Return the pool of pairs that were drawn, from `{query: {document: probability}}`."""
        return cls.listed([(query, *one) for query, each in shares.items() for one in each.items()])

    def pairs(self, rows: Sequence[int]) -> Pooled:
        """Return some of the pairs."""
        return Pooled(
            [self.queries[row] for row in rows],
            [self.documents[row] for row in rows],
            self.probability[rows],
            [self.contributors[row] for row in rows],
        )

    def names(self) -> list[tuple[str, str]]:
        """Return (query, document) of every row."""
        return list(zip(self.queries, self.documents, strict=True))

    def drawn_rows(self) -> dict[tuple[str, str], int]:
        """Return the row of every drawn pair."""
        rows = np.flatnonzero(self.drawn).tolist()
        return {(self.queries[row], self.documents[row]): row for row in rows}

    def part(self, kept: Flags) -> DrawnPool:
        """Return the pool of the flagged pairs."""
        rows = np.flatnonzero(kept).tolist()
        pairs = self.pairs(rows)._asdict()
        return replace(self, **pairs, order=self.order[rows], drawn=self.drawn[rows])


Pair = tuple[str, str]


class Judgment(NamedTuple):
    """The grade that a judge gave a document for a query; the last one where there were several."""

    query: str
    document: str
    judge: str
    grade: float


class Merged(NamedTuple):
    """One grade a pair; `shared` pairs had several judges, `tied` of them no majority.

    `votes` are the unlike grades by query and document, in the order of the judges' names.
    """

    grades: dict[Pair, float]
    rule: str
    shared: int
    votes: dict[str, dict[str, tuple[float, ...]]]
    tied: int

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, words and count of what was merged; nothing where no pair had several judges."""
        if not self.shared:
            return ()
        unlike = sum(map(len, self.votes.values()))
        words = f"pairs with several judges: {self.shared:,} ({unlike:,} with different grades, merged by "
        words += self.rule
        if self.tied:
            words += f", {counted(self.tied, 'tie')} resolved to the lowest tied grade"
        return ((MERGED, f"{words})", self.shared),)


def majority(grades: Sequence[float]) -> float:
    """Return the grade of most judges; among grades of as many judges the lowest.

    >>> majority([2, 1, 2]), majority([0, 2])
    (2, 0)
    """
    votes = Counter(grades)
    return min(votes, key=lambda grade: (-votes[grade], grade))


def mean(grades: Sequence[float]) -> float:
    """Return the mean grade, a whole one as an integer.

    >>> mean([0, 1]), mean([1, 1])
    (0.5, 1)
    """
    found = sum(grades) / len(grades)
    return int(found) if found == int(found) else found


RULES: Mapping[str, Callable[[Sequence[float]], float]] = {"majority": majority, "max": max, "mean": mean}


def merge(judgments: Iterable[Judgment], rule: str = "majority") -> Merged:
    """Merge judgments by a rule of `RULES`, or take those of one judge by name.

    >>> found = merge([Judgment("q", "d", "ann", 1), Judgment("q", "d", "bob", 0)])
    >>> found.grades, found.tied
    ({('q', 'd'): 0}, 1)
    """
    judgments = list(judgments)
    if rule not in RULES:
        judgments = _of_judge(judgments, rule)
    by_pair: dict[Pair, list[float]] = {row[:2]: [] for row in judgments}
    places = {judge: place for place, judge in enumerate(sorted({row.judge for row in judgments}))}
    judgments.sort(key=lambda row: places[row.judge])
    for query, document, _, grade in judgments:
        by_pair[query, document].append(grade)
    for pair, grades in by_pair.items():  # a negative grade means not judged
        by_pair[pair] = [grade for grade in grades if grade >= 0] or grades
    shared = [grades for grades in by_pair.values() if len(grades) > 1]
    votes: dict[str, dict[str, tuple[float, ...]]] = {}
    for (query, document), grades in by_pair.items():
        if len(set(grades)) > 1:
            votes.setdefault(query, {})[document] = tuple(grades)
    settle = RULES.get(rule, majority)
    return Merged(
        {pair: settle(grades) for pair, grades in by_pair.items()},
        rule,
        len(shared),
        votes,
        sum(map(_is_tied, shared)) if rule == "majority" else 0,
    )


def _is_tied(grades: Sequence[float]) -> bool:
    votes = sorted(Counter(grades).values())
    return len(votes) > 1 and votes[-1] == votes[-2]


def _of_judge(judgments: list[Judgment], name: str) -> list[Judgment]:
    judges = sorted({judgment.judge for judgment in judgments})
    if name not in judges:
        known = [*RULES, *judges]
        hint = did_you_mean(name, known, most=2) or f"Use {either(known)}"
        raise UsageError(f"no merge rule or judge is called '{name}'. {hint}")
    return [judgment for judgment in judgments if judgment.judge == name]
