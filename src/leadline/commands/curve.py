"""`leadline curve`: recall-precision points and the interpolated curve of runs."""

from __future__ import annotations

from typing import Any

import click

from leadline.commands._options import (
    deliver,
    output_options,
    progress,
    reading_options,
    write_whole,
)
from leadline.commands._results import results_text
from leadline.curve import Curves, curve
from leadline.formats import read_qrels
from leadline.measures.interpolated_precision import RULES
from leadline.render import Cell, Sheet


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
    "-l",
    "--level",
    type=float,
    default=1.0,
    metavar="GRADE",
    help="The least relevant grade (default 1).",
)
@click.option("--plot", metavar="FILE", help="Draw the curves into FILE.svg, FILE.pdf or FILE.png.")
@reading_options
@output_options
def command(
    *, qrels: str, runs: tuple[str, ...], level: float, plot: str | None, form: str,
    output: str | None, **options: Any,
) -> None:  # fmt: skip
    """Show how precision falls as recall rises, for RUNS against the judgments QRELS.

    The table holds the mean interpolated precision at eleven levels of recall; the points of every
    query are in the JSON.
    """
    if plot is not None:
        from leadline.plots import form_of

        form_of(plot)  # a bad name is refused before any work
    table = read_qrels(qrels)
    with progress("runs") as on_run:
        curves = curve(table, runs, rel=level, on_run=on_run, **options)
    curves.options["plot"] = plot
    text = results_text(
        "curve", curves, curves.to_dict, lambda: sheet_of(curves),
        form=form, qrels=qrels, judgments=len(table), to_file=output is not None,
    )  # fmt: skip
    if plot is not None:
        _draw(curves, plot)
    deliver(text, output)


def _draw(curves: Curves, path: str) -> None:
    from leadline.plots import form_of, picture
    from leadline.plots.recall_precision import recall_precision

    figure = recall_precision(curves.names, curves.levels, curves.precision)
    write_whole(path, picture(figure, form_of(path)))


def sheet_of(curves: Curves) -> Sheet:
    """Lay curves out: runs down (the best mean first), levels of recall across."""
    order = curves.order()
    table = curves.precision[order]
    rows: list[list[Cell]] = [
        [curves.runs[place].name, *values]
        for place, values in zip(order, table.tolist(), strict=True)
    ]
    winners = (table == table.max(axis=0)).nonzero() if len(rows) > 1 else ()
    best = {(row, column + 1) for row, column in zip(*map(list, winners), strict=True)}
    notes = [
        f"mean interpolated precision ({curves.options['interpolation']}) at levels of recall",
        f"{len(rows)} runs, {len(curves.queries)} queries",
        *map(str, curves.notices),
    ]
    return Sheet(["run", *map(str, curves.levels)], rows, best=best, notes=notes, digits=3)
