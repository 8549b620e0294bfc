"""Figures of a measure by run and query: heat map, box plots, violin plots, lines; and the means."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from leadline.charts import COLUMN
from leadline.charts.distribution_plots import by_query, distributions
from leadline.charts.grid import query_map
from leadline.charts.interval_plots import forest
from leadline.data.arrays import Floats
from leadline.data.table import range_of
from leadline.data.wording import percent
from leadline.errors import UsageError
from leadline.evaluation.lookups import averaged_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.evaluation.results import Results


def _heat_map(results: Results, index: int, width: float | None) -> Figure:
    return per_query(results, results.measures[index], width=width or COLUMN)


def _distributions(shape: str, results: Results, index: int, width: float | None) -> Figure:
    """Draw the distribution of the per-query values of each run as a box or a violin."""
    measure = results.measures[index]
    order, values = _ordered_values(results, index)
    means = results.means[order, index]
    if measure.average == "sum":  # the marker is the mean of the values that are drawn
        means = values.mean(axis=1, where=~np.isnan(values))
    return distributions(
        [results.names[run] for run in order],
        list(values),
        means,
        label=f"{measure} per query ({averaged_over(results, index)})",
        shape=shape,
        limits=range_of(measure),
        width=width or COLUMN,
    )


def _line(results: Results, index: int, width: float | None) -> Figure:
    """Draw a line of the per-query values of each run."""
    measure = results.measures[index]
    order, values = _ordered_values(results, index)
    names = [results.names[run] for run in order]
    return by_query(
        names, values, list(results.queries), label=str(measure), rising=measure.rising, width=width
    )


def _ordered_values(results: Results, index: int) -> tuple[list[int], Floats]:
    """Return the order of the runs, best first, and their per-query values, runs x queries."""
    _refuse_withheld(results)
    order = results.order(index)
    return order, results.averaged_values(index)[order]


def label_of_means(results: Results, index: int, what: str = "mean") -> str:
    """Return the label of the means of a measure: over how many queries, and whose labels they are by."""
    estimated = "estimated " * (results.withheld is not None)
    judge = "; labels by an automatic judge" * bool(results.unreliable)
    return f"{results.measures[index]}, {estimated}{what} ({averaged_over(results, index)}){judge}"


def interval_words(limits: Floats, words: str) -> str:
    """Return the words on intervals after a comma; empty if none is drawn."""
    return f", {words}" if np.isfinite(limits).all(axis=-1).any() else ""


def _means(results: Results, index: int, width: float | None) -> Figure:
    """Draw the means with their intervals; without intervals points."""
    order = results.order(index)
    label = label_of_means(results, index)
    limits = np.full((len(order), 2), np.nan)
    if results.intervals is not None:
        shown = results.limit_columns()
        limits = np.stack([shown["low"], shown["high"]], axis=-1)[order, index]
        label += interval_words(limits, f"{percent(results.intervals.confidence)} interval of each mean")
    return forest(
        [results.names[run] for run in order],
        results.means[order, index],
        limits[:, 0],
        limits[:, 1],
        label=label,
        width=width or COLUMN,
    )


def _refuse_withheld(results: Results) -> None:
    if results.withheld is not None:
        raise UsageError(
            "per-query estimates from sampled judgments are too noisy to plot. Use figure='means', or plot a "
            "comparison"
        )


def per_query(results: Results, measure: object | None = None, *, width: float = COLUMN) -> Figure:
    """Draw a heat map of runs (best first) by queries (hardest first); low values are dark."""
    _refuse_withheld(results)
    index = 0 if measure is None else results.measure_index(measure)
    values = results.values[:, :, index]
    rows = results.order(index)
    defined = ~np.isnan(values)
    sums = np.where(defined, values, 0.0).sum(axis=0)
    means = np.where(defined.any(axis=0), sums / np.maximum(defined.sum(axis=0), 1), math.inf)
    if not results.measures[index].rising:
        means = -means
    cells = values[rows][:, np.argsort(means, kind="stable")]
    measure = results.measures[index]
    return query_map(
        [results.names[row] for row in rows],
        cells,
        limits=range_of(measure),
        order="hardest on the left",
        label=f"{measure} per query and run",
        width=width,
    )


# By name, in the order of `--figure`; those of `SHAPES` show the per-query values of every run.
KINDS: dict[str, Callable[[Results, int, float | None], Figure]] = {
    "heat-map": _heat_map,
    "box": partial(_distributions, "box"),
    "violin": partial(_distributions, "violin"),
    "line": _line,
    "means": _means,
}
SHAPES = ("box", "violin", "line")
