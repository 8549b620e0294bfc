"""`leadline curve`: recall-precision points and the interpolated curve of runs."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import level_option, progress, reading_options
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._reading_options import read_judgments
from leadline.cli._results import inputs_of
from leadline.cli._settings import settings
from leadline.evaluation.curves import Curves, SubtopicCurves, curve, subtopic_curve
from leadline.measures.average_precision import RULES
from leadline.render.view import View

SECTION = "Evaluation"


@click.command(cls=Command, epilog="Example: leadline curve qrels.txt bm25.run dense.run -o curves.pdf")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@option(
    "Measures",
    "--interpolation",
    type=click.Choice(RULES),
    default="standard",
    show_default=True,
    help=(
        "Interpolation of precision at a recall level: the maximum at that recall or above (standard), a "
        "textbook's printed rule, or the rule of a trec_eval version."
    ),
)
@level_option(default=1.0)
@settings("read.subtopics")
@option(
    "Measures",
    "--ranks",
    type=click.IntRange(1, 1000),
    default=20,
    help="Number of ranks shown with read.subtopics. [default: 20]",
)
@reading_options
@output_options(figures=())
def command(
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

    The table shows the mean interpolated precision at eleven recall levels; JSON also has the points of each
    query. With -C subtopics, the table shows the mean subtopic recall by rank.
    """
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
