"""Qrels: relevance judgments by query, and by subtopic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Flags, Floats, Hashes, Integers, Small, freeze
from leadline.data.ids import Ids, QueryTable, Slots, Vocabulary, encode_rows, slots_of, to_text
from leadline.data.judgment_tables import DrawnPool, Ideal, Subtopics, digest_of_rows
from leadline.data.table import DRAWN_POOL, MACHINE_LABELS, MERGED, PART_JUDGED
from leadline.data.wording import counted, queries
from leadline.errors import InputError, UnknownIdError, repeated


class QrelsColumns(QueryTable):
    """Relevance judgments by query: the columns of `Qrels`, which describes them and reads files."""

    queries: Vocabulary
    begin: Integers
    end: Integers
    documents: Ids
    levels: Floats | Small
    known: Flags | None
    subtopics: Subtopics | None
    inclusion: Floats | None
    pool: DrawnPool | None = None  # that these were drawn from, with all its queries; None if unknown
    selected: frozenset[str] | None = None  # ids of the selected queries; None if they are all
    strata: Codes | None = None  # stratum of each row within its query, for a stratified sample
    votes: Mapping[str, Mapping[str, Sequence[float]]] = {}  # unlike grades by query and document
    hashes: Hashes | None  # hashes of the documents, for the compiled kernels
    source: str
    sources: tuple[str, ...] = ()  # files read for these judgments; they are not overwritten
    remarks: tuple[tuple[str, str, int], ...]  # code, message and count of warnings about the judgments

    @classmethod
    def of_columns(
        cls,
        queries: Vocabulary,
        begin: Integers,
        end: Integers,
        documents: Ids,
        grades: Floats | Small,
        *,
        known: Flags | None = None,
        subtopics: Subtopics | None = None,
        inclusion: Floats | None = None,
        hashes: Hashes | None = None,
        slots: Slots | None = None,
        source: str = "",
        remarks: tuple[tuple[str, str, int], ...] = (),
    ) -> Self:
        """Return the qrels with these columns, which become read-only, without checks or copies.

        With `slots`, the tables for the compiled kernels, no document may be judged twice for a query.

        >>> import numpy as np
        >>> rows, names, grades = np.array([0, 2]), Ids.of([b"d1", b"d2"]), np.array([1.0, 0.0])
        >>> QrelsColumns.of_columns(Vocabulary(["q1"]), rows[:1], rows[1:], names, grades).to_dict()
        {'q1': {'d1': 1, 'd2': 0}}
        """
        freeze(begin, end, grades, *(() if inclusion is None else (inclusion,)))
        qrels = cls.__new__(cls)
        qrels.queries, qrels.begin, qrels.end = queries, begin, end
        qrels.documents, qrels.levels, qrels.known = documents, grades, known
        qrels.subtopics, qrels.inclusion, qrels.hashes = subtopics, inclusion, hashes
        qrels.source, qrels.remarks = source, remarks
        if slots is not None:
            qrels._hash_tables = slots, None  # noqa: SLF001  # same class
        return qrels

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, source: str = "") -> Self:
        """Return the qrels of (query, document, grade) rows, with ids as strings or bytes.

        >>> QrelsColumns.of([(b"q1", b"d1", 1.0), (b"q1", b"d2", 0.0)]).relevant(1.0)
        array([1])
        """
        ids, grades = encode_rows(rows, "grade", source)
        queries = Vocabulary.of_bytes(row[0] for row in ids)
        codes = queries.encode(row[0] for row in ids)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(queries) + 1)).astype(np.int64)
        documents = Ids.of(row[1] for row in ids).take(order)
        qrels = cls.of_columns(queries, bounds[:-1], bounds[1:], documents, grades[order], source=source)
        qrels.refuse_duplicates()
        return qrels

    @classmethod
    def of_subtopics(
        cls, judgments: Mapping[tuple[bytes, bytes], Mapping[bytes, float]], *, source: str = ""
    ) -> Self:
        """Return the qrels of grades by subtopic for every (query, document).

        >>> QrelsColumns.of_subtopics({(b"q1", b"d1"): {b"s1": 1.0, b"s2": 2.0}}).grades
        array([2.])
        """
        ordered = sorted(judgments.items(), key=lambda item: item[0][0])
        qrels = cls.of(
            ((query, name, max(grades.values(), default=0.0)) for (query, name), grades in ordered),
            source=source,
        )
        names = Vocabulary.of_bytes(subtopic for _, grades in ordered for subtopic in grades)
        rows = [
            (row, names.codes[subtopic], grade)
            for row, (_, grades) in enumerate(ordered)
            for subtopic, grade in sorted(grades.items())
        ]
        qrels.subtopics = Subtopics(
            names,
            np.array([row for row, _, _ in rows], dtype=np.int32),
            np.array([code for _, code, _ in rows], dtype=np.int32),
            np.array([grade for _, _, grade in rows], dtype=np.float64),
            documents=len(qrels.grades),
        )
        return qrels

    def refuse_duplicates(self) -> None:
        """Raise InputError if a document is judged twice for a query."""
        pair = self.duplicate
        if pair is not None:
            document, query = to_text(self.documents[pair[1]]), self.queries[int(self.query[pair[1]])]
            raise repeated(
                f"document '{document}'", verb="is judged", of=f"query '{query}'", path=self.source
            )

    @property
    def duplicate(self) -> tuple[int, int] | None:
        """Two rows with the same query and document; None if there are none."""
        if kernels.compiled is not None:
            return self._hash_tables[1]
        for row_of, low, high in zip(self.lookup, self.begin.tolist(), self.end.tolist(), strict=True):
            if len(row_of) < high - low:
                seen: dict[bytes, int] = {}
                for row in range(low, high):
                    if (first := seen.setdefault(self.documents[row], row)) != row:
                        return first, row
        return None

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return the judgments of a query as `{document: grade}`; integral grades are of type int."""
        code = self.queries.find(query)
        if code is None:
            raise UnknownIdError(query, self.queries, self._inside)
        return {
            to_text(self.documents[row]): _number(float(self.grades[row]))
            for row in range(int(self.begin[code]), int(self.end[code]))
        }

    @property
    def _inside(self) -> str:
        """Where a query was looked for: the file, if there is one."""
        return "in the qrels" if self.source in ("", "qrels") else f"in {self.source}"

    def __repr__(self) -> str:
        size = f"{queries(len(self.queries))}, {counted(len(self.grades), 'judgment')}"
        if self.subtopics is not None:
            size += f", {counted(len(self.subtopics.names), 'subtopic')}"
        return f"Qrels({size})"

    def __eq__(self, other: object) -> bool:
        """Return whether judgments, subtopics and inclusion probabilities are equal."""
        if not isinstance(other, QrelsColumns):
            return NotImplemented
        if self.queries != other.queries or len(self.documents) != len(other.documents):
            return False
        contents = (QrelsColumns.to_dict, QrelsColumns.by_subtopic, QrelsColumns.inclusion_probabilities)
        return self.votes == other.votes and all(content(self) == content(other) for content in contents)

    __hash__ = None  # type: ignore[assignment]  # mutable, and equal by content

    @cached_property
    def grades(self) -> Floats:
        """Grade of every row."""
        grades = self.levels.astype(np.float64, copy=False)
        freeze(grades)
        return grades

    @property
    def is_sample(self) -> bool:
        """Whether these are a sample: from the store of a drawn pool, or with a probability below 1."""
        drawn = self.inclusion is not None and bool((self.inclusion < 1).any())
        return drawn or self.pool is not None or any(code == DRAWN_POOL for code, _, _ in self.remarks)

    @property
    def is_partial(self) -> bool:
        """Whether these are a sample of any kind, including a stratified one."""
        return self.is_sample or self.strata is not None

    @property
    def by_machine(self) -> bool:
        """Whether some of these are marked as labels by an automatic judge."""
        return any(code == MACHINE_LABELS for code, _, _ in self.remarks)

    def refuse_part_judged(self) -> None:
        """Raise InputError for a sample with pairs that have no grade yet, which rows of judgments lack."""
        stored = any(code == DRAWN_POOL for code, _, _ in self.remarks)
        to_csv = "To keep all pairs, use `leadline judge --store STORE --export FILE.csv`"
        for code, _, count in self.remarks:
            if code == PART_JUDGED:
                raise InputError(
                    f"the sample has {counted(count, 'pair')} without a grade, and leaving out ungraded "
                    "pairs would make the inclusion probabilities wrong",
                    path=self.source,
                    hint=to_csv if stored else "Judge every pair first, or use the sample as it is",
                )

    @cached_property
    def query(self) -> Codes:
        """Query code of every row."""
        order = np.argsort(self.begin, kind="stable").astype(np.int32)
        return np.repeat(order, (self.end - self.begin)[order])

    @cached_property
    def lookup(self) -> list[dict[bytes, int]]:
        """Row of each judged document, per query, for the uncompiled kernels."""
        names = list(self.documents)
        return [
            dict(zip(names[low:high], range(low, high), strict=True))
            for low, high in zip(self.begin.tolist(), self.end.tolist(), strict=True)
        ]

    @cached_property
    def names(self) -> list[list[str]]:
        """Ids of the judged documents as strings, per query, for runs in dictionaries."""
        names = list(map(to_text, self.documents))
        return [names[low:high] for low, high in zip(self.begin.tolist(), self.end.tolist(), strict=True)]

    @property
    def slots(self) -> Slots:
        """Hash tables for the compiled kernels."""
        return self._hash_tables[0]

    @cached_property
    def _hash_tables(self) -> tuple[Slots, tuple[int, int] | None]:
        hashes, self.hashes = self.hashes, None  # the tables hold what is needed of them
        return slots_of(self.documents, self.begin, self.end, hashes)

    @cached_property
    def _relevant(self) -> dict[float, Integers]:
        """Results of `relevant` by minimum grade."""
        return {}

    def relevant(self, rel: float) -> Integers:
        """Return the number of documents of grade `rel` or more per query."""
        if rel not in self._relevant:
            self._relevant[rel] = self.count(self.levels >= rel)
        return self._relevant[rel]

    def count(self, chosen: Flags) -> Integers:
        """Return the number of chosen rows per query."""
        rows = np.flatnonzero(chosen)
        counts: Integers = np.searchsorted(rows, self.end) - np.searchsorted(rows, self.begin)
        return counts

    @cached_property
    def ideal(self) -> Ideal:
        """Judged documents with a positive grade, in decreasing order of grade within each query."""
        return Ideal.of(self.levels, self.begin, self.end)

    def keep(self, chosen: Flags) -> Self:
        """Return the qrels of the chosen rows; all queries are kept."""
        before = np.concatenate(([0], np.cumsum(chosen))).astype(np.int64)
        return self._of_rows(np.flatnonzero(chosen), self.queries, before[self.begin], before[self.end])

    def _of_rows(self, rows: Integers, queries: Vocabulary, begin: Integers, end: Integers) -> Self:
        """Return the qrels of some rows, which are those of other queries from begin to end."""
        qrels = self.of_columns(
            queries,
            begin,
            end,
            self.documents.take(rows),
            self.levels[rows],
            known=None if self.known is None else self.known[rows],
            subtopics=None if self.subtopics is None else self.subtopics.take(rows),
            inclusion=None if self.inclusion is None else self.inclusion[rows],
            hashes=None if self.hashes is None else self.hashes[rows],
            source=self.source,
            remarks=self.remarks,
        )
        qrels.sources, qrels.strata = self.sources, None if self.strata is None else self.strata[rows]
        qrels.votes, qrels.pool, qrels.selected = self.votes, self.pool, self.selected
        return qrels

    @cached_property
    def highest_grade(self) -> float:
        """Highest grade, at least 0; `of_queries` keeps that of all queries, on which some values depend."""
        return float(self.levels.max(initial=0))

    def of_queries(self, queries: Iterable[str]) -> Self:
        """Return the judgments of some queries.

        Every measure has the values that it has with all queries.

        >>> import leadline as ll
        >>> ll.Qrels({"q1": {"d1": 1}, "q2": {"d1": 2}}).of_queries(["q2"]).to_dict()
        {'q2': {'d1': 2}}
        """
        codes = []
        for query in queries:
            code = self.queries.find(query)
            if code is None:
                raise UnknownIdError(query, self.queries, self._inside)
            codes.append(code)
        return self.of_codes(np.unique(np.array(codes, dtype=np.int64)))

    def of_codes(self, codes: Integers) -> Self:
        """Return the judgments of queries given by their codes, which must be in increasing order."""
        sizes = (self.end - self.begin)[codes]
        ends = np.cumsum(sizes, dtype=np.int64)
        rows = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.begin[codes] - ends + sizes, sizes)
        queries = Vocabulary.of_sorted(self.queries.names[code] for code in codes.tolist())
        qrels = self._of_rows(rows, queries, ends - sizes, ends)
        qrels.highest_grade = self.highest_grade
        kept = frozenset(qrels.queries)
        qrels.selected = kept if self.selected is None else self.selected & kept
        return qrels

    @cached_property
    def digest(self) -> str:
        """SHA-256 of queries, documents, grades and what else is known of them, in any order of the rows."""
        return self.digest_with(self.known, self.inclusion, self.strata)

    def digest_with(self, *columns: np.ndarray[Any, Any] | None) -> str:
        """Return the SHA-256 of queries, documents, grades and columns, in any order of the rows."""
        return digest_of_rows(self, columns)

    @property
    def remarks_by_judge(self) -> tuple[tuple[str, str, int], ...]:
        """Remarks where every judge of a pair counts, and not only one merged grade."""
        number = sum(map(len, self.votes.values()))
        unlike = f"{number:,} with different grades (values are means over the judges)"
        return tuple(
            (
                code,
                f"{counted(count, 'pair')} with several judges, {unlike}" if code == MERGED else words,
                count,
            )
            for code, words, count in self.remarks
        )

    def with_known(self, known: dict[bytes, set[bytes]]) -> Self:
        """Return the same qrels with the documents that the user knew before the search, by query."""
        names = [self.queries.names[code] for code in self.query.tolist()]
        qrels = copy(self)
        qrels.known = np.array(
            [name in known.get(query, ()) for query, name in zip(names, self.documents, strict=True)],
            dtype=np.bool_,
        )
        return qrels

    def with_one_subtopic(self) -> Self:
        """Return the same qrels with all judgments for a single subtopic."""
        rows = np.arange(len(self.grades), dtype=np.int32)
        qrels = copy(self)
        qrels.subtopics = Subtopics(
            Vocabulary(["1"]), rows, np.zeros_like(rows), self.grades, documents=len(self.grades)
        )
        return qrels

    def with_inclusion(self, probabilities: Mapping[str, Mapping[str, float]]) -> Self:
        """Return the same qrels with inclusion probabilities; NaN where none is given."""
        names, qrels = list(self.queries), copy(self)
        qrels.inclusion = np.array(
            [
                probabilities.get(names[code], {}).get(to_text(document), np.nan)
                for code, document in zip(self.query.tolist(), self.documents, strict=True)
            ],
            dtype=np.float64,
        )
        freeze(qrels.inclusion)
        return qrels

    def by_subtopic(self) -> dict[str, dict[str, dict[str, float]]] | None:
        """Return `{query: {subtopic: {document: grade}}}`; None without subtopics."""
        if self.subtopics is None:
            return None
        judgments: dict[str, dict[str, dict[str, float]]] = {query: {} for query in self.queries}
        queries, subtopics = list(self.queries), list(self.subtopics.names)
        names = list(self.documents)
        for row, code, grade in zip(
            self.subtopics.row.tolist(),
            self.subtopics.code.tolist(),
            self.subtopics.grades.tolist(),
            strict=True,
        ):
            by_subtopic = judgments[queries[self.query[row]]]
            by_subtopic.setdefault(subtopics[code], {})[to_text(names[row])] = _number(grade)
        return judgments

    def inclusion_probabilities(self) -> dict[str, dict[str, float]] | None:
        """Return the known inclusion probabilities, `{query: {document: probability}}`; None without any."""
        if self.inclusion is None:
            return None
        return self._by_query(None if math.isnan(share) else share for share in self.inclusion.tolist())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: grade}}`; integral grades are of type int.

        >>> import leadline as ll
        >>> ll.Qrels([("q1", "d1", 1.0), ("q2", "d1", 0.5)]).to_dict()
        {'q1': {'d1': 1}, 'q2': {'d1': 0.5}}
        """
        return self._by_query(map(_number, self.grades.tolist()))

    def _by_query(self, numbers: Iterable[float | None]) -> dict[str, dict[str, float]]:
        """Return numbers of all rows as `{query: {document: number}}`, those that are None left out."""
        found: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        names = list(self.queries)
        for query, document, number in zip(self.query.tolist(), self.documents, numbers, strict=True):
            if number is not None:
                found[names[query]][to_text(document)] = number
        return found

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns query_id, doc_id and relevance as lists, ordered by query.

        Qrels by subtopic have the column subtopic and a row for each subtopic of a document. Qrels with
        inclusion probabilities have the column probability (None where unknown).

        >>> import leadline as ll
        >>> ll.Qrels({"q1": {"d1": 1, "d2": 0}}).to_columns()
        {'query_id': ['q1', 'q1'], 'doc_id': ['d1', 'd2'], 'relevance': [1, 0]}
        """
        self.refuse_part_judged()
        order = np.concatenate(
            [
                np.empty(0, dtype=np.int64),
                *(np.arange(low, high) for low, high in zip(self.begin, self.end, strict=True)),
            ]
        )
        grades, subtopic = self.grades[order], None
        if self.subtopics is not None:
            judgments, index = self.subtopics.of_rows(order)
            order, grades = order[index], self.subtopics.grades[judgments]
            subtopic = [self.subtopics.names[code] for code in self.subtopics.code[judgments].tolist()]
        names = list(self.queries)
        columns: dict[str, list[Any]] = {
            "query_id": [names[code] for code in self.query[order].tolist()],
            "doc_id": [to_text(name) for name in self.documents.take(order)],
            "relevance": (grades.astype(np.int64) if (grades == np.trunc(grades)).all() else grades).tolist(),
        }
        if subtopic is not None:
            columns["subtopic"] = subtopic
        if self.inclusion is not None:
            probabilities = self.inclusion[order].tolist()
            columns["probability"] = [None if math.isnan(value) else value for value in probabilities]
        return columns


def _number(grade: float) -> float:
    """Return a grade as int if it is integral."""
    return int(grade) if grade == int(grade) else grade
