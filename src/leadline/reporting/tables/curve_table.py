"""Recall-precision and subtopic curves as a table."""

from __future__ import annotations

from leadline.data.wording import counted, queries
from leadline.evaluation.curves import Curves, SubtopicCurves
from leadline.reporting.render import Cell, Table

TICKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 200, 500, 1000)


def curve_table(curves: Curves | SubtopicCurves) -> Table:
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
