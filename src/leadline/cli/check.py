"""`leadline check` and `collection`: errors in runs and qrels, and statistics of a collection."""

from __future__ import annotations

import os
from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._inputs import analysis_of
from leadline.cli._outputs import Outputs, describe_input, for_screen, progress
from leadline.errors import InputError, UsageError, both
from leadline.evaluation.check_files import check
from leadline.render import View

SECTION = "Files and collections"


def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    docs: str | None,
    qrels: str | None,
    fix: bool,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Check runs, qrels and indexes for errors.

    FILE is a run, qrels, an index, a quoted pattern ('runs/*.run') or a folder. A folder stands for the files
    directly in it, but an index folder counts as one file. leadline lists each problem once, with the line
    where it first occurs and how often it occurs. `evaluate` and `compare` reject files with errors but
    accept files with remarks. With --qrels, or if the first FILE is qrels and all others are runs (all in
    TREC format), leadline also checks the runs against these judgments. A run without any judged documents
    counts as an error, although `evaluate` only warns about it if some of its queries are judged. With --docs
    and --qrels, leadline reports how many of the judged documents, and how many of the relevant ones, the
    corpus contains. For an index, leadline verifies all checksums and checks that the parts fit together.

    The exit status is 2 if a file has errors and --fix did not repair it, and 0 otherwise.

    Example: leadline check qrels.txt bm25.run

    Options
    -------
    [files]... : [FILE]... | INPUT
    --docs DOCS
        Corpus (texts or an index) in which to count the judged documents and the relevant ones. Needs
        --qrels.
    --qrels QRELS
        Judgments to check every run against. leadline then also reports the share of judged documents, or
        that no query or document ids match.
    --fix | flag
        Write a repaired copy of a single FILE to the file given with -o. Only repeated documents, NaN scores,
        comments, extra columns or tags, rows not grouped by query, and wrong ranks can be repaired.
    -C read.qrels_columns, read.columns, read.subtopics, read.kind, read.on_duplicate refuse/first/last/max =
       "first", read.on_nan = "drop"
    -o
    """
    both(typed(context, "on_duplicate", "on_nan"), {"--fix": fix})
    both(typed(context, "kind", "subtopics", "columns"), {"FILE": files})
    output = None
    if fix:
        if len(files) != 1:
            raise UsageError(
                "--fix repairs one file at a time. Pass one file, and -o FILE for the repaired copy."
            )
        output = outputs.take("--fix needs an output file. Add -o FILE for the repaired copy.")
        if os.path.isdir(files[0]):
            raise UsageError(
                f"{files[0]}: --fix cannot repair a folder. Pass one file. To repair an index, rebuild it "
                "with `leadline index`."
            )
    result = check(files, qrels=qrels, documents=docs, fix=output, **options)
    view = View(result, texts={"table": for_screen(result.text(), to_file=bool(outputs.files))})
    outputs.write("check", view, lambda: [describe_input(each.path, each.rows) for each in result.files])
    if result.rejected and not fix:
        if len(result.files) > 1:
            have = "has" if result.rejected == 1 else "have"
            raise InputError(f"{result.rejected} of {len(result.files)} files {have} errors")
        raise InputError("this file has errors", path=result.files[0].path)


def collection(
    docs: str,
    queries: str,
    qrels: str,
    *,
    language: str | None,
    analysis: str | None,
    encoding: str,
    outputs: Outputs,
) -> None:
    """Describe a test collection.

    The table shows the number of documents and queries (topics), their mean lengths in terms, the judgments
    per query, and the grades. Notes below the table report ids that do not match between the files.

    Example: leadline collection docs.jsonl queries.jsonl qrels.txt

    Options
    -------
    docs
    queries
    qrels
    use analysis
    -C read.encoding
    -o
    """
    from leadline.retrieval.collection import collection

    analysis = analysis_of(language, analysis)
    with progress("documents") as on_document:
        result = collection(
            docs, queries, qrels, analysis=analysis, encoding=encoding, on_document=on_document
        )
    sizes = ((docs, result.documents), (queries, result.queries), (qrels, result.judgments))
    options = {"analysis": analysis, "encoding": encoding}
    view = View(result, lines="*")
    outputs.write("collection", view, lambda: [describe_input(path, rows) for path, rows in sizes], options)
