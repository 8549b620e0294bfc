"""`leadline score`: score given pairs of query and document by retrieval models."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import OUTPUT, formats_option, progress, refuse_overwrite, write_output
from leadline.cli._results import describe_input
from leadline.cli._texts import facts_text, models_option, text_options
from leadline.cli.search import seconds_of, sheet_of, write_runs

SECTION = "Retrieval"


@click.command(
    cls=Command, epilog="Example: leadline score docs.index queries.jsonl pairs.tsv -m BM25 -o bm25.run"
)
@click.argument("index")
@click.argument("queries")
@click.argument("pairs")
@models_option
@option(
    "Output",
    "-o",
    "--output",
    type=OUTPUT,
    metavar="RUN",
    required=True,
    help="Output file of the run, in the format of its suffix; a folder for several models.",
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
    pairs: str,
    models: tuple[str, ...],
    output: str,
    feedback: str | None,
    form: str,
    **reading: Any,
) -> None:
    """Score given query-document pairs with a retrieval model.

    PAIRS is a table with the columns query_id and doc_id, qrels, or a run. Only these pairs are scored, with
    the same values as `leadline search`. Every pair is in the output, also with score 0; pairs of unknown
    queries or documents are counted.
    """
    from leadline.io.id_lists import read_pairs
    from leadline.io.texts import read_queries
    from leadline.retrieval.index import open_index
    from leadline.retrieval.search import score

    refuse_overwrite(output, queries, pairs)
    asked, wanted = read_queries(queries, **reading), read_pairs(pairs)
    opened = open_index(index)
    with progress("queries") as on_query:
        found = score(opened, asked, wanted, models, feedback=feedback, on_query=on_query)
    options = {"models": list(found), "output": output, "feedback": feedback} | reading
    inputs = [
        describe_input(index, opened.documents),
        describe_input(queries, len(asked)),
        describe_input(pairs, len(wanted)),
    ]
    paths = write_runs(found, output)
    data = {
        "models": list(found),
        "runs": paths,
        "seconds": seconds_of(found),
        "pairs": len(next(iter(found.values())).scores),
    }
    text = facts_text("score", inputs, options, found.warnings, data, sheet_of(found, paths), form)
    write_output(text, None)
