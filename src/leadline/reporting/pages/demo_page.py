"""The page of `leadline demo`: a table, two pictures, what to know about them, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.data.results import Results
from leadline.evaluation.curves import Curves
from leadline.reporting.pages import fill, inline, table_of
from leadline.reporting.plots.line_plots import recall_precision
from leadline.reporting.plots.query_plots import per_query
from leadline.reporting.render import Table, render
from leadline.version import VERSION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.8  # inches: text of a picture is readable on a phone and not too large on a wide screen


def page(
    results: Results,
    curves: Curves,
    *,
    collection: str,
    judgments: int,
    circular: tuple[Table, Figure] | None = None,
) -> str:
    """Make the page of results and curves of the same runs, and of a machine as judge (table, figure)."""
    curve = recall_precision(curves.names, curves.levels, curves.precision, width=WIDTH)
    first = str(results.measures[0])
    order = results.order()
    return fill(
        "demo.html",
        version=VERSION,
        collection=collection,
        queries=len(results.queries),
        judgments=judgments,
        runs=len(results.runs),
        first=first,
        best=results.names[order[0]],
        best_value=float(results.means[order[0], 0]),
        table=table_of(results),
        curve=inline(curve, "curve", f"Recall-precision curves of {len(results.runs)} runs"),
        map=inline(
            per_query(results, width=WIDTH), "map", f"{first} of every query in {len(results.runs)} runs"
        ),
        machine="" if circular is None else render(circular[0], "html"),
        machine_figure=""
        if circular is None
        else inline(circular[1], "machine", "Machine alone, few judgments, and the truth"),
        warnings=[str(notice) for notice in results.warnings],
    )
