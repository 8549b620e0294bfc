"""`leadline explain`: one value derived step by step."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._options import output_options, reading_options, write_output
from leadline.cli._results import describe_input, envelope, json_text, say, table_text
from leadline.errors import UsageError
from leadline.evaluation.explain import explain
from leadline.evaluation.profiles import PROFILES
from leadline.io.read import read_qrels
from leadline.reporting.tables.explanation_table import explanation_table

SECTION = "Measure runs against judgments"


@click.command(epilog="Example: leadline explain qrels.txt bm25.run -m nDCG@10 --query knots")
@click.argument("qrels")
@click.argument("run")
@click.option(
    "-m",
    "--measure",
    "measures",
    required=True,
    multiple=True,
    metavar="MEASURE",
    help="The measure, as in nDCG@10.",
)
@click.option("--query", required=True, help="The query whose value is explained.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="leadline",
    show_default=True,
    help="Compute as another program does.",
)
@click.option("--subtopics", is_flag=True, help="Column 2 of the qrels is a subtopic.")
@click.option("--known", metavar="FILE", help="Documents that the user knew before.")
@click.option("-l", "--level", "rel", type=float, metavar="GRADE", help="The least relevant grade.")
@click.option("--all", "everything", is_flag=True, help="Show every rank, not only those that matter.")
@reading_options
@output_options
def command(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    query: str,
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Derive the value of one query of RUN against the judgments QRELS, step by step.

    Every rank that matters is a row: the document, its score, the ranks that share the score, its
    grade, and what the measure makes of it. The sums and the division stand below, and what was tied,
    unjudged or undefined for this query.
    """
    if len(measures) != 1:
        raise UsageError(f"{len(measures)} measures ({', '.join(measures)}); expected one -m")
    asked = {"measure": measures[0], "query": query, "kind": kind} | options
    table = read_qrels(qrels, negative=options["negative"], subtopics=options["subtopics"], kind=kind)
    found = explain(table, run, measures[0], query, **options)
    if form in ("csv", "jsonl"):
        say(found.warnings)
    if form == "json":
        read = found.info.counts["documents_read"]
        inputs = [describe_input(qrels, len(table)), describe_input(run, read)]
        text = json_text(envelope("explain", inputs, asked, found.warnings) | found.to_dict())
    elif form == "jsonl":
        import json

        text = "".join(json.dumps(step, ensure_ascii=False) + "\n" for step in found.to_dict()["steps"])
    else:
        text = table_text(explanation_table(found), form, to_file=output is not None)
    write_output(text, output)
