"""Qrels: which documents were judged for which query, and the grade each got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Flags, Floats, Hashes, Integers, freeze
from leadline.data.ids import Ids, Vocabulary, encoded, to_text
from leadline.data.wording import counted, queries
from leadline.errors import InputError


class Slots(NamedTuple):
    """One hash table of documents per query, for the compiled kernels."""

    hashes: Hashes
    offset: Integers
    rows: Codes


class Ideal(NamedTuple):
    """The judged documents with a positive gain, best first within each query."""

    query: Codes
    rank: Integers
    gain: Floats


class Subtopics:
    """The judgments by subtopic: a row is a document judged for one; those of a document together.

    `row` is the row in the qrels, rising; `code` the subtopic in `names`, which all queries share.
    """

    def __init__(self, names: Vocabulary, row: Codes, code: Codes, grades: Floats, *, documents: int) -> None:
        freeze(row, code, grades)
        self.names = names
        self.row = row
        self.code = code
        self.grades = grades
        self.first = np.searchsorted(row, np.arange(documents + 1))
        self.ideals: dict[tuple[float, float], Any] = {}  # by level and alpha

    def of_rows(self, rows: Codes | Integers) -> tuple[Integers, Integers]:
        """Give the judgments of some rows of the qrels: their places here, and whose each is."""
        count = self.first[rows + 1] - self.first[rows]
        owner = np.repeat(np.arange(len(rows)), count)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        return self.first[rows][owner] + within, owner

    def keys(self, query: Codes, code: Codes) -> Integers:
        """Give one number for a query and a subtopic."""
        return np.asarray(query.astype(np.int64) * max(len(self.names), 1) + code)

    def queries_of(self, keys: Integers) -> Codes:
        """Give the query of such a number."""
        return (keys // max(len(self.names), 1)).astype(np.int32)

    def keep(self, rows: Integers) -> Subtopics:
        """Give the judgments of some rows of the qrels, which become all rows there."""
        place, owner = self.of_rows(rows)
        return Subtopics(
            self.names, owner.astype(np.int32), self.code[place], self.grades[place], documents=len(rows)
        )


class Qrels:
    """The judgments: a row is a judged document; rows of one query stand together.

    `queries` is the vocabulary of judged queries, `begin[q]:end[q]` are the rows of query q (so that a file
    need not be sorted), `documents` and `grades` the columns. A negative grade means pooled, not judged.
    Where documents were judged by `subtopics`, the grade is the largest of a document. `inclusion` is the
    probability that a document had to be judged, NaN where nobody knows it, None where none is known.

    >>> qrels = Qrels.of([(b"q1", b"d1", 1.0), (b"q1", b"d2", 0.0)])
    >>> len(qrels), qrels.relevant(1.0)
    (2, array([1]))
    """

    def __init__(
        self,
        queries: Vocabulary,
        begin: Integers,
        end: Integers,
        documents: Ids,
        grades: Floats,
        *,
        known: Flags | None = None,
        subtopics: Subtopics | None = None,
        inclusion: Floats | None = None,
        hashes: Hashes | None = None,
        source: str = "",
        remarks: tuple[tuple[str, str, int], ...] = (),
    ) -> None:
        freeze(begin, end, grades, *(() if inclusion is None else (inclusion,)))
        self.queries = queries
        self.begin = begin
        self.end = end
        self.documents = documents
        self.grades = grades
        self.known = known
        self.subtopics = subtopics
        self.inclusion = inclusion
        self.source = source
        self.remarks = remarks  # code, words and count: what a reader of numbers should know
        self._hashes = hashes
        self._relevant: dict[float, Integers] = {}

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, source: str = "") -> Qrels:
        """Make qrels from (query, document, grade) rows, ids as text or bytes; refuses repeats."""
        ids: list[tuple[bytes, bytes, float]] = [
            (encoded(query), encoded(document), grade) for query, document, grade in rows
        ]
        queries = Vocabulary.of_bytes(row[0] for row in ids)
        codes = queries.encode(row[0] for row in ids)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(queries) + 1)).astype(np.int64)
        documents = Ids.of(row[1] for row in ids).take(order)
        grades = np.array([row[2] for row in ids], dtype=np.float64)[order]
        made = cls(queries, bounds[:-1], bounds[1:], documents, grades, source=source)
        made.refuse_repeats()
        return made

    @classmethod
    def of_subtopics(
        cls, judgments: Mapping[tuple[bytes, bytes], Mapping[bytes, float]], *, source: str = ""
    ) -> Qrels:
        """Make qrels from the grades by subtopic of every (query, document).

        >>> Qrels.of_subtopics({(b"q1", b"d1"): {b"s1": 1.0, b"s2": 2.0}}).grades
        array([2.])
        """
        found = sorted(judgments.items(), key=lambda item: item[0][0])
        made = cls.of(
            ((query, name, max(grades.values(), default=0.0)) for (query, name), grades in found),
            source=source,
        )
        names = Vocabulary.of_bytes(subtopic for _, grades in found for subtopic in grades)
        rows = [
            (row, names.codes[subtopic], grade)
            for row, (_, grades) in enumerate(found)
            for subtopic, grade in sorted(grades.items())
        ]
        made.subtopics = Subtopics(
            names,
            np.array([row for row, _, _ in rows], dtype=np.int32),
            np.array([code for _, code, _ in rows], dtype=np.int32),
            np.array([grade for _, _, grade in rows], dtype=np.float64),
            documents=len(made),
        )
        return made

    def refuse_repeats(self) -> None:
        """Refuse a document that is judged twice for one query."""
        pair = self.repeated
        if pair is not None:
            raise InputError(
                f"document '{to_text(self.documents[pair[1]])}' is judged twice for query "
                f"'{self.queries[int(self.query[pair[1]])]}'",
                expected="each once",
                path=self.source,
            )

    @property
    def repeated(self) -> tuple[int, int] | None:
        """Give two rows that judge the same document for the same query, if there are any."""
        if kernels.compiled is not None:
            return self._filled[1]
        for seen, low, high in zip(self.lookup, self.begin.tolist(), self.end.tolist(), strict=True):
            if len(seen) < high - low:
                first = next(row for row in range(low, high) if seen[self.documents[row]] != row)
                return first, seen[self.documents[first]]
        return None

    def __len__(self) -> int:
        return len(self.grades)

    def __repr__(self) -> str:
        return f"Qrels({queries(len(self.queries))}, {counted(len(self), 'judgment')})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Qrels) or self.queries != other.queries or len(self) != len(other):
            return NotImplemented if not isinstance(other, Qrels) else False
        return all(part(self) == part(other) for part in (Qrels.to_dict, Qrels.by_subtopic, Qrels.shares))

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not for dictionaries

    @cached_property
    def query(self) -> Codes:
        """Give the query code of every row."""
        order = np.argsort(self.begin, kind="stable").astype(np.int32)
        return np.repeat(order, (self.end - self.begin)[order])

    @cached_property
    def lookup(self) -> list[dict[bytes, int]]:
        """Give, per query, the row of each judged document: for the uncompiled kernels."""
        names = list(self.documents)
        return [
            dict(zip(names[low:high], range(low, high), strict=True))
            for low, high in zip(self.begin.tolist(), self.end.tolist(), strict=True)
        ]

    @property
    def slots(self) -> Slots:
        """Give the hash tables of the compiled kernels."""
        return self._filled[0]

    @cached_property
    def _filled(self) -> tuple[Slots, tuple[int, int] | None]:
        if kernels.compiled is None:
            raise RuntimeError("slots are for the compiled kernels")
        ids = self.documents
        if (hashes := self._hashes) is None:
            hashes = np.empty(len(self), dtype=np.uint64)
            kernels.compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
        sizes = 2 ** np.ceil(np.log2(2 * (self.end - self.begin) + 1)).astype(np.int64)
        offset = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = np.zeros(int(offset[-1]), dtype=np.int32)
        twin = np.zeros(1, dtype=np.int64)
        again = kernels.compiled.fill_slots(
            ids.text, ids.start, ids.stop, hashes, self.begin, self.end, offset, rows, twin
        )
        return Slots(hashes, offset, rows), (int(twin[0]), again) if again >= 0 else None

    def relevant(self, rel: float) -> Integers:
        """Count, per query, the documents of grade `rel` or more."""
        if rel not in self._relevant:
            counted = np.bincount(self.query[self.grades >= rel], minlength=len(self.queries))
            self._relevant[rel] = counted.astype(np.int64)
        return self._relevant[rel]

    def count(self, chosen: Flags) -> Integers:
        """Count, per query, the rows that are chosen."""
        return np.bincount(self.query[chosen], minlength=len(self.queries)).astype(np.int64)

    @cached_property
    def ideal(self) -> Ideal:
        """Give the judged documents with a positive grade, the best first within each query."""
        rows = np.flatnonzero(self.grades > 0)
        rows = rows[np.lexsort((-self.grades[rows], self.query[rows]))]
        query = self.query[rows]
        first = np.searchsorted(query, np.arange(len(self.queries)))
        return Ideal(query, np.arange(len(rows)) - first[query] + 1, self.grades[rows])

    def keep(self, chosen: Flags) -> Qrels:
        """Give qrels of the chosen rows only; every query stays."""
        rows = np.flatnonzero(chosen)
        before = np.concatenate(([0], np.cumsum(chosen))).astype(np.int64)
        return Qrels(
            self.queries,
            before[self.begin],
            before[self.end],
            self.documents.take(rows),
            self.grades[rows],
            known=None if self.known is None else self.known[rows],
            subtopics=None if self.subtopics is None else self.subtopics.keep(rows),
            inclusion=None if self.inclusion is None else self.inclusion[rows],
            source=self.source,
            remarks=self.remarks,
        )

    def only(self, code: int) -> Qrels:
        """Give the judgments of one query, without subtopics and known documents."""
        rows = np.arange(int(self.begin[code]), int(self.end[code]))
        return Qrels(
            Vocabulary([self.queries[code]]),
            np.array([0], dtype=np.int64),
            np.array([len(rows)], dtype=np.int64),
            self.documents.take(rows),
            self.grades[rows],
            inclusion=None if self.inclusion is None else self.inclusion[rows],
            source=self.source,
        )

    def with_known(self, known: dict[bytes, set[bytes]]) -> Qrels:
        """Give the same qrels knowing which documents the user knew before, by query."""
        names = [self.queries.names[code] for code in self.query.tolist()]
        flags = np.array(
            [name in known.get(query, ()) for query, name in zip(names, self.documents, strict=True)],
            dtype=np.bool_,
        )
        return Qrels(
            self.queries,
            self.begin,
            self.end,
            self.documents,
            self.grades,
            known=flags,
            subtopics=self.subtopics,
            inclusion=self.inclusion,
            hashes=self._hashes,
            source=self.source,
            remarks=self.remarks,
        )

    def with_one_subtopic(self) -> Qrels:
        """Give the same qrels with one subtopic, which every judgment is for."""
        rows = np.arange(len(self), dtype=np.int32)
        only = Subtopics(Vocabulary(["1"]), rows, np.zeros_like(rows), self.grades, documents=len(self))
        return Qrels(
            self.queries,
            self.begin,
            self.end,
            self.documents,
            self.grades,
            known=self.known,
            subtopics=only,
            inclusion=self.inclusion,
            hashes=self._hashes,
            source=self.source,
            remarks=self.remarks,
        )

    def with_inclusion(self, shares: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Give the same qrels with the probability of each document to be judged; NaN where none is given."""
        names = list(self.queries)
        inclusion = np.array(
            [
                shares.get(names[code], {}).get(to_text(document), np.nan)
                for code, document in zip(self.query.tolist(), self.documents, strict=True)
            ],
            dtype=np.float64,
        )
        return Qrels(
            self.queries,
            self.begin,
            self.end,
            self.documents,
            self.grades,
            known=self.known,
            subtopics=self.subtopics,
            inclusion=inclusion,
            hashes=self._hashes,
            source=self.source,
            remarks=self.remarks,
        )

    def by_subtopic(self) -> dict[str, dict[str, dict[str, float]]] | None:
        """Give `{query: {subtopic: {document: grade}}}`, or None where there are no subtopics."""
        if self.subtopics is None:
            return None
        found: dict[str, dict[str, dict[str, float]]] = {query: {} for query in self.queries}
        queries, subtopics = list(self.queries), list(self.subtopics.names)
        names = list(self.documents)
        for row, code, grade in zip(
            self.subtopics.row.tolist(),
            self.subtopics.code.tolist(),
            self.subtopics.grades.tolist(),
            strict=True,
        ):
            of_query = found[queries[self.query[row]]]
            of_query.setdefault(subtopics[code], {})[to_text(names[row])] = _number(grade)
        return found

    def shares(self) -> dict[str, dict[str, float]] | None:
        """Give `{query: {document: probability}}` of what has one, or None where none is known."""
        if self.inclusion is None:
            return None
        found: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        names = list(self.queries)
        for query, name, share in zip(
            self.query.tolist(), self.documents, self.inclusion.tolist(), strict=True
        ):
            if share == share:  # noqa: PLR0124  # not NaN
                found[names[query]][to_text(name)] = share
        return found

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Give `{query: {document: grade}}`; whole grades are integers."""
        found: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        names = list(self.queries)
        for query, name, grade in zip(self.query.tolist(), self.documents, self.grades.tolist(), strict=True):
            found[names[query]][to_text(name)] = _number(grade)
        return found


def _number(grade: float) -> float:
    """Give a whole grade as an integer."""
    return int(grade) if grade == int(grade) else grade
