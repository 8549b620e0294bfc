"""`leadline why-different`: the cause of differences between two tables of the same measure."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import Command, InputPath, option
from leadline.cli._options import level_option, per_query_option
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._results import describe_input
from leadline.cli._settings import settings
from leadline.comparison.why_different import why_different
from leadline.render.view import View

SECTION = "Evaluation"


@click.command(
    cls=Command, epilog="Example: leadline why-different a.txt b.json --qrels qrels.txt --run bm25.run"
)
@click.argument("a", metavar="RESULT[:MEASURE]")
@click.argument("b", metavar="RESULT[:MEASURE]")
@option("Reading", "--qrels", metavar="QRELS", type=InputPath(), help="Relevance judgments.")
@option(
    "Reading",
    "--run",
    metavar="RUN",
    type=InputPath(),
    help="Run that the values belong to. With --qrels, leadline tries the known causes.",
)
@option(
    "Measures",
    "-m",
    "--measure",
    metavar="MEASURE",
    help="Measure to compare. [default: the first measure in both tables that differs]",
)
@level_option("Minimum relevant grade in both programs. [default: 1]", name="rel")
@settings("read.name")
@per_query_option("Add the values of the queries that differ, with their explanations.")
@output_options()
def command(
    *, a: str, b: str, qrels: str | None, run: str | None, per_query: bool, outputs: Outputs, **options: Any
) -> None:
    """Find out why two tables of the same measure differ.

    A and B are per-query values: output of `trec_eval -q` or `ir_measures -q`, leadline results, a table with
    a header, or JSON of the form {query: {measure: value}}. With --qrels and --run, leadline recomputes the
    measure under the conventions of known programs, such as order of tied documents, precision of scores,
    duplicates, documents with the id of the query, unjudged documents, relevance level, cutoff, gains,
    discount, interpolation, missing queries, and queries without relevant documents. A cause explains a query
    if two of its settings reproduce the values in A and B. If no single cause is enough, leadline tries
    pairs.
    """
    result = why_different(a, b, qrels=qrels, run=run, **options)
    options = {"per_query": per_query}
    view = View(result, shown=options, json=options, lines="numbers+causes")
    sides = (result.a, result.b)
    outputs.write(
        "why-different", view, lambda: [describe_input(side.path, len(side.values)) for side in sides]
    )
