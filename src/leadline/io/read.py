"""Input readers: files of any format, and Python objects."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from leadline.data.qrels import Qrels
from leadline.data.reading import DEFAULT_READING, Reading, ReadQrelsOptions, RunOptions
from leadline.data.run import Run
from leadline.data.validation import check_flags, check_run_name, check_word
from leadline.errors import InputError, UsageError
from leadline.io import row_checks, row_columns, selection, trec_qrels, trec_runs
from leadline.io.formats import TREC, Opened, opened, records_of
from leadline.io.joined_text import JoinConsumer
from leadline.io.opening import Buffers, first_bytes
from leadline.io.read_paths import public
from leadline.io.row_checks import machine_line, machine_remarks
from leadline.io.row_columns import Records, Table
from leadline.io.run_names import run_name
from leadline.io.trec_lists import ListConsumer
from leadline.io.trec_runs import ReadCounts

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


RunLike: TypeAlias = (
    "str | os.PathLike[str] | Run | Mapping[str, Mapping[str, float] | Sequence[str]] | IntoFrame "
    "| Iterable[tuple[Any, ...]] | Iterable[Mapping[str, Any]]"
)
QrelsLike: TypeAlias = (
    "str | os.PathLike[str] | Qrels | Mapping[str, Mapping[str, float]] | Mapping[str, Collection[str]] "
    "| Mapping[str, Mapping[str, Mapping[str, float]]] | IntoFrame | Iterable[tuple[Any, ...]] "
    "| Iterable[Mapping[str, Any]]"
)
Hits: TypeAlias = "Iterable[Iterable[Any]]"  # a list for each query
KnownLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Iterable[str]]"
EXPECTED = "a path, a dictionary, a data frame, or rows of (query, document, number)"
UNNAMED = "run"  # name of a run without one

__all__ = [
    "Buffers",
    "KnownLike",
    "QrelsLike",
    "ReadCounts",
    "RunLike",
    "counted_run",
    "is_ranked_lists",
    "is_row",
    "read_qrels",
    "read_run",
    "run_name",
    "run_of_arrays",
    "stream_lists",
]


@public
def read_qrels(source: QrelsLike, *, kind: str | None = None, **options: Unpack[ReadQrelsOptions]) -> Qrels:
    """Read judgments from a file of any format, a dictionary, a data frame or rows.

    A dictionary is `{query: {document: grade}}`, or `{query: [document, ...]}` (lists or sets) where all
    documents are relevant; rows are (query, document, grade) or named tuples; files are TREC, JSON, JSON
    Lines, CSV, TSV, Parquet, Arrow or the store of a judging page (several judges are merged by majority),
    and `ir_datasets:NAME` names a collection.

    A negative grade means pooled but not judged: gain 0, non-relevant in rank measures, no judgment in
    bpref and Judged. `negative="unjudged"` drops such documents. `subtopics` reads column 2
    of a file as subtopic (a dictionary is then `{query: {subtopic: {document: grade}}}`): a document is
    judged once for each, and its grade in measures without subtopics is the largest of them.

    What looks like a run is refused: a table with a column rank, tag, run_id or system, a file whose grades
    are mostly distinct fractions with some negative or above 10, four columns of which the third counts the
    ranks. `kind="qrels"` reads it as judgments. An id 7 is read as "7". `qrels_columns`
    names the columns of a text without a header, as in "query_id,doc_id,relevance". `queries_in` (a path, or
    ids) keeps the judgments of some queries.

    >>> read_qrels({"q1": {"d1": 1, "d2": 0}})
    Qrels(1 query, 2 judgments)
    """
    reading = Reading.of(read_qrels, options, ReadQrelsOptions)
    if kind is not None:
        check_word(("qrels",), kind=kind)
    return judgments_of(source, reading, sure=kind is not None)


def judgments_of(source: QrelsLike, reading: Reading, *, sure: bool = False) -> Qrels:
    """Read judgments from any supported source; what looks like a run is refused unless `sure`."""
    qrels = _qrels(source, reading, sure=sure)
    qrels = selection.selected_qrels(qrels, reading)
    if reading.negative == "unjudged" and (qrels.grades < 0).any():
        kept = qrels.keep(qrels.grades >= 0)
        if not len(kept.grades):
            raise InputError(
                "holds negative grades only",
                expected="a judgment with negative='unjudged'",
                path=qrels.source,
            )
        return kept
    return qrels


def _qrels(source: Any, reading: Reading, *, sure: bool) -> Qrels:
    subtopics = reading.subtopics
    if isinstance(source, Qrels):
        if subtopics and source.subtopics is None:
            raise UsageError("these qrels were read without subtopics; expected subtopics=True then")
        return source
    if isinstance(source, (str, os.PathLike)):
        machine = machine_line(first_bytes(os.fspath(source)))
        made = qrels_of(opened(os.fspath(source)), reading, sure=sure)
        if machine:
            made.remarks = (*made.remarks, *machine_remarks({f"machine: {machine}": len(made.grades)}))
        return made
    from leadline.io import python_inputs, swapped_arguments

    columns = None if subtopics else python_inputs.dictionary_columns(source)
    if columns is not None:
        return python_inputs.dictionary_qrels(columns, source="qrels")
    if not subtopics:
        swapped_arguments.refuse_runs(source)
    found = _records_in_memory(source, "grade", path="qrels", subtopics=subtopics)
    if not sure and row_columns.find(found.names, row_columns.GRADE) is None:
        swapped_arguments.refuse_columns(
            found.names, "qrels"
        )  # results merged with labels also serve as qrels
    return row_checks.qrels_by_subtopic(found) if subtopics else row_checks.qrels(found)


def qrels_of(source: Opened, reading: Reading = DEFAULT_READING, *, sure: bool = False) -> Qrels:
    """Return the judgments of an opened file; what looks like a run is refused unless `sure`."""
    subtopics = reading.subtopics
    if source.format is TREC and reading.qrels_columns is None:
        return trec_qrels.read(source.path, subtopics=subtopics, whole=source.whole, sure=sure)
    if source.format.qrels is not None and reading.qrels_columns is None:
        return source.format.qrels(source, subtopics)
    from leadline.io import swapped_arguments

    found = records_of(source, "grade", reading, subtopics=subtopics)
    sure = sure or bool(source.format.judgments)
    if not sure:
        swapped_arguments.refuse_columns(found.names, source.path)
    made = row_checks.qrels_by_subtopic(found) if subtopics else row_checks.qrels(found)
    if not sure:
        swapped_arguments.refuse_scores(made, source.path)
        made.remarks = (*made.remarks, *swapped_arguments.remarks_on(made))
    return made


@public
def read_run(
    source: RunLike | Hits,
    *,
    name: str | None = None,
    queries: Sequence[Any] | None = None,
    documents: Sequence[str] | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Read a run from a file of any format, a dictionary, a data frame or rows.

    A dictionary is `{query: {document: score}}`, or `{query: [document, ...]}` best first, where a repeat
    counts at its first place; rows are (query, document, score) or named tuples. `order` ("score", or "rank":
    the rank column) is what orders a list, `on_duplicate` ("refuse", "first", "last", "max", "hold") how
    duplicates are handled, `on_nan` ("refuse", "drop") how NaN scores are. An id
    7 is read as "7". `columns` names the columns of a text without a header, as in "query_id,doc_id,rank";
    without scores the ranks order the documents. `queries_in` (a path, or ids) reads some queries only,
    `drop_identical_ids` leaves out documents whose id is that of their query.

    A list is of ids, of (document, score) pairs, or of objects or dictionaries with an id and a score, such
    as the hits of `semantic_search` of sentence-transformers. Lists without query ids need `queries`, the ids
    in the same order, and positions need `documents`, the ids of the indexed documents.

    >>> hits = [[{"corpus_id": 1, "score": 0.9}, {"corpus_id": 0, "score": 0.4}]]
    >>> read_run(hits, queries=["q1"], documents=["a", "b"]).to_dict()
    {'q1': {'b': 0.9, 'a': 0.4}}
    >>> read_run({"q1": {"d1": 0.5, "d2": 0.7}}, name="mine")
    Run('mine', 1 query, 2 documents)
    """
    if name is not None:
        check_run_name(name)
    reading = Reading.of(read_run, options, RunOptions)
    if queries is not None:
        from leadline.io import python_inputs

        source = python_inputs.by_query(source, queries, documents, name or UNNAMED)
    elif documents is not None:
        raise UsageError("documents without queries; expected the ids of the queries too: queries=[...]")
    run = counted_run(source, name=name, reading=reading)[0]  # type: ignore[arg-type]  # refused if no run
    return run if name is None or name == run.name else run.renamed(name)


@public
def run_of_arrays(
    ids: Any,
    scores: Any,
    queries: Sequence[str],
    *,
    documents: Sequence[str] | None = None,
    lower_is_better: bool | None = None,
    name: str | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Make a run of arrays of nearest neighbours, as FAISS, hnswlib and scikit-learn return them.

    Parameters
    ----------
    ids : array-like, shape (n_queries, k)
        Ids of the documents found, or their positions in `documents`. A position of -1 is no document.
    scores : array-like, shape (n_queries, k)
        Their scores.
    queries : sequence of str, length n_queries
        Ids of the queries, one for each row.
    documents : sequence of str, optional
        Ids of the indexed documents, in the order in which they were added.
    lower_is_better : bool, optional
        Whether scores are distances, which are negated. If it is not given, scores are larger for better
        documents, and those that rise along every row (of three or more documents, in two rows or more) are
        refused.
    name : str, optional
        Name of the run.
    **options
        As of `read_run`.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        If the arrays have different shapes.
    InputError
        If a position is outside `documents`, a document or query occurs twice, a score is NaN, ids are
        numbers that are neither positions nor text, or scores look like distances.

    Examples
    --------
    >>> ids, scores = [[2, 0], [1, -1]], [[0.9, 0.4], [0.8, 0.0]]
    >>> run = run_of_arrays(ids, scores, ["q1", "q2"], documents=["a", "b", "c"])
    >>> run.to_dict()
    {'q1': {'c': 0.9, 'a': 0.4}, 'q2': {'b': 0.8}}
    """
    import numpy as np

    if lower_is_better is not None:
        check_flags(lower_is_better=lower_is_better)
    found, values = np.asarray(ids), np.asarray(scores)
    listed = list(queries)
    shapes = f"ids {found.shape}, scores {values.shape}, {len(listed)} queries"
    if found.ndim != 2 or found.shape != values.shape or len(listed) != len(found):
        raise UsageError(
            f"{shapes}; expected two arrays of the same two dimensions, with a row for each query"
        )
    if values.dtype.kind not in "fiu":
        raise UsageError(f"scores of type {values.dtype}; expected numbers")
    label = name or UNNAMED
    kept = np.ones(found.shape, dtype=np.bool_)
    if documents is not None or found.dtype.kind in "iu":
        if found.dtype.kind not in "iu":
            raise UsageError(
                f"documents for ids of type {found.dtype}; expected whole numbers, their positions"
            )
        kept = found != -1
        wrong = kept & ((found < 0) | (found >= (np.inf if documents is None else len(documents))))
        if wrong.any():
            row, column = map(int, np.argwhere(wrong)[0])
            raise InputError(
                f"position {found[row, column]} for query '{listed[row]}'",
                expected="-1 or a natural number" if documents is None else f"-1 to {len(documents) - 1:,}",
                path=label,
            )
    if lower_is_better is None and _all_rise(values, kept):
        raise InputError(
            "scores that rise along every row, as distances do",
            expected="the best first",
            path=label,
            hint="lower_is_better=True reads distances; False reads the scores as they are",
        )
    if twice := next((query for query, count in Counter(listed).items() if count > 1), None):
        raise InputError(f"query '{twice}' twice", expected="one row for each query", path=label)
    pairs: dict[str, list[tuple[Any, float]]] = {}
    for query, row, row_scores, row_kept in zip(
        listed, found.tolist(), (-values if lower_is_better else values).tolist(), kept.tolist(), strict=True
    ):
        names = row if documents is None else [documents[place] for place in row]
        pairs[query] = list(compress(zip(names, row_scores, strict=True), row_kept))
    lists = {query: dict(each) for query, each in pairs.items()}
    if all(len(lists[query]) == len(each) for query, each in pairs.items()):
        return read_run(lists, name=name, **options)
    return read_run([(query, *pair) for query, each in pairs.items() for pair in each], name=name, **options)


def _all_rise(values: Any, kept: Any) -> bool:
    """Return whether the scores of every row of three or more rise, in two such rows or more."""
    rows = [row[ranked].tolist() for row, ranked in zip(values, kept, strict=True)]
    long = [row for row in rows if len(row) > 2]
    return len(long) > 1 and all(row == sorted(row) and row[0] < row[-1] for row in long)


def counted_run(source: RunLike, *, reading: Reading, name: str | None = None) -> tuple[Run, ReadCounts]:
    """Read a run from any supported source; return it and its counts."""
    if isinstance(source, Run):
        run, identical = selection.selected_run(source, reading)
        size, queries = len(run.scores), len(run.queries)
        return run, ReadCounts(rows=size, queries=queries, identical=identical, tag=run.tag)
    if isinstance(source, (str, os.PathLike)):
        return run_of(opened(os.fspath(source)), name=name, reading=reading)
    name = name or UNNAMED
    from leadline.io import python_inputs

    columns = None if reading.by_rank else python_inputs.dictionary_columns(source, empty=True)
    if columns is not None:
        columns, identical = selection.selected_columns(columns, reading, name)
        counts = ReadCounts(rows=len(columns.values), queries=len(columns.queries), identical=identical)
        return trec_runs.run_of(python_inputs.DictionaryLists(columns), name=name, tag=""), counts
    found = _records_in_memory(source, "score", reading, path=name)
    return row_checks.run(found, name=name, reading=reading)


def run_of(source: Opened, *, reading: Reading, name: str | None = None) -> tuple[Run, ReadCounts]:
    """Return the run of an opened file and its counts."""
    name = run_name(source.path) if name is None else name
    if source.format is TREC and reading.columns is None:
        return trec_runs.read(source.path, reading=reading, name=name, whole=source.whole)
    return row_checks.run(records_of(source, "score", reading), name=name, reading=reading)


def _records_in_memory(
    source: Any, what: str, reading: Reading = DEFAULT_READING, *, path: str, subtopics: bool = False
) -> Records:
    """Return the rows of a dictionary, a data frame, or an iterable of rows."""
    if hasattr(type(source), "sources"):  # a run, judgments, or a result, which stands above this module
        judgments = "judgments, as of Qrels" + ", which come first" * isinstance(source, Run)
        expected = "ranked lists, as of Run" if what == "score" else judgments
        raise InputError(f"a {type(source).__name__}", expected=expected, path=path)
    rows = _rows_in_memory(source, what, path, subtopics=subtopics)
    return row_checks.table_records(rows, what, by_rank=reading.by_rank) if isinstance(rows, Table) else rows


def _rows_in_memory(source: Any, what: str, path: str, *, subtopics: bool) -> Table | Records:
    from leadline.io import python_inputs

    if isinstance(source, Mapping):
        return python_inputs.mapping_records(source, what, path=path, subtopics=subtopics)
    if not isinstance(source, (list, tuple, Iterator)):
        frame = python_inputs.open_frame(source)
        if frame is not None:
            return python_inputs.table_of_frame(frame, path=path)
        if not isinstance(source, Iterable) or isinstance(source, (str, bytes)):
            raise InputError(f"an object of type {type(source).__name__}", expected=EXPECTED)
    return python_inputs.table_of_rows(enumerate(source, start=1), path=path)


def stream_lists(
    source: RunLike,
    consumer: ListConsumer,
    *,
    reading: Reading = DEFAULT_READING,
    name: str | None = None,
    workspaces: Sequence[Buffers] = (),
    joins: JoinConsumer | None = None,
) -> tuple[str, ReadCounts]:
    """Pass the lists of any run but a `Run` to a consumer; return its name and counts.

    `joins` is the consumer if it takes joined lists too.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        file = opened(path)
        name = name or run_name(path)
        if file.format is TREC and reading.columns is None:
            return name, trec_runs.stream(
                path, consumer, reading=reading, workspaces=workspaces, whole=file.whole, joins=joins
            )
        found = records_of(file, "score", reading)
    else:
        name = name or UNNAMED
        from leadline.io import python_inputs

        columns = None if reading.by_rank else python_inputs.dictionary_columns(source, empty=True)
        if columns is not None:
            columns, identical = selection.selected_columns(columns, reading, name)
            counts = row_checks.deliver_lists(python_inputs.DictionaryLists(columns), consumer, reading)
            counts.identical = identical
            return name, counts
        found = _records_in_memory(source, "score", reading, path=name)
    return name, row_checks.stream(found, consumer, reading=reading)


def is_ranked_lists(value: Mapping[Any, Any]) -> bool:
    """Return whether a dictionary is `{query: [document or hit, ...]}`.

    >>> is_ranked_lists({"q1": [], "q2": ["d1"]}), is_ranked_lists({"bm25": [("q1", "d1", 0.5)]})
    (True, False)
    >>> is_ranked_lists({"q1": [("d1", 0.5)]}), is_ranked_lists({"q1": [{"corpus_id": 3, "score": 0.5}]})
    (True, True)
    """
    if not all(isinstance(documents, (list, tuple)) for documents in value.values()):
        return False
    first: list[Any] = next((list(documents) for documents in value.values() if documents), [])
    return bool(first) and (isinstance(first[0], (str, Integral)) or _is_hit(first[0]))


def _is_hit(value: object) -> bool:
    from leadline.io import python_inputs

    return python_inputs.reader_of(value) is not None


def refuse_unnamed_lists(runs: Sequence[Any]) -> None:
    """Refuse lists of hits that belong to no query."""
    first = runs[0] if isinstance(runs, (list, tuple)) and runs else None
    if isinstance(first, (list, tuple)) and first and _is_hit(first[0]):
        raise InputError("lists of hits without query ids", expected="Run(hits, queries=[...])", path=UNNAMED)


def is_row(value: object) -> bool:
    """Return whether a value is a single row of a run or of qrels.

    >>> is_row(("q1", "d1", 0.5)), is_row(("a.run", "b.run", "c.run"))
    (True, False)
    >>> is_row({"qid": "q1", "docno": "d1", "score": 0.5}), is_row({"qid": {"d1": 0.5}})
    (True, False)
    """
    if isinstance(value, Mapping):
        found = row_columns.find(value, row_columns.QUERY)
        return found is not None and not isinstance(value[found], (Mapping, list, tuple))
    if not isinstance(value, tuple):
        return False
    if hasattr(value, "_fields"):
        return True
    return len(value) == 3 and isinstance(value[0], str) and not isinstance(value[2], str)
