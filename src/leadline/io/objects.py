"""Run and Qrels, the objects that read and write files, and the functions that do the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any, Unpack

from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading, ReadQrelsOptions, RunOptions
from leadline.data.run import RunColumns
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_flags, check_run_name, check_word, refusal
from leadline.data.wording import counted_in
from leadline.errors import InputError, UsageError
from leadline.io.read import UNNAMED, Hits, QrelsLike, RunLike, counted_run, judgments_in
from leadline.io.read_paths import path_of, public
from leadline.io.run_lists import READ_WARNINGS


class Run(RunColumns):
    """The ranked lists of one system, by query.

    Lists are in decreasing order of score, ties in decreasing byte order of the document id, as in trec_eval.
    Methods take and return ids as strings; columns hold them as bytes. The rows of a query are contiguous
    and in rank order: `offsets[q]:offsets[q + 1]` are the rows of query q of `queries`, `scores[i]` is the
    score of row i and `ids[i]` its document, also `documents.names[document[i]]`.

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
    Run('bm25', 1 query, 2 rows)
    >>> run["q1"]
    {'d2': 0.7, 'd1': 0.5}
    >>> list(run), "q1" in run, len(run)
    (['q1'], True, 1)
    """

    _read_by = "Run(data)"

    def __init__(
        self,
        data: RunLike | Hits,
        *,
        name: str | None = None,
        queries: Sequence[Any] | None = None,
        documents: Sequence[str] | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        read = read_run(data, name=name, queries=queries, documents=documents, **options)
        vars(self).update(vars(read))

    def write(self, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
        """Write the run to a file, with scores in full precision.

        Parameters
        ----------
        path : path
            File whose suffixes give format and compression: .json .jsonl .csv .tsv .parquet .arrow, with
            .gz .bz2 .xz .zst; TREC format for any other. `-` is standard output.
        suffix : str, optional
            Suffix of the format, as in ".csv", if it differs from that of the path.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5}}, name="bm25").write("-")
        q1 Q0 d1 1 0.5 bm25
        """
        write_run(self, path, suffix=suffix)


class Qrels(QrelsColumns):
    """Relevance judgments: the grade of each judged document, by query.

    Methods take and return ids as strings; columns hold them as bytes. A row is a judged document, and the
    rows of a query are contiguous: `begin[q]:end[q]` are the rows of query q of `queries`, in the order of
    the file; `documents` and `grades` are the columns. `levels` are the same grades, in one byte each where
    all are small whole numbers. A negative grade means pooled but not judged. With
    judgments by `subtopics`, the grade of a document is its largest. `inclusion` is the inclusion
    probability of a document in the judged sample: NaN where unknown, None if there are no probabilities.

    Parameters
    ----------
    data : path, dict, data frame, iterable of rows, or Qrels
        A file of any format; `{query: {document: grade}}`, with `subtopics`
        `{query: {subtopic: {document: grade}}}`; a pandas, polars or Arrow table; rows of (query, document,
        grade), named tuples or dictionaries.
    negative : {"nonrelevant", "unjudged"}
        Whether a document with a negative grade is non-relevant or unjudged.
    subtopics : bool
        Whether documents are judged by subtopic.
    kind : {"qrels"}, optional
        Read data that look like a run as judgments.

    Raises
    ------
    InputError
        If the data cannot be read as judgments; the message gives the location.

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

    _read_by = "Qrels(data)"

    def __init__(
        self, data: QrelsLike, *, kind: str | None = None, **options: Unpack[ReadQrelsOptions]
    ) -> None:
        vars(self).update(vars(read_qrels(data, kind=kind, **options)))

    def write(self, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
        """Write the judgments to a file, as `Run.write`, by subtopic if there are subtopics.

        >>> Qrels({"q1": {"d1": 1}}).write("-")
        q1 0 d1 1
        """
        write_qrels(self, path, suffix=suffix)


@public
def read_qrels(source: QrelsLike, *, kind: str | None = None, **options: Unpack[ReadQrelsOptions]) -> Qrels:
    """Read judgments as `Qrels` does.

    Files are TREC, JSON, JSON Lines, CSV, TSV, Parquet, Arrow or the store of a judging page, and
    `ir_datasets:NAME` names a collection. In `{query: [document, ...]}` (lists or sets) all documents are
    relevant. If a pair has several judges, its grade is that of the majority, but values of measures are
    means over the judges.

    A negative grade means pooled but not judged: gain 0, non-relevant in rank measures, no judgment in
    bpref and Judged. `negative="unjudged"` drops such documents. `subtopics` reads column 2 of a file as
    subtopic: a document is judged once for each.

    What looks like a run is refused: a table with a column rank, tag, run_id or system, one with a column run
    but no grades, a file whose grades are mostly distinct fractions with some negative or above 10, four
    columns whose third one counts the ranks. `kind="qrels"` reads it as judgments. An id 7 is read as "7".
    `qrels_columns` names the columns of a text without a header, as in "query_id,doc_id,relevance".
    `queries_in` (a path, or ids) keeps the judgments of some queries.

    >>> read_qrels({"q1": {"d1": 1, "d2": 0}})
    Qrels(1 query, 2 judgments)
    """
    reading = Reading.of(read_qrels, options, ReadQrelsOptions)
    if kind is not None:
        check_word(("qrels",), kind=kind)
    return judgments_of(source, reading, sure=kind is not None)


def judgments_of(source: QrelsLike, reading: Reading, *, sure: bool = False) -> Qrels:
    """Read judgments from any supported source; what looks like a run is refused unless `sure`."""
    return Qrels.sharing(judgments_in(source, reading, sure=sure))


@public
def read_run(
    source: RunLike | Hits,
    *,
    name: str | None = None,
    queries: Sequence[Any] | None = None,
    documents: Sequence[str] | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    r"""Read a run as `Run` does.

    In `{query: [document, ...]}` a repeat counts at its first place. An id 7 is read as "7". `columns` names
    the columns of a text without a header, as in "query_id,doc_id,rank"; without scores the ranks order the
    documents. `queries_in` (a path, or ids) reads some queries only, `drop_identical_ids` leaves out
    documents whose id is that of their query. `documents_of` makes documents of chunks, of which the best
    counts: a pattern whose first group is the document, as in r"^(.*)#\d+$", the path of a table of both ids,
    or a dictionary.

    >>> hits = [[{"corpus_id": 1, "score": 0.9}, {"corpus_id": 0, "score": 0.4}]]
    >>> read_run(hits, queries=["q1"], documents=["a", "b"]).to_dict()
    {'q1': {'b': 0.9, 'a': 0.4}}
    >>> read_run({"q1": {"d1": 0.5, "d2": 0.7}}, name="mine")
    Run('mine', 1 query, 2 rows)
    """
    if name is not None:
        check_run_name(name)
    reading = Reading.of(read_run, options, RunOptions)
    if queries is not None or documents is not None:
        from leadline.io.python_inputs import by_query

        source = by_query(source, queries, documents, name or UNNAMED)
    found = counted_run(source, name=name, reading=reading)[0]  # type: ignore[arg-type]  # refused if no run
    run = Run.sharing(found)
    return run if name is None or name == run.name else run.renamed(name)


def read_runs(
    named: Iterable[tuple[str | None, RunLike]], reading: Reading
) -> tuple[list[Run], list[str], list[ResultWarning]]:
    """Return runs by their names and sources, their paths, and warnings of what was repaired or left out."""
    runs: list[Run] = []
    paths: list[str] = []
    warnings: list[ResultWarning] = []
    for name, source in named:
        run, counts = counted_run(source, name=name, reading=reading)
        if not len(run.scores):
            raise InputError("contains no documents", path=run.name)
        runs.append(Run.sharing(run))
        paths.append(path_of(source) or "in memory")
        for key, (code, template) in READ_WARNINGS.items():
            count: int = getattr(counts, key)
            warnings += raised((code, counted_in(template, [count], runs=run.name), count))
    return runs, paths, warnings


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
    """Make a run of arrays of nearest neighbors, as FAISS, hnswlib and scikit-learn return them.

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
    if isinstance(queries, str):
        raise refusal("queries", queries, "a list of ids")
    try:
        found, values = np.asarray(ids), np.asarray(scores)
    except ValueError:
        raise UsageError(
            "the rows of `ids` or of `scores` differ in length. Fill up rows of `ids` with -1"
        ) from None
    listed = list(queries)
    shape = f"`ids` has shape {found.shape}, `scores` has shape {values.shape}"
    shapes = f"{shape}, and `queries` has length {len(listed):,}"
    if found.ndim != 2 or found.shape != values.shape or len(listed) != len(found):
        raise UsageError(
            f"{shapes}. Pass two-dimensional `ids` and `scores` of the same shape, with one row per query"
        )
    if values.dtype.kind not in "fiu":
        raise UsageError(f"`scores` must contain numbers, but its dtype is {values.dtype}")
    positions = found.dtype.kind in "iu"
    if documents is not None and not positions:
        text = "If the ids are text, leave out `documents`"
        order = (
            "Pass the ids first, as in run_of_arrays(ids, scores, queries), or convert float ids to integers"
        )
        hint = order if found.dtype.kind == "f" else text
        raise UsageError(
            "`ids` must contain whole numbers (positions in `documents`), but its dtype is "
            f"{found.dtype}. {hint}"
        )
    kept = found != -1 if positions else np.ones(found.shape, dtype=np.bool_)
    if lower_is_better is None and _all_rise(values, kept):
        raise InputError(
            "the scores increase along the rows, as distances do, so it is not clear whether higher scores "
            "are better",
            path=name or UNNAMED,
            hint="Pass lower_is_better=True for distances, or lower_is_better=False for similarities",
        )
    rows = zip(found.tolist(), (-values if lower_is_better else values).tolist(), kept.tolist(), strict=True)
    hits = [list(compress(zip(row, scored, strict=True), used)) for row, scored, used in rows]
    return read_run(hits, name=name, queries=listed, documents=documents, **options)


def _all_rise(values: Any, kept: Any) -> bool:
    """Return whether the scores of every row of three or more rise, in two such rows or more."""
    rows = [row[ranked].tolist() for row, ranked in zip(values, kept, strict=True)]
    long = [row for row in rows if len(row) > 2]
    return len(long) > 1 and all(row == sorted(row) and row[0] < row[-1] for row in long)


@public
def write_run(run: RunLike, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
    """Write a run given in any form that `read_run` accepts, with scores to full precision.

    `suffix` determines the format in place of the suffix of the path. Only JSON and JSON Lines can hold
    queries for which nothing was found; other formats lack them.

    >>> write_run(read_run({"q1": {"d1": 0.5}}, name="mine"), "-")
    q1 Q0 d1 1 0.5 mine
    """
    from leadline.io.tables import table_of_run
    from leadline.io.write import write_lists

    found = read_run(run)
    if not len(found.scores):
        raise InputError("contains no documents", path=found.name)
    write_lists(table_of_run(found), path, suffix=suffix, sources=found.sources)


@public
def write_qrels(qrels: QrelsLike, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
    """Write judgments given in any form that `read_qrels` accepts, with subtopics if read with them.

    >>> write_qrels({"q1": {"d1": 1}}, "-", suffix=".csv")
    query_id,doc_id,relevance
    q1,d1,1
    """
    from leadline.io.formats import suffix_of
    from leadline.io.tables import table_of_qrels
    from leadline.io.write import write_table

    qrels = read_qrels(qrels)
    table = table_of_qrels(qrels)
    _refuse_loss(qrels, suffix_of(os.fspath(path)) if suffix is None else suffix)
    write_table(table, path, suffix=suffix, sources=qrels.sources)


def _refuse_loss(qrels: Qrels, suffix: str) -> None:
    """Refuse to write judgments in a form that does not say that they are a sample."""
    from leadline.io.formats import BY_SUFFIX

    suffix = f".{suffix.removeprefix('.')}"
    if qrels.strata is not None:
        raise UsageError(
            "leadline cannot write the strata of a stratified sample. Copy the original file instead."
        )
    if (qrels.is_sample and suffix not in BY_SUFFIX) or (qrels.inclusion is not None and suffix == ".json"):
        form = ".json" if suffix == ".json" else "TREC format"
        raise UsageError(
            f"{form} cannot store inclusion probabilities. Use .csv, .tsv, .jsonl or .parquet instead."
        )
