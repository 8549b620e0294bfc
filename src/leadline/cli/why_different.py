"""`leadline why-different`: the cause of differences between two tables of the same measure."""

from __future__ import annotations

from typing import Any

from leadline.cli._outputs import Outputs, describe_input
from leadline.comparison.why_different import why_different
from leadline.render import View

SECTION = "Evaluation"


def command(
    *, a: str, b: str, qrels: str | None, run: str | None, per_query: bool, outputs: Outputs, **options: Any
) -> None:
    """Find out why two tables of the same measure differ.

    The two RESULTs, A and B, are tables of per-query values: output of `trec_eval -q` or `ir_measures -q`,
    leadline results, a table with a header, or JSON of the form {query: {measure: value}}. With --qrels and
    --run, leadline tries possible causes: the order of tied documents, the precision of scores, duplicates,
    documents with the same id as the query, unjudged documents, the relevance level, cutoff, gains, discount,
    interpolation, missing queries, queries without relevant documents, and other conventions in which
    evaluation programs differ. A cause explains a query if one of its settings reproduces the value in A and
    another setting reproduces the value in B. If no single cause explains all queries, leadline tries pairs
    of causes.

    Example: leadline why-different a.txt b.json --qrels qrels.txt --run bm25.run

    Options
    -------
    a : RESULT[:MEASURE]
    b : RESULT[:MEASURE]
    --qrels QRELS | Reading
        Relevance judgments on which the values are based. Needs --run.
    --run RUN | Reading
        Run that the values belong to. Needs --qrels.
    -m, --measure MEASURE | Measures
        Measure to compare. [default: the first measure that is in both tables and differs]
    -l, --level GRADE as rel | Measures | float
        Lowest relevant grade in both programs. [default: 1]
    -q, --per-query | Queries | flag
        Also show the values of the queries that differ, with their explanations.
    -C read.name
    -o
    """
    result = why_different(a, b, qrels=qrels, run=run, **options)
    options = {"per_query": per_query}
    view = View(result, shown=options, json=options, lines="numbers+causes")
    sides = (result.a, result.b)
    outputs.write(
        "why-different", view, lambda: [describe_input(side.path, len(side.values)) for side in sides]
    )
