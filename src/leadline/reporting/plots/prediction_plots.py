"""Figures of query performance prediction: predicted and measured values, and their correlations by run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.estimation.predict import Predictions, over_queries
from leadline.reporting.plots import COLUMN
from leadline.reporting.plots.association_plots import association
from leadline.reporting.plots.interval_plots import forest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


KINDS = ("heat-map", "scatter", "correlations")
Truth = Mapping[str, Mapping[str, float]]


def predicted_and_measured(
    predictions: Predictions, truth: Truth, run: str, index: int = 0, *, width: float = COLUMN, **rules: Any
) -> Figure:
    """Draw the measured values of a run over its predictions, one point per query, with the correlation.

    Parameters
    ----------
    predictions : Predictions
        Predictions.
    truth : mapping
        `{run: {query: value}}` of a measure.
    run : str
        The run.
    index : int, default 0
        Index of the predictor.
    width : float
        Width in inches.
    **rules
        As in `over_queries`.
    """
    names = predictions.names
    if run not in names or run not in truth:
        there = [name for name in names if name in truth]
        raise UsageError(f"no run '{run}' with predictions and values; there are: " + ", ".join(there[:20]))
    measured = np.array([truth[run].get(query, math.nan) for query in predictions.queries], dtype=np.float64)
    predicted = predictions.values[names.index(run), :, index]
    defined = np.flatnonzero(np.isfinite(measured) & np.isfinite(predicted))
    predictor = str(predictions.measures[index])
    rows = over_queries(predictions, {run: truth[run]}, **rules)
    found = next(row for row in rows if row["predictor"] == predictor)
    return association(
        predicted[defined],
        measured[defined],
        [predictions.queries[place] for place in defined.tolist()],
        across=f"{predictor}, predicted ({run})",
        up="measured",
        coefficients={
            "Kendall's tau-b": _shown(found["kendall"], rules),
            "Pearson's r": _shown(found["pearson"], rules),
        },
        marked=False,
        width=width,
    )


def _shown(coefficient: Mapping[str, float | None], rules: Mapping[str, Any]) -> str:
    value, low, high = (coefficient[name] for name in ("value", "low", "high"))
    if value is None:
        return "undefined"
    text = f"{value:.2f}"
    if low is not None and high is not None:
        text += f" ({percent(rules.get('confidence', 0.95))} over queries {low:.2f} to {high:.2f})"
    return text.replace("-", "\N{MINUS SIGN}")


def correlations(
    predictions: Predictions, truth: Truth, index: int = 0, *, width: float = COLUMN, **rules: Any
) -> Figure:
    """Draw Kendall's tau-b over queries with its interval, one row per run, in descending order.

    Parameters
    ----------
    predictions : Predictions
        Predictions.
    truth : mapping
        `{run: {query: value}}` of a measure.
    index : int, default 0
        Index of the predictor.
    width : float
        Width in inches.
    **rules
        As in `over_queries`.
    """
    predictor = str(predictions.measures[index])
    rows = [row for row in over_queries(predictions, truth, **rules) if row["predictor"] == predictor]
    columns = np.array([[_number(row["kendall"][name]) for name in ("value", "low", "high")] for row in rows])
    order = np.argsort(np.where(np.isnan(columns[:, 0]), np.inf, -columns[:, 0]), kind="stable").tolist()
    queries = counted(max(row["queries"] for row in rows), "query", "queries")
    label = f"{predictor}: Kendall's tau-b with the measure over {queries}"
    return forest(
        [rows[place]["run"] for place in order],
        *columns[order].T,
        label=f"{label}, {percent(rules.get('confidence', 0.95))} interval",
        zero=True,
        width=width,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
