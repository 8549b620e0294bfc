"""Run: the ranked lists of one system."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers, freeze
from leadline.data.ids import Ids, QueryTable, Vocabulary, encode_rows, to_text
from leadline.data.reading import RunOptions
from leadline.data.validation import check_run_name
from leadline.data.wording import counted, queries
from leadline.errors import InputError, UnknownIdError

if TYPE_CHECKING:
    from leadline.io.read import Hits, RunLike


class Run(QueryTable):
    """The ranked lists of one system, by query.

    Lists are in decreasing order of score, ties in decreasing byte order of the document id, as in trec_eval.
    Methods take and return ids as strings; columns hold them as bytes. The rows of a query are contiguous
    and in rank order: `offsets[q]:offsets[q + 1]` are the rows of query q of `queries`, `scores[i]` is the
    score of row i and `ids[i]` its document, also `documents.names[document[i]]`. Ranks are implied by the
    order.

    Parameters
    ----------
    data : path, dict, data frame, iterable of rows, or Run
        A file of any format; `{query: {document: score}}`, or `{query: [document, ...]}` best first; a
        pandas, polars or Arrow table; rows of (query, document, score), named tuples or dictionaries. Lists
        may hold (document, score) pairs, or objects or dictionaries with an id and a score.
    queries : sequence of str, optional
        Ids of the queries, where the data are lists in their order, as `semantic_search` of
        sentence-transformers returns them.
    documents : sequence of str, optional
        Ids of the indexed documents, where such lists hold positions.
    name : str, optional
        Name of the run; by default that of the file, or `run` for other data.
    order : {"score", "rank"}
        Column that determines the order of a list.
    on_duplicate : {"refuse", "first", "last", "max", "hold"}
        Treatment of a document that occurs twice in a list.
    on_nan : {"refuse", "drop"}
        Treatment of a score that is NaN.

    Raises
    ------
    InputError
        If the data cannot be read as a run; the message gives the location.

    Examples
    --------
    >>> run = Run({"q1": {"d1": 0.5, "d2": 0.7}}, name="bm25")
    >>> run
    Run('bm25', 1 query, 2 documents)
    >>> run["q1"]
    {'d2': 0.7, 'd1': 0.5}
    >>> list(run), "q1" in run, len(run)
    (['q1'], True, 1)
    """

    queries: Vocabulary
    offsets: Integers
    scores: Floats
    sources: tuple[str, ...] = ()  # files that were read for it; they are not written over
    name: str
    tag: str

    def __init__(
        self,
        data: RunLike | Hits,
        *,
        name: str | None = None,
        queries: Sequence[Any] | None = None,
        documents: Sequence[str] | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        from leadline.io.read import read_run  # imported from a higher layer: see tests/test_structure.py

        read = read_run(data, name=name, queries=queries, documents=documents, **options)
        vars(self).update(vars(read))

    @classmethod
    def of_columns(
        cls,
        queries: Vocabulary,
        offsets: Integers,
        documents: Vocabulary,
        document: Codes,
        scores: Floats,
        *,
        name: str = "",
        tag: str = "",
    ) -> Run:
        """Return the run with these columns, in order, without checks or copies.

        Parameters
        ----------
        queries, documents : Vocabulary
            Ids of the queries and of the documents.
        offsets : ndarray of int64, shape (n_queries + 1,)
            First row of each list, and the end of the last.
        document : ndarray of int32
            Code of the document of each row.
        scores : ndarray of float64
            Score of each row.
        name, tag : str
            Name of the run, and the tag in its file.

        Returns
        -------
        Run
            Run that shares these columns, which become read-only.

        Examples
        --------
        >>> import numpy as np
        >>> queries, documents = Vocabulary(["q1"]), Vocabulary(["d1", "d2"])
        >>> ends, codes = np.array([0, 2]), np.array([1, 0], dtype=np.int32)
        >>> Run.of_columns(queries, ends, documents, codes, np.array([0.7, 0.5])).to_dict()
        {'q1': {'d2': 0.7, 'd1': 0.5}}
        """
        freeze(offsets, document, scores)
        run = cls._of_lists(queries, offsets, scores, name, tag)
        vars(run).update(documents=documents, document=document)
        return run

    @classmethod
    def of_ids(
        cls, queries: Vocabulary, offsets: Integers, ids: Ids, scores: Floats, *, name: str, tag: str
    ) -> Run:
        """Return the run with these columns, as `of_columns`; documents are coded where codes are asked for.

        >>> ends, names = np.array([0, 2]), Ids.of([b"d2", b"d1"])
        >>> run = Run.of_ids(Vocabulary(["q1"]), ends, names, np.array([0.7, 0.5]), name="", tag="")
        >>> run.to_dict(), run.document.tolist()
        ({'q1': {'d2': 0.7, 'd1': 0.5}}, [1, 0])
        """
        freeze(offsets, scores)
        run = cls._of_lists(queries, offsets, scores, name, tag)
        vars(run).update(ids=ids)
        return run

    @classmethod
    def _of_lists(cls, queries: Vocabulary, offsets: Integers, scores: Floats, name: str, tag: str) -> Run:
        run = cls.__new__(cls)
        run.queries = queries
        run.offsets = offsets
        run.scores = scores
        run.name = name
        run.tag = tag
        return run

    @cached_property
    def ids(self) -> Ids:
        """Document of each row."""
        return Ids.of(self.documents.names).take(self.document.astype(np.int64))

    @cached_property
    def _coded(self) -> tuple[Vocabulary, Codes]:
        documents, document = self.ids.coded()
        freeze(document)
        return documents, document

    @cached_property
    def documents(self) -> Vocabulary:
        """Ids of all documents."""
        return self._coded[0]

    @cached_property
    def document(self) -> Codes:
        """Code of the document of each row in `documents`."""
        return self._coded[1]

    @classmethod
    def of(
        cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, name: str = "", tag: str = ""
    ) -> Run:
        """Return the run of (query, document, score) rows, with ids as strings or bytes.

        Parameters
        ----------
        rows : iterable of tuple
            Query, document and score, in any order.
        name, tag : str
            Name of the run, and its tag.

        Returns
        -------
        Run
            The lists, ordered by score.

        Raises
        ------
        InputError
            If a row is not of this form, a score is NaN, or a list names a document twice.

        Examples
        --------
        >>> Run.of([(b"q1", b"d1", 0.5), (b"q1", b"d2", 0.5)], name="tied").to_dict()
        {'q1': {'d2': 0.5, 'd1': 0.5}}
        """
        ids, scores = encode_rows(rows, "score", name)
        queries = Vocabulary.of_bytes(row[0] for row in ids)
        documents = Vocabulary.of_bytes(row[1] for row in ids)
        query = queries.encode(row[0] for row in ids)
        document = documents.encode(row[1] for row in ids)
        for row in np.flatnonzero(np.isnan(scores))[:1]:
            raise InputError(
                f"document '{to_text(ids[row][1])}' of query '{to_text(ids[row][0])}' has score NaN",
                expected="a number",
                path=name,
            )
        pairs, counts = np.unique(query * (len(documents) + 1) + document, return_counts=True)
        for pair in pairs[counts > 1][:1]:
            raise InputError(
                f"document '{documents[int(pair) % (len(documents) + 1)]}' appears twice for query "
                f"'{queries[int(pair) // (len(documents) + 1)]}'",
                expected="each once",
                path=name,
            )
        order = np.lexsort((-document, -scores, query))
        offsets = np.searchsorted(query[order], np.arange(len(queries) + 1)).astype(np.int64)
        return cls.of_columns(
            queries, offsets, documents, document[order].astype(np.int32), scores[order], name=name, tag=tag
        )

    def renamed(self, name: str) -> Run:
        """Return the same run under another name.

        Parameters
        ----------
        name : str
            The new name.

        Returns
        -------
        Run
            Run that shares the columns of this one.

        Examples
        --------
        >>> Run({"q1": ["d1", "d2"]}, name="a").renamed("b")
        Run('b', 1 query, 2 documents)
        """
        check_run_name(name)
        run = copy(self)
        run.name = name
        return run

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return the list of a query as `{document: score}` in rank order."""
        code = self.queries.find(query)
        if code is None:
            raise UnknownIdError(query, self.queries, f"in run '{self.name or self.tag}'")
        rows = slice(int(self.offsets[code]), int(self.offsets[code + 1]))
        names = self.ids.take(np.arange(rows.start, rows.stop)).texts()
        return dict(zip(names, self.scores[rows].tolist(), strict=True))

    def __repr__(self) -> str:
        size = f"{queries(len(self.queries))}, {counted(len(self.scores), 'document')}"
        return f"Run({self.name or self.tag!r}, {size})"

    def __eq__(self, other: object) -> bool:
        """Return whether lists and scores are equal; names may differ."""
        if not isinstance(other, Run):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # mutable, and equal by content

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: score}}`, each list in rank order.

        Returns
        -------
        dict
            Lists in a form accepted by `Run`.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_dict()
        {'q1': {'d2': 0.7, 'd1': 0.5}}
        """
        names, scores, bounds = self.ids.texts(), self.scores.tolist(), self.offsets.tolist()
        return {
            query: dict(zip(names[low:high], scores[low:high], strict=True))
            for query, low, high in zip(self.queries, bounds[:-1], bounds[1:], strict=True)
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns query_id, doc_id and score as lists, ordered by query and rank.

        Returns
        -------
        dict of list
            Columns by name.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_columns()
        {'query_id': ['q1', 'q1'], 'doc_id': ['d2', 'd1'], 'score': [0.7, 0.5]}
        """
        sizes = np.diff(self.offsets).tolist()
        return {
            "query_id": [query for query, size in zip(self.queries, sizes, strict=True) for _ in range(size)],
            "doc_id": self.ids.texts(),
            "score": self.scores.tolist(),
        }

    def write(self, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
        """Write the run to a file, with scores in full precision.

        Parameters
        ----------
        path : path
            File whose suffixes give format and compression: .json .jsonl .csv .tsv .parquet .arrow, with
            .gz .bz2 .xz .zst; TREC format for any other. `-` is standard output.
        suffix : str, optional
            Suffix of the format, as in ".csv", if it differs from that of the path.

        Raises
        ------
        InputError
            If the run is empty or the format cannot represent an id.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5}}, name="bm25").write("-")
        q1 Q0 d1 1 0.5 bm25
        """
        from leadline.io.write import write_run

        write_run(self, path, suffix=suffix)
