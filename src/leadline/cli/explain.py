"""`leadline explain`: one value derived step by step."""

from __future__ import annotations

from typing import Any

from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, describe_input
from leadline.errors import UsageError
from leadline.evaluation.explain import explain
from leadline.render import View

SECTION = "Evaluation"


def command(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    query: str,
    outputs: Outputs,
    kind: str | None,
    level: float | None,
    **options: Any,
) -> None:
    """Show step by step how the value of a measure is computed.

    Each rank, down to the last one that affects the value, has a row with the document, its score, any tied
    ranks, its grade and its contribution. Sums and normalization follow, with notes on ties, unjudged
    documents and undefined values.

    Example: leadline explain qrels.txt bm25.run -m nDCG@10 --query-id knots

    Options
    -------
    qrels
    run
    -m, --measure MEASURE as measures | Measures | MEASURE | many | required
        Measure, such as nDCG@10.
    --query-id as query | Queries | required
        Id of the query (topic) to explain.
    --long as everything | Output | flag
        Show every rank, including the ranks after the last one that affects the value.
    use evaluation
    -o
    """
    if len(measures) != 1:
        raise UsageError(f"explain takes only one measure, not {len(measures)} ({', '.join(measures)})")
    requested = {"measure": measures[0], "query": query, "kind": kind, "rel": level} | options
    table = read_judgments(qrels, options, kind)
    explanation = explain(table, run, measures[0], query, rel=level, **options)
    read = ((qrels, len(table.grades)), (run, explanation.info.counts["documents_read"]))
    view = View(explanation, lines="steps")
    outputs.write("explain", view, lambda: [describe_input(*each) for each in read], requested)
