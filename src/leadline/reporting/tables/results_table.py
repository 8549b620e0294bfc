"""Means, and values of queries, as a table: runs down, measures across."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.comparison.gate import Gate
from leadline.data.results import Results, plain
from leadline.data.wording import counted, queries
from leadline.reporting.render import Cell, RowLabel, Table
from leadline.reporting.tables.interval_table import (
    around_sheet,
    estimate_cells,
    estimate_columns,
    estimate_notes,
)


def results_table(
    results: Results, *, per_query: bool = False, means: bool = True, conditions: Sequence[Gate] = ()
) -> Table:
    """Return what `evaluate` prints: `means_table`, or a value a row where there are intervals or bounds.

    The outcome of `conditions` stands first below the table.
    """
    if results.bounds is None and results.intervals is None:
        sheet = means_table(results, per_query=per_query, means=means)
    else:
        sheet = around_sheet(results, per_query=per_query)
    sheet.notes[:0] = map(str, conditions)
    return sheet


def means_table(results: Results, *, per_query: bool = False, means: bool = True) -> Table:
    """Lay results out: runs down (the best first), measures across."""
    texts = [str(measure) for measure in results.measures]
    estimates = estimate_columns(results)
    order = results.order()
    rows: list[list[Cell]] = []
    best: set[tuple[int, int]] = set()
    for place in order:
        if per_query:
            rows += [
                [results.runs[place].name, query, *map(plain, values), *([None] * len(estimates))]
                for query, values in zip(results.queries, results.shown[place].tolist(), strict=True)
            ]
        if not means:
            continue
        first: list[Cell] = [results.runs[place].name, *([RowLabel("mean")] if per_query else [])]
        rows.append([*first, *map(plain, results.means[place].tolist()), *estimate_cells(results, place)])
        best |= {
            (len(rows) - 1, column + 1 + per_query)
            for column, winners in enumerate(results.best())
            if place in winners
        }
    averaged = queries(len(results.averaged_queries()))
    said = f"{counted(len(results.runs), 'run')}, mean over {averaged}"
    notes = [said, *estimate_notes(results), *map(str, results.warnings)]
    return Table(
        columns=["run", *(["query"] if per_query else []), *texts, *estimates],
        rows=rows,
        best=best,
        notes=notes,
    )
