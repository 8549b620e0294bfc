"""`leadline curve`: recall-precision points and the interpolated curve of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.cli._options import (
    OUTPUT,
    output_options,
    progress,
    reading_options,
    refuse_overwrite,
    write_output,
)
from leadline.cli._plots import check_plot, plot_options, write_plot
from leadline.cli._results import results_text
from leadline.evaluation.curves import Curves, SubtopicCurves, curve, subtopic_curve
from leadline.io.read import read_qrels
from leadline.measures.average_precision import RULES
from leadline.reporting.tables.curve_table import curve_table

if TYPE_CHECKING:
    pass


SECTION = "Measure runs against judgments"


@click.command(epilog="Example: leadline curve qrels.txt bm25.run dense.run.gz --plot curves.pdf")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--interpolation",
    type=click.Choice(RULES),
    default="standard",
    show_default=True,
    help="What precision a recall level gets: the highest at that recall or above (standard), "
    "the lecture's printed rule, or what a version of trec_eval does.",
)
@click.option(
    "-l", "--level", type=float, default=1.0, metavar="GRADE", help="The least relevant grade (default 1)."
)
@click.option(
    "--subtopics",
    is_flag=True,
    help="Column 2 of the qrels is a subtopic: draw how many new subtopics the ranks bring.",
)
@click.option("--ranks", type=click.IntRange(1, 1000), default=20, help="How many ranks --subtopics shows.")
@click.option(
    "--plot", type=OUTPUT, metavar="FILE", help="Draw the curves into FILE.svg, FILE.pdf or FILE.png."
)
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
    """Show how precision falls as recall rises, for RUNS against the judgments QRELS.

    The table holds the mean interpolated precision at eleven levels of recall; the points of every
    query are in the JSON. With --subtopics it holds the mean share of subtopics covered by rank.
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
        lambda: curve_table(curves),
        form=form,
        qrels=qrels,
        judgments=len(table),
        to_file=output is not None,
    )
    if plot is not None:
        from leadline.reporting.plots.result_plots import figure_of_result

        write_plot(plot, figure_of_result(curves))
    write_output(text, output)
