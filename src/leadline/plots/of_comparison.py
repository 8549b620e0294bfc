"""The figures of a comparison, by name: what of its table goes into which picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leadline.comparison.table import Comparison
from leadline.plots import COLUMN
from leadline.plots.critical_difference import critical_difference
from leadline.plots.differences import differences
from leadline.plots.forest import forest
from leadline.plots.scatter import scatter
from leadline.wording import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_of(
    comparison: Comparison, kind: str, place: int = 0, pair: int = 0, *, width: float = COLUMN
) -> Figure:
    """Draw `differences` or `scatter` of a pair, or `forest` or `critical-difference` of all runs.

    `place` is that of the measure, by default the first.
    """
    if kind == "differences":
        return _differences(comparison, place, pair, width)
    if kind == "scatter":
        return _scatter(comparison, place, pair, width)
    if kind == "forest":
        return _forest(comparison, place, width)
    return _critical_difference(comparison, place, width)


def _differences(comparison: Comparison, place: int, pair: int, width: float) -> Figure:
    results, (first, second) = comparison.results, comparison.pairing
    low, high = comparison.limits[place, pair].tolist()
    return differences(
        comparison.differences[place][:, pair], queries=list(results.queries),
        first=results.names[first[pair]], second=results.names[second[pair]],
        measure=results.measures[place], low=low, high=high, width=width,
    )  # fmt: skip


def _scatter(comparison: Comparison, place: int, pair: int, width: float) -> Figure:
    results, (first, second) = comparison.results, comparison.pairing
    values = results.counted(place)
    return scatter(
        values[second[pair]], values[first[pair]],
        first=results.names[first[pair]], second=results.names[second[pair]],
        measure=results.measures[place], width=width,
    )  # fmt: skip


def _forest(comparison: Comparison, place: int, width: float) -> Figure:
    results, rules = comparison.results, comparison.rules
    limits = comparison.intervals.limits[:, place]
    order = results.order(place)
    bases = sorted(set(comparison.pairing.second.tolist()))
    return forest(
        [results.names[run] for run in order], results.means[order, place],
        limits[order, 0], limits[order, 1],
        label=_label(comparison, place, f", {percent(rules.confidence)} interval"),
        reference=order.index(bases[0]) if len(bases) == 1 and len(order) > 2 else None,
        width=width,
    )  # fmt: skip


def _critical_difference(comparison: Comparison, place: int, width: float) -> Figure:
    order = comparison.results.order(place)
    apart = comparison.matrix(place)[np.ix_(order, order)]
    return critical_difference(
        [comparison.results.names[run] for run in order], comparison.results.means[order, place],
        apart, label=_label(comparison, place, ""), width=width,
    )  # fmt: skip


def _label(comparison: Comparison, place: int, more: str) -> str:
    queries = len(comparison.results.averaged_queries())
    return f"{comparison.results.measures[place]}, mean{more} ({queries} queries)"
