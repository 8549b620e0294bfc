"""Qrels: which documents were judged for which query, and the grade each got."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from leadline import kernels
from leadline.arrays import Codes, Flags, Floats, Hashes, Integers, freeze
from leadline.errors import InputError
from leadline.vocabulary import Ids, Vocabulary, to_text


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


class Qrels:
    """The judgments: a row is a judged document; rows of one query stand together.

    `queries` is the vocabulary of judged queries, `begin[q]:end[q]` are the rows of query q (so that a file
    need not be sorted), `documents` and `grades` the columns. A negative grade means pooled, not judged.

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
        hashes: Hashes | None = None,
        source: str = "",
    ) -> None:
        freeze(begin, end, grades)
        self.queries = queries
        self.begin = begin
        self.end = end
        self.documents = documents
        self.grades = grades
        self.known = known
        self.source = source
        self._hashes = hashes
        self._relevant: dict[float, Integers] = {}

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, bytes, float]], *, source: str = "") -> Qrels:
        """Make qrels from (query, document, grade) rows; refuses a document judged twice."""
        rows = list(rows)
        queries = Vocabulary.of_bytes(row[0] for row in rows)
        codes = queries.encode(row[0] for row in rows)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(queries) + 1)).astype(np.int64)
        documents = Ids.of(row[1] for row in rows).take(order)
        grades = np.array([row[2] for row in rows], dtype=np.float64)[order]
        made = cls(queries, bounds[:-1], bounds[1:], documents, grades, source=source)
        made.refuse_repeats()
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
        for seen, low, high in zip(
            self.lookup, self.begin.tolist(), self.end.tolist(), strict=True
        ):
            if len(seen) < high - low:
                first = next(row for row in range(low, high) if seen[self.documents[row]] != row)
                return first, seen[self.documents[first]]
        return None

    def __len__(self) -> int:
        return len(self.grades)

    def __repr__(self) -> str:
        return f"Qrels({len(self.queries)} queries, {len(self)} judgments)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Qrels) or self.queries != other.queries or len(self) != len(other):
            return NotImplemented if not isinstance(other, Qrels) else False
        return self.to_dict() == other.to_dict()

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
            self.queries, before[self.begin], before[self.end], self.documents.take(rows),
            self.grades[rows], known=None if self.known is None else self.known[rows],
            source=self.source,
        )  # fmt: skip

    def with_known(self, known: dict[bytes, set[bytes]]) -> Qrels:
        """Give the same qrels knowing which documents the user knew before, by query."""
        names = [self.queries.names[code] for code in self.query.tolist()]
        flags = np.array(
            [
                name in known.get(query, ())
                for query, name in zip(names, self.documents, strict=True)
            ],
            dtype=np.bool_,
        )
        return Qrels(
            self.queries, self.begin, self.end, self.documents, self.grades, known=flags,
            hashes=self._hashes, source=self.source,
        )  # fmt: skip

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Give `{query: {document: grade}}`; whole grades are integers."""
        found: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        names = list(self.queries)
        for query, name, grade in zip(
            self.query.tolist(), self.documents, self.grades.tolist(), strict=True
        ):
            found[names[query]][to_text(name)] = int(grade) if grade == int(grade) else grade
        return found
