"""`leadline search`: rank the documents of an index by retrieval models."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np

from leadline.cli._help import Command, option
from leadline.cli._options import OUTPUT, formats_option, progress, whole, write_output
from leadline.cli._results import describe_input
from leadline.cli._texts import models_option, summary_text, text_options
from leadline.cli.summary import body
from leadline.data.ids import to_bytes
from leadline.data.results import ResultWarning
from leadline.data.table import Cell, Table
from leadline.data.wording import visible
from leadline.errors import UsageError

SECTION = "Retrieval"

SUFFIX = ".run"
INDENT = 6 * " "


@click.command(
    cls=Command, epilog='Example: leadline search docs.index queries.jsonl -m "BM25(k1=0.9)" -o bm25.run'
)
@click.argument("index")
@click.argument("queries")
@models_option
@click.option(
    "-k", type=whole(), default=1000, show_default=True, help="Number of documents retrieved per query."
)
@option(
    "Output",
    "-o",
    "--output",
    type=OUTPUT,
    metavar="RUN",
    help="Output file of the run, in the format of its suffix; a folder for several models.",
)
@option(
    "Output",
    "--show",
    is_flag=True,
    help="Print a readable result list, with summaries if the index has stored texts.",
)
@click.option(
    "--feedback",
    metavar="QRELS",
    help="Relevance judgments for models with relevance feedback, as in RM3(learn=judged).",
)
@text_options
@formats_option()
def command(
    *,
    index: str,
    queries: str,
    models: tuple[str, ...],
    k: int,
    output: str | None,
    show: bool,
    feedback: str | None,
    form: str,
    **reading: Any,
) -> None:
    """Search an index and write a run.

    QUERIES is JSON Lines (query_id, text), CSV, TSV, TREC topics or SMART. Each model makes one run, named
    after it. The time per query is measured from query text to ranked list.
    """
    from leadline.io.texts import read_queries
    from leadline.retrieval.index import open_index
    from leadline.retrieval.search import search

    if output is None and not show:
        raise UsageError("no output is asked for; expected -o RUN, or --show, or both")
    query_texts = read_queries(queries, **reading)
    opened_index = open_index(index)
    with progress("queries") as on_query:
        runs = search(opened_index, query_texts, models, k=k, feedback=feedback, on_query=on_query)
    options = {"models": list(runs), "k": k, "output": output, "feedback": feedback} | reading
    inputs = [describe_input(index, opened_index.documents), describe_input(queries, len(query_texts))]
    paths = write_runs(runs, output)
    if show:
        if opened_index.has_text and opened_index.is_outdated():
            runs.warnings.append(ResultWarning("outdated", "the source of the index has changed since", 1))
        write_output("\n".join(shown(runs, {query.id: query.content for query in query_texts})) + "\n", None)
        if output is None:
            return
    data = {"models": list(runs), "runs": paths, "seconds": seconds_of(runs)}
    text = summary_text("search", inputs, options, runs.warnings, data, search_table(runs, paths), form)
    write_output(text, None)


def write_runs(runs: Any, output: str | None) -> dict[str, str]:
    """Write one run to a file, several to a folder; return their paths by model."""
    from leadline.io.read_paths import check_outputs
    from leadline.io.write import write_run

    non_empty = {name: run for name, run in runs.items() if len(run.scores)}
    if output is None:
        return {}
    if not non_empty:
        raise UsageError("no query matches a document; there is no run to write")
    if len(runs) == 1:
        paths = dict.fromkeys(non_empty, output)
    else:
        try:
            os.makedirs(output, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{output}: cannot be made ({error.strerror}); several models need a folder"
            ) from None
        paths = {name: os.path.join(output, name + SUFFIX) for name in non_empty}
    check_outputs(*paths.values())
    for name, run in non_empty.items():
        write_run(run, paths[name])
    return paths


def seconds_of(runs: Any) -> dict[str, dict[str, float]]:
    """Return the median and the 95th percentile of the time per query."""
    return {
        name: {"median": float(np.median(times)), "p95": float(np.quantile(times, 0.95))}
        for name, times in runs.seconds.items()
    }


def search_table(runs: Any, paths: dict[str, str]) -> Table:
    """Return the table of the runs, one row per model."""
    rows: list[list[Cell]] = []
    for name, times in seconds_of(runs).items():
        run = runs[name]
        rows.append(
            [
                name,
                str(len(run.queries)),
                str(len(run.scores)),
                f"{1000 * times['median']:.2f}",
                f"{1000 * times['p95']:.2f}",
                paths.get(name, "-"),
            ]
        )
    return Table(["model", "queries", "documents", "median ms", "p95 ms", "run"], rows)


def shown(runs: Any, texts: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the printed result lists: rank, score, id, title and other fields."""
    for name, run in runs.items():
        yield name
        lists = run.to_dict()
        for query, text in texts.items():
            yield f"\n{visible(query)}: {_short(text)}"
            yield from _list(runs, lists.get(query, {}), text)
        yield ""
    yield from (visible(str(notice)) for notice in runs.warnings)


def _list(runs: Any, documents: dict[str, float], query: str) -> Iterator[str]:
    if not documents:
        yield "  nothing found"
    codes = runs.index.document_codes(map(to_bytes, documents)).tolist()
    for rank, (document, code) in enumerate(zip(documents, codes, strict=True), start=1):
        record = runs.index.record(code)
        title = _short(record.get("title") or "")
        yield f"{rank:>4}  {documents[document]:.4f}  {visible(document)}  {title}".rstrip()
        yield from _facts(record)
        if runs.index.has_text:
            yield from _summary(runs.index, code, record.get("title") or "", query)


def _summary(index: Any, code: int, title: str, query: str) -> Iterator[str]:
    """Yield the lines of a dynamic summary of the stored text."""
    from leadline.text.summaries import dynamic_summary

    text = body(title, index.text(code).decode("utf-8", "replace"))
    summary = dynamic_summary(text, query, analysis=index.analysis)
    shown = summary.to_terminal(bold=sys.stdout.isatty())
    yield from textwrap.wrap(
        shown,
        100,
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _facts(record: dict[str, Any]) -> Sequence[str]:
    """Return the other columns that are not empty, url first."""
    filled = [name for name in record if name != "title" and record[name]]
    names = sorted(filled, key=lambda name: name != "url")
    return [f"{INDENT}{visible(name)}: {_short(str(record[name]))}" for name in names]


def _short(text: str) -> str:
    line = " ".join(text.split()).encode("utf-8", "replace").decode()  # unpaired surrogates are shown as ?
    return visible(line if len(line) <= 90 else line[:87] + "...")
