"""Figures of query performance prediction: predicted and measured values, and their correlations by run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import COLUMN, shortened
from leadline.charts.association_plots import association, with_limits
from leadline.charts.interval_plots import forest
from leadline.charts.query_map import query_map
from leadline.data.arrays import Floats
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.stats.ranks import mid_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.estimation.predict import Predictions


KINDS = ("heat-map", "scatter", "correlations")
Truth = Mapping[str, Mapping[str, float]]
Rows = Sequence[Mapping[str, Any]]  # of `over_queries`


def ranked_predictions(predictions: Predictions, index: int = 0, *, width: float = COLUMN) -> Figure:
    """Draw a heat map of runs (in their order) by queries (lowest mean rank first).

    The colour is the rank of the query among those of the run, from 0 for the lowest to 1 for the highest
    prediction; ties share their mean rank. Predictions themselves depend on the scale of the scores of a run.
    """
    ranks = rank_shares(predictions.values[:, :, index])
    defined = ~np.isnan(ranks)
    number = defined.sum(axis=0)
    means = np.where(number > 0, np.where(defined, ranks, 0.0).sum(axis=0) / np.maximum(number, 1), np.inf)
    return query_map(
        predictions.names,
        ranks[:, np.argsort(means, kind="stable")],
        limits=(0.0, 1.0),
        order="the lowest at the left",
        label=f"{predictions.measures[index]}, rank of the query within each run (0: lowest, 1: highest)",
        width=width,
    )


def rank_shares(values: Floats) -> Floats:
    """Return the rank of each value in its row, from 0 (lowest) to 1 (highest); 1/2 if there is only one.

    >>> rank_shares(np.array([[0.1, 900.0, 0.3, np.nan], [2.0, 2.0, 2.0, 2.0]])).tolist()
    [[0.0, 1.0, 0.5, nan], [0.5, 0.5, 0.5, 0.5]]
    """
    defined = ~np.isnan(values)
    number = defined.sum(axis=1, keepdims=True)
    below = number - mid_ranks(values)  # NaN ranks last
    shares = np.where(number > 1, below / np.maximum(number - 1, 1), 0.5)
    return np.where(defined, shares, np.nan)


def predicted_and_measured(
    predictions: Predictions,
    rows: Rows,
    truth: Truth,
    run: str,
    index: int = 0,
    *,
    measure: str,
    confidence: float,
    width: float = COLUMN,
) -> Figure:
    """Draw the measured values of a run over its predictions, one point per query, with the correlation."""
    names = predictions.names
    if run not in names or run not in truth:
        there = [name for name in names if name in truth]
        raise UsageError(f"no run '{run}' with predictions and values; there are: " + ", ".join(there[:20]))
    measured = np.array([truth[run].get(query, math.nan) for query in predictions.queries], dtype=np.float64)
    predicted = predictions.values[names.index(run), :, index]
    defined = np.flatnonzero(np.isfinite(measured) & np.isfinite(predicted))
    predictor = str(predictions.measures[index])
    found = next(row for row in rows if row["predictor"] == predictor and row["run"] == run)
    return association(
        predicted[defined],
        measured[defined],
        [predictions.queries[place] for place in defined.tolist()],
        across=f"{predictor}, predicted ({shortened([run], 36)[0]})",
        up=f"{measure}, measured",
        coefficients={
            "Kendall's tau-b": _shown(found["kendall"], confidence),
            "Pearson's r": _shown(found["pearson"], confidence),
        },
        marked=False,
        width=width,
    )


def _shown(coefficient: Mapping[str, float | None], confidence: float) -> str:
    found = [coefficient[name] for name in ("value", "low", "high")]
    value, low, high = (math.nan if number is None else number for number in found)
    return with_limits(value, [("queries", low, high)], percent(confidence))


def correlations(
    predictions: Predictions,
    rows: Rows,
    index: int = 0,
    *,
    measure: str,
    confidence: float,
    width: float = COLUMN,
) -> Figure:
    """Draw Kendall's tau-b over queries with its interval, one row per run, in descending order."""
    predictor = str(predictions.measures[index])
    rows = [row for row in rows if row["predictor"] == predictor]
    columns = np.array([[_number(row["kendall"][name]) for name in ("value", "low", "high")] for row in rows])
    order = np.argsort(np.where(np.isnan(columns[:, 0]), np.inf, -columns[:, 0]), kind="stable").tolist()
    least, most = (end(row["queries"] for row in rows) for end in (min, max))
    queries = ("" if least == most else f"{least:,} to ") + counted(most, "query", "queries")
    bounded = bool(np.isfinite(columns[:, 1:]).all(axis=1).any())
    label = f"{predictor}: Kendall's tau-b with {measure} over {queries}"
    return forest(
        [rows[place]["run"] for place in order],
        *columns[order].T,
        label=label + (f", {percent(confidence)} interval" if bounded else ""),
        zero=True,
        width=width,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
