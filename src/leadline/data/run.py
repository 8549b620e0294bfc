"""Run: what one system retrieved for each query, best first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers, freeze
from leadline.data.ids import Vocabulary, coded_rows, to_text
from leadline.data.reading import ReadRunOptions
from leadline.data.result import pandas_frame, polars_frame
from leadline.data.validation import check_run_name
from leadline.data.wording import counted, queries
from leadline.errors import InputError, UnknownIdError

if TYPE_CHECKING:
    from leadline.io.read import RunLike


class Run:
    """The ranked lists of one system, by query.

    Lists are ordered by falling score, ties by falling bytes of the document id. Ids are text here, and
    bytes in the columns that measures use: rows of one query stand together, best first; `scores[i]` is the
    score of row i, `documents.names[document[i]]` its document, `offsets[q]:offsets[q + 1]` are the rows of
    query q of `queries`. A rank is a position and is not stored.

    Parameters
    ----------
    data : path, dict, data frame, iterable of rows, or Run
        A file of any format; `{query: {document: score}}`, or `{query: [document, ...]}` best first; a
        pandas, polars or Arrow table; rows of (query, document, score), named tuples or dictionaries.
    name : str, optional
        Name of the run. By default that of the file, and `run` for what has no name.
    order : {"score", "rank"}
        What orders a list: the score, or the rank column.
    on_duplicate : {"refuse", "first", "last", "max", "hold"}
        What is done with a document that a list names twice.
    on_nan : {"refuse", "drop"}
        What is done with a score that is not a number.
    integer_ids : {"refuse", "text"}
        What is done with ids that are whole numbers: refuse them, or read 7 as "7".

    Raises
    ------
    InputError
        If the data cannot be read as a run; the message says where.

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
    documents: Vocabulary
    document: Codes
    scores: Floats
    name: str
    tag: str

    def __init__(self, data: RunLike, *, name: str | None = None, **options: Unpack[ReadRunOptions]) -> None:
        from leadline.io.read import read_run  # the one import upward: see tests/test_structure.py

        made = read_run(data, name=name, **options)
        vars(self).update(vars(made))

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
        """Return the run of columns that are in order; nothing is checked or copied.

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
            Name of the run, and what its file says in the tag column.

        Returns
        -------
        Run
            A run that holds these columns, which become read-only.

        Examples
        --------
        >>> import numpy as np
        >>> queries, documents = Vocabulary(["q1"]), Vocabulary(["d1", "d2"])
        >>> ends, codes = np.array([0, 2]), np.array([1, 0], dtype=np.int32)
        >>> Run.of_columns(queries, ends, documents, codes, np.array([0.7, 0.5])).to_dict()
        {'q1': {'d2': 0.7, 'd1': 0.5}}
        """
        freeze(offsets, document, scores)
        made = cls.__new__(cls)
        made.queries = queries
        made.offsets = offsets
        made.documents = documents
        made.document = document
        made.scores = scores
        made.name = name
        made.tag = tag
        return made

    @classmethod
    def of(
        cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, name: str = "", tag: str = ""
    ) -> Run:
        """Return the run of (query, document, score) rows, with ids as text or bytes.

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
        ids, scores = coded_rows(rows, "score", name)
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
            A run that shares the columns of this one.

        Examples
        --------
        >>> Run({"q1": ["d1", "d2"]}, name="a").renamed("b")
        Run('b', 1 query, 2 documents)
        """
        check_run_name(name)
        return Run.of_columns(
            self.queries, self.offsets, self.documents, self.document, self.scores, name=name, tag=self.tag
        )

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the query ids, in the order of their bytes."""
        return iter(self.queries)

    def keys(self) -> Iterator[str]:
        """Iterate over the query ids: what `dict` needs to make a dictionary of the run."""
        return iter(self)

    def __contains__(self, query: object) -> bool:
        """Return whether the run has a list for a query."""
        return self.queries.find(query) is not None

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return the list of a query as `{document: score}`, best first."""
        code = self.queries.find(query)
        if code is None:
            raise UnknownIdError(query, self.queries, f"in run '{self.name or self.tag}'")
        rows = slice(int(self.offsets[code]), int(self.offsets[code + 1]))
        names = self.documents
        return {
            names[document]: score
            for document, score in zip(self.document[rows].tolist(), self.scores[rows].tolist(), strict=True)
        }

    def __repr__(self) -> str:
        size = f"{queries(len(self.queries))}, {counted(len(self.scores), 'document')}"
        return f"Run({self.name or self.tag!r}, {size})"

    def __eq__(self, other: object) -> bool:
        """Return whether another run has the same lists with the same scores; names do not matter."""
        if not isinstance(other, Run):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not for dictionaries

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: score}}`, each list best first.

        Returns
        -------
        dict
            A dictionary that `Run` and `read_run` take.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_dict()
        {'q1': {'d2': 0.7, 'd1': 0.5}}
        """
        names = list(self.documents)
        bounds = self.offsets.tolist()
        documents, scores = self.document.tolist(), self.scores.tolist()
        return {
            query: {names[documents[row]]: scores[row] for row in range(bounds[code], bounds[code + 1])}
            for code, query in enumerate(self.queries)
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns query_id, doc_id and score as lists, rows by query and best first.

        Returns
        -------
        dict of list
            One list a column.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_columns()
        {'query_id': ['q1', 'q1'], 'doc_id': ['d2', 'd1'], 'score': [0.7, 0.5]}
        """
        names = list(self.documents)
        sizes = np.diff(self.offsets).tolist()
        return {
            "query_id": [query for query, size in zip(self.queries, sizes, strict=True) for _ in range(size)],
            "doc_id": [names[code] for code in self.document.tolist()],
            "score": self.scores.tolist(),
        }

    def to_pandas(self) -> Any:
        """Return a pandas frame with the columns query_id, doc_id and score.

        Returns
        -------
        pandas.DataFrame
            Rows by query, best first.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.

        Examples
        --------
        >>> print(Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_pandas())
          query_id doc_id  score
        0       q1     d2    0.7
        1       q1     d1    0.5
        """
        return pandas_frame(self.to_columns())

    def to_polars(self) -> Any:
        """Return a polars frame with the columns query_id, doc_id and score.

        Returns
        -------
        polars.DataFrame
            Rows by query, best first.

        Raises
        ------
        MissingPackageError
            If polars is not installed.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_polars().rows()
        [('q1', 'd2', 0.7), ('q1', 'd1', 0.5)]
        """
        return polars_frame(self.to_columns())

    def write(self, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
        """Write the run to a file, scores to full precision.

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
            If the run is empty, or the format cannot hold an id.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5}}, name="bm25").write("-")
        q1 Q0 d1 1 0.5 bm25
        """
        from leadline.io.write import write_run

        write_run(self, path, suffix=suffix)
