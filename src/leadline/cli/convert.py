"""`leadline convert`: runs and qrels between formats."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Unpack

import click

from leadline.cli._help import typed
from leadline.cli._outputs import print_line, print_warnings
from leadline.data.judgment_tables import Judgment, merge
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading, RunOptions
from leadline.data.table import MACHINE_LABELS
from leadline.data.wording import counted
from leadline.data.wording import queries as counted_queries
from leadline.errors import InputError, UsageError, both, together
from leadline.io import row_columns
from leadline.io import write as writing
from leadline.io.formats import (
    BY_SUFFIX,
    FORMATS,
    JSON,
    SQLITE_STORE,
    TREC,
    Opened,
    content_of,
    left_out,
    opened,
    records_of,
    suffix_of,
)
from leadline.io.lines_by_query import StoredLists
from leadline.io.objects import Qrels, judgments_of, read_qrels, write_qrels
from leadline.io.opening import first_bytes
from leadline.io.read import qrels_of, stream_file
from leadline.io.read_paths import declare_output
from leadline.io.row_checks import ABOUT_MACHINES
from leadline.io.run_lists import Gathered, ReadCounts
from leadline.io.run_names import STANDARD_INPUT, run_name
from leadline.io.selection import queries_in_order, selected_qrels
from leadline.io.tables import RUN_COLUMNS, OutputTable, table_of_run
from leadline.io.texts import read_documents, read_queries
from leadline.io.write import LONGEST, header_in
from leadline.kernels import plain

SECTION = "Files and collections"

SUFFIXES = {"trec": ""} | {suffix[1:]: suffix for each in FORMATS for suffix in each.suffixes}
BEIR, RANK_EVAL = "beir", "rank_eval"  # of judgments, with the texts of queries

GUESSED = {  # kind told by numbers alone
    "run": "a run, because not all numbers are written as integers. If they are grades, add `--config "
    "read.kind=qrels`.",
    "qrels": "qrels, because all numbers are integers. If they are scores, add `--config read.kind=run`.",
}


def command(
    context: click.Context,
    /,
    *,
    source: str,
    others: tuple[str, ...],
    target: str | None,
    output: str | None,
    kind: str | None,
    form: str | None,
    subtopics: bool,
    overwrite: bool,
    queries: str | None,
    docs: str | None,
    index: str | None,
    **options: Unpack[RunOptions],
) -> None:
    """Convert a run or qrels to another format.

    The suffix of OUT determines its compression (.gz .bz2 .xz .zst) and, without --to, its format (.json
    .jsonl .ndjson .csv .tsv .parquet .arrow .feather .quepid, otherwise TREC). An existing file is replaced
    only with --overwrite. OUT may be - for standard output. `--to beir` writes a folder with qrels/test.tsv,
    with queries.jsonl if you add --queries, and with corpus.jsonl if you add --docs. `--to rank_eval` writes
    the request body for Elasticsearch's `_rank_eval` API.

    If you pass several qrels files as IN, one per assessor, leadline merges them. A query-document pair that
    several assessors judged gets the most frequent grade or, in a tie, the lowest of the most frequent
    grades.

    Example: leadline convert bm25.run bm25.parquet

    Options
    -------
    source : IN
    [others]... : [IN]... | INPUT
    [target] : OUT | INPUT
    -o, --output OUT | OUTPUT
        File to write, if you leave out the argument OUT.
    --to as form | trec/parquet/arrow/jsonl/json/csv/tsv/quepid/beir/rank_eval
        Format of OUT. Only qrels can be written as beir (a folder), rank_eval (an Elasticsearch request) or
        quepid (the CSV file that Quepid imports). [default: by suffix]
    --queries FILE
        File with the query texts, for --to beir or rank_eval.
    --docs FILE
        File with the document texts, for --to beir.
    --index-name NAME as index
        Name of the Elasticsearch index with the documents, required by --to rank_eval.
    --overwrite | flag
        Replace OUT if it exists and is a file.
    use repairs
    -C read.subtopics, read.kind
    """
    if output is not None and target is not None:
        others, target = (*others, target), None
    target = target or output
    if target is None:
        raise UsageError("no output was given. Pass IN OUT, where OUT can be - for standard output.")
    if output is None and target != STANDARD_INPUT:
        declare_output(target)
    if queries is not None and form not in {BEIR, RANK_EVAL}:
        raise UsageError("--queries needs --to beir or --to rank_eval")
    both({"--docs": docs}, {"--to beir": form == BEIR})
    if form == BEIR and target == STANDARD_INPUT:
        raise UsageError("--to beir writes a folder, not standard output. Pass a folder as OUT.")
    together({"--to rank_eval": form == RANK_EVAL}, {"--index-name NAME": index})
    if options["on_duplicate"] == "hold":
        raise UsageError(
            "`leadline convert` does not support --config read.on_duplicate=hold. Use refuse, first, last or "
            "max."
        )
    if not overwrite and target != STANDARD_INPUT and os.path.exists(target):
        replaceable = form != BEIR and not os.path.isdir(target)
        hint = "Choose a new name, or use --overwrite." if replaceable else "Choose a new name."
        raise UsageError(f"{target} already exists. {hint}")
    suffix = None if form in {None, BEIR, RANK_EVAL} else SUFFIXES[str(form)]
    names, sure = options["columns"], kind == "qrels"  # names of the columns of the only input
    file = opened(source)
    if file.format is not TREC or file.columns < 5 or kind == "qrels" or names is not None:
        file = opened(source, read=True)
    file = file._replace(queries=queries_in_order(Reading(queries_in=options["queries_in"])))
    if kind is None and names is not None:
        kind = "qrels" if row_columns.find(names.split(","), row_columns.GRADE) else "run"
    by_numbers = False
    if kind is None and (subtopics or (file.format is TREC and file.whole is None)):
        kind = "qrels" if subtopics else "run"
    elif kind is None:
        kind, by_numbers = content_of(file)
    to_trec = (suffix_of(target) if suffix is None else suffix) not in BY_SUFFIX
    if kind == "run" and others:
        raise _not_merged(source)
    if form != BEIR and target.endswith("/"):
        beir = " To write a folder with qrels/test.tsv, use `--to beir`." * (kind == "qrels")
        raise UsageError(f"{target} names a folder. Add a file name.{beir}")
    if kind == "run" and form in {BEIR, RANK_EVAL}:
        raise InputError(f"this is a run, but --to {form} needs judgments", path=source)
    if kind == "run":
        # Of ranked lists without scores, the first of duplicates counts.
        listed = file.format is JSON and records_of(file, "score", Reading(**options)).listed
        if options["on_duplicate"] == "refuse" and listed:
            options["on_duplicate"] = "first"
        reading = Reading(**options, name_by="tag")
        if file.whole is None:
            header = header_in(first_bytes(source, LONGEST) or b"")
        else:
            header = header_in(file.whole.text[: min(file.whole.end, LONGEST)].tobytes())
        with StoredLists() as stored:
            table, number, counts = _lists(file, reading, stored)
            table = table._replace(header=header if to_trec else b"")
            unheld = writing.write_lists(table, target, suffix=suffix, sources=(source,))
        summary = f"{counted_queries(number)}, {counted(len(table.rows), 'document')}"
        lost = [*unheld, *repairs(counts), *left_out(file, "score", reading)]
        if header and not to_trec:
            lost.append("header ir_metadata")
        if options["order"] == "rank" and _has_scores(file, reading):
            lost.append("scores (replaced by negative ranks)")
        if counts.tag and not to_trec:
            lost.append(f"tag {counts.tag}")
    else:
        for option in typed(context, *(name for name in options if name not in ("columns", "queries_in"))):
            read_as = GUESSED["qrels"] if by_numbers else f"qrels. Leave out {option}."
            raise UsageError(f"{option} applies only to runs, but {source} was read as {read_as}")
        reading = Reading(qrels_columns=names, subtopics=subtopics, queries_in=options["queries_in"])
        qrels = selected_qrels(qrels_of(file, reading, sure=True), reading)
        lost = left_out(file, "grade", reading, subtopics=subtopics)
        if others:
            qrels = _merged([qrels, *(_other(path, reading, sure=sure) for path in others)])
        if form == BEIR:
            texts = None if queries is None else read_queries(queries)
            documents = None if docs is None else read_documents(docs)
            writing.write_beir(qrels, target, queries=texts, documents=documents)
        elif form == RANK_EVAL:
            found = None if queries is None else {query.id: query.content for query in read_queries(queries)}
            writing.write_rank_eval(qrels, target, index=str(index), queries=found)
        else:
            write_qrels(qrels, target, suffix=suffix)
        judged = len((qrels.subtopics or qrels).grades)
        summary = f"{counted_queries(len(qrels.queries))}, {counted(judged, 'judgment')}"
        # without the advice on values, of which there are none here
        summary += "".join(f"; {words.removesuffix(f'. {ABOUT_MACHINES}')}" for _, words, _ in qrels.remarks)
        if file.format is SQLITE_STORE and qrels.inclusion is not None:
            lost = ["column probability"] if to_trec else []
        elif not to_trec and qrels.inclusion is not None:
            lost = [one for one in lost if one.removeprefix("column ") not in row_columns.PROBABILITY]
    if os.path.isdir(source):
        texts_of_beir = ("corpus.jsonl", "queries.jsonl")
        lost += [name for name in texts_of_beir if os.path.exists(os.path.join(source, name))]
    if by_numbers:
        print_warnings([f"{source} was read as {GUESSED[kind]}"])
    words = "left out: " + ", ".join(lost)
    if target != STANDARD_INPUT:
        print_line(f"{target}: {kind}, {summary}" + (f"; {words}" if lost else ""))
    elif lost:
        print_warnings([words])


def _is_run(path: str) -> bool:
    if not os.path.isfile(path):  # a pipe is read once
        return False
    file = opened(path, read=True)
    return file.format is TREC and content_of(file)[0] == "run"  # a table may be told by read.kind


def _not_merged(path: str) -> InputError:
    return InputError(
        "this is a run, but only qrels can be merged", path=path, hint="To combine runs, use `leadline fuse`."
    )


def _other(path: str, reading: Reading, *, sure: bool) -> QrelsColumns:
    """Return further judgments to merge."""
    try:
        return judgments_of(path, reading, sure=sure)
    except InputError as error:
        is_run = plain.A_RUN in error.hint or (not sure and _is_run(path))
        raise _not_merged(path) if is_run else error from None


def _merged(parts: Sequence[QrelsColumns]) -> Qrels:
    """Return the judgments of several assessors as one grade a pair."""
    for part in parts:
        if part.subtopics is not None or part.inclusion is not None or part.strata is not None:
            what = "judgments by subtopic" if part.subtopics is not None else "sampled judgments"
            hint = (
                "Export the store with `leadline judge --store STORE --export new.qrels`, merge new.qrels, "
                "and evaluate the merged file with --pool (docs/judging.md)"
            )
            hint *= part.subtopics is None and part.pool is not None
            raise InputError(f"leadline cannot merge {what}", path=part.source, hint=hint)
    merged = merge(
        Judgment(query, document, str(place), grade)
        for place, part in enumerate(parts)
        for query, grades in part.to_dict().items()
        for document, grade in grades.items()
    )
    by_query: dict[str, dict[str, float]] = {}
    for (query, document), grade in merged.grades.items():
        by_query.setdefault(query, {})[document] = grade
    qrels = read_qrels(by_query)
    marks = [mark for part in parts for mark in part.remarks if mark[0] == MACHINE_LABELS]
    qrels.remarks = (*merged.remarks, *dict.fromkeys(marks))
    return qrels


def _has_scores(file: Opened, reading: Reading) -> bool:
    """Return whether a run has scores, which its ranks can replace."""
    columns: Sequence[str] = () if reading.columns is None else reading.columns.split(",")
    if file.whole is not None and file.format is not TREC and not columns:
        records = records_of(file, "score", reading)
        if records.listed:
            return False
        columns = records.names
    return not columns or row_columns.find(columns, row_columns.SCORE) is not None


def _lists(file: Opened, reading: Reading, stored: StoredLists) -> tuple[OutputTable, int, ReadCounts]:
    """Return the rows of a run, its number of queries and its counts; rows of TREC text are stored."""
    if file.whole is None and file.format is TREC:
        counts = stream_file(file, stored, reading=reading)
        tag = counts.tag or run_name(file.path)
        return OutputTable(RUN_COLUMNS, stored, tag=tag), len(stored.lists), counts
    gathered = Gathered()
    counts = stream_file(file, gathered, reading=reading)
    run = gathered.run(run_name(file.path), counts.tag)
    if not len(run.scores):
        raise InputError("contains no documents", path=run.name)
    return table_of_run(run), len(run.queries), counts


def repairs(counts: ReadCounts) -> list[str]:
    """Return messages on lines, or parts of lines, that were left out."""
    of_query = "document with the same id as its query", "documents with the same id as their query"
    messages = {
        counted(counts.other_tags, "tag") + " before the last": counts.other_tags,
        counted(counts.repeated, "repeated document"): counts.repeated,
        counted(counts.dropped, "document with score NaN", "documents with score NaN"): counts.dropped,
        counted(counts.identical, *of_query): counts.identical,
        f"columns after the sixth in {counted(counts.extra_columns, 'line')}": counts.extra_columns,
    }
    return [message for message, count in messages.items() if count]
