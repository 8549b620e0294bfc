"""Qrels: which documents were judged for which query, and the grade each got."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Flags, Floats, Hashes, Integers, freeze
from leadline.data.ids import Ids, Vocabulary, coded_rows, to_text
from leadline.data.reading import ReadQrelsOptions
from leadline.data.result import pandas_frame, polars_frame
from leadline.data.subtopics import Subtopics
from leadline.data.wording import counted, queries
from leadline.errors import InputError, UnknownIdError

if TYPE_CHECKING:
    from leadline.io.read import QrelsLike


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
    """Relevance judgments: the grade of each judged document, by query.

    Ids are text here, and bytes in the columns that measures use: a row is a judged document, rows of one
    query stand together. `begin[q]:end[q]` are the rows of query q of `queries` (so that a file need not be
    sorted), `documents` and `grades` the columns. A negative grade means pooled, not judged. Where documents
    were judged by `subtopics`, the grade is the largest of a document. `inclusion` is the probability that a
    document had to be judged: NaN where it is unknown, None where all are.

    Parameters
    ----------
    data : path, dict, data frame, iterable of rows, or Qrels
        A file of any format; `{query: {document: grade}}`, with `subtopics`
        `{query: {subtopic: {document: grade}}}`; a pandas, polars or Arrow table; rows of (query, document,
        grade), named tuples or dictionaries.
    negative : {"nonrelevant", "unjudged"}
        What a negative grade means: a document that is not relevant, or one that was not judged.
    subtopics : bool
        Whether documents were judged by subtopic.
    kind : {"qrels"}, optional
        Reads as judgments what looks like a run.
    integer_ids : {"refuse", "text"}
        What is done with ids that are whole numbers: refuse them, or read 7 as "7".

    Raises
    ------
    InputError
        If the data cannot be read as judgments; the message says where.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1, "d2": 0}})
    >>> qrels
    Qrels(1 query, 2 judgments)
    >>> qrels["q1"]
    {'d1': 1, 'd2': 0}
    >>> list(qrels), "q1" in qrels, len(qrels)
    (['q1'], True, 1)
    """

    queries: Vocabulary
    begin: Integers
    end: Integers
    documents: Ids
    grades: Floats
    known: Flags | None
    subtopics: Subtopics | None
    inclusion: Floats | None
    strata: Codes | None = (
        None  # stratum of each row within its query, where judgments are a stratified sample
    )
    hashes: Hashes | None  # of the documents, for the compiled kernels
    source: str
    remarks: tuple[tuple[str, str, int], ...]  # code, words and count: what a reader of numbers should know

    def __init__(
        self, data: QrelsLike, *, kind: str | None = None, **options: Unpack[ReadQrelsOptions]
    ) -> None:
        from leadline.io.read import read_qrels  # the one import upward: see tests/test_structure.py

        made = read_qrels(data, kind=kind, **options)
        vars(self).update(vars(made))

    @classmethod
    def of_columns(
        cls,
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
    ) -> Qrels:
        """Return the qrels of columns; nothing is checked or copied.

        Parameters
        ----------
        queries : Vocabulary
            Ids of the queries.
        begin, end : ndarray of int64, shape (n_queries,)
            First row of each query, and the row after its last.
        documents : Ids
            Document of each row.
        grades : ndarray of float64
            Grade of each row.
        known : ndarray of bool, optional
            Whether the user knew the document before.
        subtopics : Subtopics, optional
            The judgments by subtopic.
        inclusion : ndarray of float64, optional
            Probability that the document had to be judged.
        hashes : ndarray of uint64, optional
            Hash of each document, where it is known already.
        source : str
            Name of the file.
        remarks : tuple of (code, message, count)
            What a reader of numbers made of these judgments should know.

        Returns
        -------
        Qrels
            Judgments that hold these columns, which become read-only.

        Examples
        --------
        >>> import numpy as np
        >>> rows, names, grades = np.array([0, 2]), Ids.of([b"d1", b"d2"]), np.array([1.0, 0.0])
        >>> Qrels.of_columns(Vocabulary(["q1"]), rows[:1], rows[1:], names, grades).to_dict()
        {'q1': {'d1': 1, 'd2': 0}}
        """
        freeze(begin, end, grades, *(() if inclusion is None else (inclusion,)))
        made = cls.__new__(cls)
        made.queries = queries
        made.begin = begin
        made.end = end
        made.documents = documents
        made.grades = grades
        made.known = known
        made.subtopics = subtopics
        made.inclusion = inclusion
        made.hashes = hashes
        made.source = source
        made.remarks = remarks
        return made

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, source: str = "") -> Qrels:
        """Return the qrels of (query, document, grade) rows, with ids as text or bytes.

        Parameters
        ----------
        rows : iterable of tuple
            Query, document and grade, in any order.
        source : str
            Name of the file, for messages.

        Returns
        -------
        Qrels
            The judgments.

        Raises
        ------
        InputError
            If a row is not of this form, or a document is judged twice for one query.

        Examples
        --------
        >>> Qrels.of([(b"q1", b"d1", 1.0), (b"q1", b"d2", 0.0)]).relevant(1.0)
        array([1])
        """
        ids, given = coded_rows(rows, "grade", source)
        queries = Vocabulary.of_bytes(row[0] for row in ids)
        codes = queries.encode(row[0] for row in ids)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(queries) + 1)).astype(np.int64)
        documents = Ids.of(row[1] for row in ids).take(order)
        made = cls.of_columns(queries, bounds[:-1], bounds[1:], documents, given[order], source=source)
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
            documents=len(made.grades),
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
        """Return two rows that judge the same document for the same query, if there are any."""
        if kernels.compiled is not None:
            return self._filled[1]
        for seen, low, high in zip(self.lookup, self.begin.tolist(), self.end.tolist(), strict=True):
            if len(seen) < high - low:
                first = next(row for row in range(low, high) if seen[self.documents[row]] != row)
                return first, seen[self.documents[first]]
        return None

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the query ids, in the order of their bytes."""
        return iter(self.queries)

    def keys(self) -> Iterator[str]:
        """Iterate over the query ids: what `dict` needs to make a dictionary of the qrels."""
        return iter(self)

    def __contains__(self, query: object) -> bool:
        """Return whether a query is among the judged ones."""
        return self.queries.find(query) is not None

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return the judgments of a query as `{document: grade}`; whole grades are integers."""
        code = self.queries.find(query)
        if code is None:
            raise UnknownIdError(query, self.queries, f"in the qrels{self.source and ' '}{self.source}")
        return {
            to_text(self.documents[row]): _number(float(self.grades[row]))
            for row in range(int(self.begin[code]), int(self.end[code]))
        }

    def __repr__(self) -> str:
        size = f"{queries(len(self.queries))}, {counted(len(self.grades), 'judgment')}"
        if self.subtopics is not None:
            size += f", {counted(len(self.subtopics.names), 'subtopic')}"
        return f"Qrels({size})"

    def __eq__(self, other: object) -> bool:
        """Return whether other qrels hold the same judgments, subtopics and probabilities."""
        if not isinstance(other, Qrels):
            return NotImplemented
        if self.queries != other.queries or len(self.grades) != len(other.grades):
            return False
        return all(part(self) == part(other) for part in (Qrels.to_dict, Qrels.by_subtopic, Qrels.shares))

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not for dictionaries

    @cached_property
    def query(self) -> Codes:
        """Return the query code of every row."""
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

    @cached_property
    def names(self) -> list[list[str]]:
        """Give, per query, the texts of the judged documents: for runs in dictionaries."""
        names = list(map(to_text, self.documents))
        return [names[low:high] for low, high in zip(self.begin.tolist(), self.end.tolist(), strict=True)]

    @property
    def slots(self) -> Slots:
        """Return the hash tables of the compiled kernels."""
        return self._filled[0]

    @cached_property
    def _filled(self) -> tuple[Slots, tuple[int, int] | None]:
        if kernels.compiled is None:
            raise RuntimeError("slots are for the compiled kernels")
        ids = self.documents
        if (hashes := self.hashes) is None:
            hashes = np.empty(len(self.grades), dtype=np.uint64)
            kernels.compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
        sizes = 2 ** np.ceil(np.log2(2 * (self.end - self.begin) + 1)).astype(np.int64)
        offset = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = np.zeros(int(offset[-1]), dtype=np.int32)
        twin = np.zeros(1, dtype=np.int64)
        again = kernels.compiled.fill_slots(
            ids.text, ids.start, ids.stop, hashes, self.begin, self.end, offset, rows, twin
        )
        return Slots(hashes, offset, rows), (int(twin[0]), again) if again >= 0 else None

    @cached_property
    def _relevant(self) -> dict[float, Integers]:
        """Return what `relevant` counted, by level."""
        return {}

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
        """Return the judged documents with a positive grade, the best first within each query."""
        rows = np.flatnonzero(self.grades > 0)
        rows = rows[np.lexsort((-self.grades[rows], self.query[rows]))]
        query = self.query[rows]
        first = np.searchsorted(query, np.arange(len(self.queries)))
        return Ideal(query, np.arange(len(rows)) - first[query] + 1, self.grades[rows])

    def keep(self, chosen: Flags) -> Qrels:
        """Return qrels of the chosen rows only; every query stays."""
        rows = np.flatnonzero(chosen)
        before = np.concatenate(([0], np.cumsum(chosen))).astype(np.int64)
        made = Qrels.of_columns(
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
        made.strata = None if self.strata is None else self.strata[rows]
        return made

    def only(self, code: int) -> Qrels:
        """Return the judgments of one query, without subtopics and known documents."""
        rows = np.arange(int(self.begin[code]), int(self.end[code]))
        made = Qrels.of_columns(
            Vocabulary([self.queries[code]]),
            np.array([0], dtype=np.int64),
            np.array([len(rows)], dtype=np.int64),
            self.documents.take(rows),
            self.grades[rows],
            inclusion=None if self.inclusion is None else self.inclusion[rows],
            source=self.source,
        )
        made.strata = None if self.strata is None else self.strata[rows]
        return made

    def with_known(self, known: dict[bytes, set[bytes]]) -> Qrels:
        """Return the same qrels knowing which documents the user knew before, by query."""
        names = [self.queries.names[code] for code in self.query.tolist()]
        flags = np.array(
            [name in known.get(query, ()) for query, name in zip(names, self.documents, strict=True)],
            dtype=np.bool_,
        )
        made = copy(self)
        made.known = flags
        return made

    def with_one_subtopic(self) -> Qrels:
        """Return the same qrels with one subtopic, which every judgment is for."""
        rows = np.arange(len(self.grades), dtype=np.int32)
        only = Subtopics(
            Vocabulary(["1"]), rows, np.zeros_like(rows), self.grades, documents=len(self.grades)
        )
        made = copy(self)
        made.subtopics = only
        return made

    def with_inclusion(self, shares: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Return the same qrels with the inclusion probability of each document; NaN where none is given."""
        names = list(self.queries)
        inclusion = np.array(
            [
                shares.get(names[code], {}).get(to_text(document), np.nan)
                for code, document in zip(self.query.tolist(), self.documents, strict=True)
            ],
            dtype=np.float64,
        )
        freeze(inclusion)
        made = copy(self)
        made.inclusion = inclusion
        return made

    def by_subtopic(self) -> dict[str, dict[str, dict[str, float]]] | None:
        """Return `{query: {subtopic: {document: grade}}}`, or None where there are no subtopics."""
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
        """Return `{query: {document: probability}}` of what has one, or None where none is known."""
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
        """Return `{query: {document: grade}}`; whole grades are integers.

        Returns
        -------
        dict
            A dictionary that `Qrels` and `read_qrels` take; `by_subtopic` gives one by subtopic.

        Examples
        --------
        >>> Qrels([("q1", "d1", 1.0), ("q2", "d1", 0.5)]).to_dict()
        {'q1': {'d1': 1}, 'q2': {'d1': 0.5}}
        """
        found: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        names = list(self.queries)
        for query, name, grade in zip(self.query.tolist(), self.documents, self.grades.tolist(), strict=True):
            found[names[query]][to_text(name)] = _number(grade)
        return found

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns query_id, doc_id and relevance as lists, rows by query.

        Qrels by subtopic have a row for each subtopic of a document, and the column subtopic; where inclusion
        probabilities are known there is the column probability (None where one is not).

        Returns
        -------
        dict of list
            One list a column.

        Examples
        --------
        >>> Qrels({"q1": {"d1": 1, "d2": 0}}).to_columns()
        {'query_id': ['q1', 'q1'], 'doc_id': ['d1', 'd2'], 'relevance': [1, 0]}
        """
        order = np.concatenate(
            [
                np.empty(0, dtype=np.int64),
                *(np.arange(low, high) for low, high in zip(self.begin, self.end, strict=True)),
            ]
        )
        grades, subtopic = self.grades[order], None
        if self.subtopics is not None:
            judgments, owner = self.subtopics.of_rows(order)
            order, grades = order[owner], self.subtopics.grades[judgments]
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
            shares = self.inclusion[order].tolist()
            columns["probability"] = [None if math.isnan(share) else share for share in shares]
        return columns

    def to_pandas(self) -> Any:
        """Return a pandas frame with the columns of `to_columns`.

        Returns
        -------
        pandas.DataFrame
            Columns query_id, doc_id, relevance, and subtopic and probability where there are any.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.

        Examples
        --------
        >>> print(Qrels({"q1": {"d1": 1, "d2": 0}}).to_pandas())
          query_id doc_id  relevance
        0       q1     d1          1
        1       q1     d2          0
        """
        return pandas_frame(self.to_columns())

    def to_polars(self) -> Any:
        """Return a polars frame with the columns of `to_columns`.

        Returns
        -------
        polars.DataFrame
            Columns query_id, doc_id, relevance, and subtopic and probability where there are any.

        Raises
        ------
        MissingPackageError
            If polars is not installed.

        Examples
        --------
        >>> Qrels({"q1": {"d1": 1, "d2": 0}}).to_polars().rows()
        [('q1', 'd1', 1), ('q1', 'd2', 0)]
        """
        return polars_frame(self.to_columns())

    def write(self, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
        """Write the judgments to a file, by subtopic where there are subtopics.

        Parameters
        ----------
        path : path
            Its suffix says format and compression: .json .jsonl .csv .tsv .parquet .arrow, with .gz .bz2 .xz
            .zst; any other means TREC. `-` is standard output.
        suffix : str, optional
            The format, where the suffix of the path does not say it, as in ".csv".

        Raises
        ------
        InputError
            If the format cannot hold an id.

        Examples
        --------
        >>> Qrels({"q1": {"d1": 1}}).write("-")
        q1 0 d1 1
        """
        from leadline.io.write import write_qrels

        write_qrels(self, path, suffix=suffix)


def _number(grade: float) -> float:
    """Return a whole grade as an integer."""
    return int(grade) if grade == int(grade) else grade
