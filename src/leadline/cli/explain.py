"""`leadline explain` and `curve`: one value derived step by step, and recall-precision curves of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import spelled, typed
from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, describe_input, inputs_of, progress
from leadline.errors import UsageError, both, one_of
from leadline.render import View

if TYPE_CHECKING:
    from leadline.evaluation.curves import Curves, SubtopicCurves

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

    Each rank has a row with the document, its score, any tied ranks, its grade and, for common measures, its
    contribution. Without --long, lower ranks may be left out. The calculation or the formula follows, with
    notes on ties, unjudged documents and undefined values.

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
        Show every rank, including the ranks after the last relevant or judged document.
    use evaluation
    -o
    """
    from leadline.evaluation.explain import explain

    if len(measures) != 1:
        raise UsageError(f"explain takes only one measure, not {len(measures)} ({', '.join(measures)})")
    requested = {"measure": measures[0], "query": query, "kind": kind, "rel": level} | options
    table = read_judgments(qrels, options, kind)
    explanation = explain(table, run, measures[0], query, rel=level, **options)
    read = ((qrels, len(table.grades)), (run, explanation.info.counts["documents_read"]))
    view = View(explanation, lines="steps")
    outputs.write("explain", view, lambda: [describe_input(*each) for each in read], requested)


def curve(
    context: click.Context,
    /,
    *,
    qrels: str,
    runs: tuple[str, ...],
    interpolation: str,
    level: float,
    subtopics: bool,
    ranks: int,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Compute precision-recall curves.

    The table shows the mean interpolated precision at eleven recall levels. JSON output also has the points
    of each query. With -C subtopics, the table shows the mean subtopic recall at selected ranks.

    Example: leadline curve qrels.txt bm25.run dense.run -o curves.pdf

    Options
    -------
    qrels
    runs...
    --interpolation | Measures | standard/printed-next/printed-zero/trec9/trec10 | = "standard"
        Precision to use at a recall level: the highest precision at that level or above (standard), the
        highest precision between that level and the next (printed-next, printed-zero), or the precision that
        trec_eval 9 or 10 uses (trec9, trec10). If a run has no point between two levels, printed-next uses
        the precision at the higher level, and printed-zero uses 0.
    -l, --level GRADE | Measures | float | (= 1.0)
        Lowest relevant grade. [default: 1]
    --ranks N | Measures | int 1..1000 | (= 20)
        With -C subtopics, last rank of the curve. [default: 20]
    use reading
    -C read.subtopics
    -o | figure
    """
    from leadline.evaluation.curves import curve, subtopic_curve

    of_subtopics = {spelled(context.command, "subtopics"): subtopics or None}
    both(typed(context, "ranks"), of_subtopics)
    one_of(typed(context, "interpolation") | of_subtopics)
    table = read_judgments(qrels, options | {"subtopics": subtopics}, kind)
    curves: Curves | SubtopicCurves
    with progress("runs") as on_run:
        if subtopics:
            curves = subtopic_curve(table, runs, rel=level, ranks=ranks, on_run=on_run, **options)
        else:
            curves = curve(table, runs, rel=level, interpolation=interpolation, on_run=on_run, **options)
    curves.options |= {
        "kind": kind,
        "interpolation": interpolation,
        "subtopics": subtopics,
        "ranks": ranks,
    } | outputs.options()
    outputs.write("curve", View(curves), lambda: inputs_of(curves, qrels, len(table.grades)))
