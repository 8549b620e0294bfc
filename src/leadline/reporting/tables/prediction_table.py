"""Predicted query performance, and its correlation with a measure, as tables."""

from __future__ import annotations

from typing import Any

from leadline.data.wording import counted, percent
from leadline.estimation.predict import Predictions
from leadline.reporting.render import Cell, Table
from leadline.reporting.tables.results_table import means_table


def prediction_table(found: Predictions, *, per_query: bool = True, means: bool = True) -> Table:
    """Lay every query down; no predictor says which run is best."""
    sheet = means_table(found, per_query=per_query, means=means)
    sheet.best = set()
    return sheet


def prediction_correlation_table(found: Predictions, rows: list[dict[str, Any]]) -> Table:
    """Lay the correlations over queries down, a row a run and predictor."""
    parts = [(name, end) for name in ("pearson", "kendall") for end in ("value", "low", "high")]
    cells: list[list[Cell]] = [
        [row["run"], row["predictor"], row["queries"], *(row[name][end] for name, end in parts)]
        for row in rows
    ]
    heads = ["Pearson", "low", "high", "Kendall tau-b", "tau low", "tau high"]
    options = found.options
    said = (
        f"{counted(len(found.runs), 'run')}; correlation with {options['truth']} over queries; low, high: "
        f"{percent(options['confidence'])} interval, queries drawn again ({options['draws']} draws)"
    )
    return Table(["run", "predictor", "queries", *heads], cells, notes=[said, *map(str, found.warnings)])
