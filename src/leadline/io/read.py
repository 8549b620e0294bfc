"""Input readers: files of any format, and Python objects."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

from leadline.data.ids import to_text
from leadline.data.judgment_tables import DrawnPool, Judgment, Merged, merge
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, Reading
from leadline.data.run import RunColumns
from leadline.errors import InputError, UsageError
from leadline.io import row_checks, row_columns, selection, swapped_arguments, trec_qrels, trec_runs
from leadline.io.formats import TREC, Opened, headed, opened, records_of
from leadline.io.opening import BOM, Buffers, first_bytes
from leadline.io.row_checks import machine_remarks
from leadline.io.row_columns import JUDGES_LINE, MACHINE_LINE, Records, Table
from leadline.io.run_lists import Gathered, ListConsumer, Lists, ReadCounts, deliver, lists_of_run
from leadline.io.run_names import run_name
from leadline.io.score_cells import json_or_none
from leadline.io.trec_lists import without_read

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


RunLike: TypeAlias = (
    "str | os.PathLike[str] | RunColumns | Mapping[str, Mapping[str, float] | Sequence[str]] | IntoFrame "
    "| Iterable[tuple[Any, ...]] | Iterable[Mapping[str, Any]] | Mapping[str, Iterable[Mapping[str, Any]]]"
)
QrelsLike: TypeAlias = (
    "str | os.PathLike[str] | QrelsColumns | Mapping[str, Mapping[str, float]] "
    "| Mapping[str, Collection[str]] | Mapping[str, Mapping[str, Mapping[str, float]]] | IntoFrame "
    "| Iterable[tuple[Any, ...]] | Iterable[Mapping[str, Any]] | Mapping[str, Iterable[Mapping[str, Any]]]"
)
Hits: TypeAlias = "Iterable[Iterable[Any]]"  # a list for each query
KnownLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Iterable[str]]"
ACCEPTED = "Pass a path, a dictionary, a data frame or rows of (query, document, number)"
UNNAMED = "run"  # name of a run without one


def judgments_in(source: QrelsLike, reading: Reading, *, sure: bool = False) -> QrelsColumns:
    """Read judgments from any supported source; what looks like a run is refused unless `sure`."""
    qrels = _qrels(source, reading, sure=sure)
    if not sure and not isinstance(source, QrelsColumns):
        qrels.remarks = (*qrels.remarks, *swapped_arguments.remarks_on(qrels))
    qrels = selection.selected_qrels(qrels, reading)
    if reading.negative == "unjudged" and (qrels.grades < 0).any():
        if qrels.strata is not None:
            raise InputError(
                "contains a stratified sample, but --config read.negative=unjudged would leave out the "
                "unjudged documents that xinfAP, infNDCG and statAP need",
                path=qrels.source,
                hint="Leave out --config read.negative",
            )
        if qrels.is_sample and qrels.pool is None:  # the others are gaps
            qrels = copy(qrels)
            qrels.pool = DrawnPool.of_shares(qrels.inclusion_probabilities() or {})
        kept = qrels.keep(qrels.grades >= 0)
        if not len(kept.grades):
            of = "" if reading.queries_in is None else " for the selected queries"
            raise InputError(
                f"contains only negative grades{of}, so --config read.negative=unjudged leaves no judgments",
                path=qrels.source,
            )
        return kept
    return qrels


def _qrels(source: Any, reading: Reading, *, sure: bool) -> QrelsColumns:
    subtopics = reading.subtopics
    if isinstance(source, QrelsColumns):
        if subtopics and source.subtopics is None:
            raise UsageError("these qrels were loaded without subtopics. Load them again with subtopics=True")
        return source
    if isinstance(source, (str, os.PathLike)):
        return qrels_of(opened(os.fspath(source)), reading, sure=sure)
    from leadline.io import python_inputs

    lists = None if subtopics else python_inputs.dictionary_lists(source)
    if lists is not None:
        return python_inputs.dictionary_qrels(lists, "qrels")
    if not subtopics:
        swapped_arguments.refuse_runs(source)
    found = _records_in_memory(
        source, "grade", path="qrels", subtopics=subtopics, named=reading.qrels_columns
    )
    if not sure and row_columns.find(found.names, row_columns.GRADE) is None:
        # results merged with labels also serve as qrels
        swapped_arguments.refuse_columns(found.names, "qrels", listed=not found.chosen)
    return row_checks.qrels_by_subtopic(found) if subtopics else row_checks.qrels(found)


def machine_line(head: bytes | None) -> str:
    r"""Return the name of the judge in the first line of a file, `# machine: NAME`; empty without one.

    >>> machine_line(b"# machine: llama70b\nq1 0 d1 1\n"), machine_line(b"q1 0 d1 1\n")
    ('llama70b', '')
    """
    first = (head or b"").removeprefix(BOM).partition(b"\n")[0].strip()
    name = first.removeprefix(MACHINE_LINE.encode())
    return "" if name == first else name.strip().decode("utf-8", "replace") or "unknown"


def judges_line(head: bytes | None) -> list[str]:
    r"""Return the columns of judges that a line at the top of a file names; empty without one.

    >>> judges_line(b'# judges: ["ann", "bob"]\nquery_id,doc_id,relevance,ann,bob\n')
    ['ann', 'bob']
    """
    for line in (head or b"").removeprefix(BOM).split(b"\n")[:2]:
        if line.startswith(JUDGES_LINE.encode()):
            named = json_or_none(line.removeprefix(JUDGES_LINE.encode()).decode("utf-8", "replace"))
            return list(map(str, named)) if isinstance(named, list) else []
    return []


def _said(path: str, judges: Sequence[str]) -> Merged:
    """Return what judges said in the columns of an export."""
    from leadline.io.id_lists import rows_by_judge  # slow to import
    from leadline.io.small_tables import need_columns, records

    query, document = row_columns.QUERY[0], row_columns.DOCUMENT[0]
    header = next((list(row) for _, row in records(path, quoted=True)), [])
    need_columns(header, [query, document, *judges], path, 1)
    return merge(
        Judgment(to_text(row[0]), to_text(row[1]), judge, row[2])
        for judge, rows in rows_by_judge(records(path, quoted=True), path, (query, document), judges).items()
        for row in rows
    )


def qrels_of(source: Opened, reading: Reading = DEFAULT_READING, *, sure: bool = False) -> QrelsColumns:
    """Return the judgments of an opened file; what looks like a run is refused unless `sure`."""
    read = source.head if source.whole is None else source.whole
    head = first_bytes(source.path) if read is None else read.text[: min(read.end, 1 << 12)].tobytes()
    machine, judges = machine_line(head), judges_line(head)
    made = _qrels_of(source, reading, sure=sure)
    made.remarks = without_read(made.remarks, bool(machine) + bool(judges))
    if judges:
        merged = _said(source.path, judges)
        made.votes, made.remarks = merged.votes, (*made.remarks, *merged.remarks)
    if machine:
        made.remarks = (*made.remarks, *machine_remarks([f"machine: {machine}"] * len(made.grades)))
    return made


def _qrels_of(source: Opened, reading: Reading, *, sure: bool) -> QrelsColumns:
    subtopics = reading.subtopics
    if source.format is TREC and reading.qrels_columns is None:
        return trec_qrels.read(source.path, subtopics=subtopics, whole=source.whole, sure=sure)
    if source.format.qrels is not None and reading.qrels_columns is None:
        return source.format.qrels(source, subtopics)
    found = records_of(source, "grade", reading, subtopics=subtopics)
    sure = sure or bool(source.format.judgments)
    if not sure:
        swapped_arguments.refuse_columns(found.names, source.path, listed=not found.chosen)
    made = row_checks.qrels_by_subtopic(found) if subtopics else row_checks.qrels(found)
    if found.shares and found.pool is None:
        from leadline.io.pool_files import read_design, read_drawn_pool  # slow to import

        made.pool = read_drawn_pool(source.path) if read_design(source.path) else made.pool
    if not sure:
        swapped_arguments.refuse_scores(made, source.path)
    return made


def counted_run(
    source: RunLike, *, reading: Reading, name: str | None = None
) -> tuple[RunColumns, ReadCounts]:
    """Read a run from any supported source; return it and its counts."""
    if isinstance(source, RunColumns) and not reading.selects and reading.documents_of is None:
        return source, ReadCounts(rows=len(source.scores), queries=len(source.queries), tag=source.tag)
    gathered = Gathered()
    name, counts = stream_lists(source, gathered, reading=reading, name=name)
    run = gathered.run(name, counts.tag)
    if isinstance(source, RunColumns):
        run.sources = source.sources
    return run, counts


def _records_in_memory(
    source: Any,
    what: str,
    reading: Reading = DEFAULT_READING,
    *,
    path: str,
    subtopics: bool = False,
    named: str | None = None,
) -> Records:
    """Return the rows of a dictionary, a data frame, or an iterable of rows; no frame is `named`."""
    if hasattr(type(source), "sources"):  # a run, judgments, or a result, which stands above this module
        wanted = "a run is" if what == "score" else "judgments are"
        hint = row_columns.ORDER if isinstance(source, RunColumns) else ""
        raise InputError(
            f"an object of type {type(source).__name__} was passed where {wanted} expected",
            path=path,
            hint=hint,
        )
    from leadline.io import json_files, python_inputs

    if isinstance(source, Mapping):
        source = python_inputs.split_of(source, path=path)
    if isinstance(source, Mapping):
        return python_inputs.mapping_records(source, what, path=path, subtopics=subtopics)
    if not isinstance(source, (list, tuple, Iterator)):
        frame = python_inputs.open_frame(source)
        if frame is not None and json_files.begins_list({name: [] for name in frame.columns}, named=False):
            source = frame.iter_rows(named=True)
        elif frame is not None:
            if named is not None:
                raise headed(what, path, "Rename the columns of the data frame instead")
            table = python_inputs.table_of_frame(frame, path=path)
            return row_checks.table_records(table, what, by_rank=reading.by_rank)
        if not isinstance(source, Iterable) or isinstance(source, (str, bytes)):
            found = f"an object of type {type(source).__name__} cannot be read"
            raise InputError(found, path=path, hint=ACCEPTED)
    queries = selection.queries_in_order(reading)
    rows = json_files.rows_in_memory(source, what, path=path, queries=queries)
    return row_checks.table_records(rows, what, by_rank=reading.by_rank) if isinstance(rows, Table) else rows


def stream_lists(
    source: RunLike,
    consumer: ListConsumer,
    *,
    reading: Reading = DEFAULT_READING,
    name: str | None = None,
    workspaces: Sequence[Buffers] = (),
) -> tuple[str, ReadCounts]:
    """Pass the lists of any run to a consumer; return its name and counts."""
    if isinstance(source, (str, os.PathLike)):
        file = opened(os.fspath(source))
        name = name or run_name(os.fspath(source))
        return name, stream_file(file, consumer, reading=reading, workspaces=workspaces)
    from leadline.io import python_inputs

    lists: Lists | None = None
    if isinstance(source, RunColumns):
        name = name or source.name
        if reading.documents_of is None:
            lists = lists_of_run(source)
        else:
            source = source.to_dict()
    name = name or UNNAMED
    if lists is None and not reading.by_row:
        lists = python_inputs.dictionary_lists(source, empty=True)
    if lists is not None:
        counts = ReadCounts()
        deliver(selection.cleaned(lists, reading, name), consumer, counts)
        return name, counts
    found = _records_in_memory(source, "score", reading, path=name, named=reading.columns)
    return name, row_checks.stream(found, consumer, reading=reading)


def stream_file(
    file: Opened, consumer: ListConsumer, *, reading: Reading, workspaces: Sequence[Buffers] = ()
) -> ReadCounts:
    """Pass the lists of the run in an opened file to a consumer; return their counts."""
    if file.format is TREC and reading.columns is None:
        return trec_runs.stream(file.path, consumer, reading=reading, workspaces=workspaces, whole=file.whole)
    return row_checks.stream(records_of(file, "score", reading), consumer, reading=reading)


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
        raise InputError(
            "the lists of hits have no query ids", path=UNNAMED, hint="Use Run(hits, queries=[...])"
        )


def is_row(value: object) -> bool:
    """Return whether a value is a single row of a run or of qrels.

    >>> is_row(("q1", "d1", 0.5)), is_row(["q1", "d1", 0.5]), is_row(("a.run", "b.run", "c.run"))
    (True, True, False)
    >>> is_row({"qid": "q1", "docno": "d1", "score": 0.5}), is_row({"qid": {"d1": 0.5}})
    (True, False)
    """
    if isinstance(value, Mapping):
        if any(isinstance(each, (str, int)) for each in value.values()):  # no run has such values
            from leadline.io import json_files

            if json_files.begins_list(value):
                return True
        found = row_columns.find(value, row_columns.QUERY)
        return found is not None and not isinstance(value[found], (Mapping, list, tuple))
    if hasattr(value, "model_dump") or hasattr(value, "_fields"):
        return True
    if not isinstance(value, (tuple, list)) or len(value) != 3 or not isinstance(value[0], str):
        return False
    return isinstance(value[2], Real) if isinstance(value, list) else not isinstance(value[2], str)
