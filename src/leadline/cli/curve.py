"""`leadline curve`: recall-precision points and the interpolated curve of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    level_option,
    output_options,
    progress,
    reading_options,
    refuse_overwrite,
    write_output,
)
from leadline.cli._plots import check_plot, plot_option, plot_options, write_plot
from leadline.cli._results import results_text
from leadline.data.wording import counted, queries
from leadline.evaluation.curves import Curves, SubtopicCurves, curve, subtopic_curve
from leadline.io.read import read_qrels
from leadline.measures.average_precision import RULES
from leadline.reporting.render import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SECTION = "Evaluation"

TICKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 200, 500, 1000)


@click.command(
    cls=Command, epilog="Example: leadline curve qrels.txt bm25.run dense.run.gz --plot curves.pdf"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@option(
    "Measures",
    "--interpolation",
    type=click.Choice(RULES),
    default="standard",
    show_default=True,
    help="Interpolated precision at a recall level: the maximum at that recall or above (standard), "
    "the printed rule of a textbook, or the rule of a version of trec_eval.",
)
@level_option(default=1.0)
@option(
    "Reading",
    "--subtopics",
    is_flag=True,
    help="Read column 2 of the qrels as subtopic and compute subtopic recall.",
)
@option(
    "Measures",
    "--ranks",
    type=click.IntRange(1, 1000),
    default=20,
    help="Number of ranks shown with --subtopics. [default: 20]",
)
@plot_option("Figure of the curves: FILE.svg, FILE.pdf or FILE.png.")
@plot_options
@reading_options
@output_options
def command(
    *,
    qrels: str,
    runs: tuple[str, ...],
    interpolation: str,
    level: float,
    subtopics: bool,
    ranks: int,
    plot: str | None,
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Compute precision-recall curves.

    The table shows the mean interpolated precision at eleven recall levels; JSON also has the points of every
    query. With --subtopics the table shows the mean subtopic recall by rank.
    """
    appearance = check_plot(plot)
    refuse_overwrite(output, qrels, *runs)
    refuse_overwrite(plot, qrels, *runs)
    table = read_qrels(qrels, subtopics=subtopics, kind=kind)
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
        "plot": plot,
    } | appearance
    text = results_text(
        "curve",
        curves,
        curves.to_dict,
        lambda: sheet_of(curves),
        form=form,
        qrels=qrels,
        judgments=len(table.grades),
        to_file=output is not None,
    )
    if plot is not None:
        _draw(curves, plot)
    write_output(text, output)


def _draw(curves: Curves | SubtopicCurves, path: str) -> None:
    from leadline.reporting.plots import COLUMN
    from leadline.reporting.plots.line_plots import covered_by_rank, recall_precision

    def make(width: float | None) -> Figure:
        wide = width or COLUMN
        if isinstance(curves, SubtopicCurves):
            return covered_by_rank(curves.names, curves.ranks, curves.share, width=wide)
        return recall_precision(curves.names, curves.levels, curves.precision, width=wide)

    write_plot(path, make)


def sheet_of(curves: Curves | SubtopicCurves) -> Table:
    """Lay curves out: runs down (the best mean first), levels of recall or ranks across."""
    order = curves.order()
    if isinstance(curves, SubtopicCurves):
        shown = [rank for rank in TICKS if rank <= curves.ranks[-1]]
        heads, table = list(map(str, shown)), curves.share[order][:, [rank - 1 for rank in shown]]
        says = "mean share of the subtopics covered to a rank"
    else:
        heads, table = list(map(str, curves.levels)), curves.precision[order]
        says = f"mean interpolated precision ({curves.options['interpolation']}) at levels of recall"
    rows: list[list[Cell]] = [
        [curves.runs[place].name, *values] for place, values in zip(order, table.tolist(), strict=True)
    ]
    winners = (table == table.max(axis=0)).nonzero() if len(rows) > 1 else ()
    best = {(row, column + 1) for row, column in zip(*map(list, winners), strict=True)}
    notes = [says, f"{counted(len(rows), 'run')}, {queries(len(curves.queries))}", *map(str, curves.warnings)]
    return Table(["run", *heads], rows, best=best, notes=notes, digits=3)
