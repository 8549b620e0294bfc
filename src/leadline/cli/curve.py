"""`leadline curve`: recall-precision points and the interpolated curve of runs."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import spelled, typed
from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, inputs_of, progress
from leadline.errors import both, one_of
from leadline.evaluation.curves import Curves, SubtopicCurves, curve, subtopic_curve
from leadline.render import View

SECTION = "Evaluation"


def command(
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
