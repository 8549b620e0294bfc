"""The figures of a comparison, by name: what of its table goes into which picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leadline.comparison.table import Comparison
from leadline.comparison.wording import p_text
from leadline.errors import UsageError
from leadline.plots import COLUMN
from leadline.plots.differences import differences
from leadline.plots.forest import forest
from leadline.plots.scatter import scatter
from leadline.plots.significance_groups import critical_difference, significance_groups
from leadline.statistics.mean_ranks import critical_difference as nemenyi_difference
from leadline.statistics.mean_ranks import friedman, mean_ranks
from leadline.wording import counted, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


KINDS = ("differences", "scatter", "forest", "groups", "critical-difference")


def figure_of(
    comparison: Comparison, kind: str, place: int = 0, pair: int = 0, *, width: float | None = None
) -> Figure:
    """Draw `differences` or `scatter` of a pair, or one of the figures of all runs.

    These are `forest` (means with intervals), `groups` (means, with bars that join runs without a
    significant difference by the test of the comparison), and `critical-difference` (mean ranks with the
    critical difference of Nemenyi). `place` is that of the measure, by default the first.
    """
    if kind == "differences":
        return _differences(comparison, place, pair, width or COLUMN)
    if kind == "scatter":
        return _scatter(comparison, place, pair, width or COLUMN)
    if kind == "forest":
        return _forest(comparison, place, width or COLUMN)
    if kind == "groups":
        return _groups(comparison, place, width)
    return _critical_difference(comparison, place, width)


def pair_of(comparison: Comparison, first: str, second: str) -> int:
    """Return the place of the pair of two runs, in either order; refuse what was not compared."""
    for name in (first, second):
        if name not in comparison.names:
            import difflib

            close = difflib.get_close_matches(name, comparison.names, n=3, cutoff=0.0)
            raise UsageError(f"no run '{name}'; nearest: " + ", ".join(close))
    wanted = {first, second}
    for place, (one, other) in enumerate(zip(*comparison.pairing, strict=True)):
        if {comparison.names[one], comparison.names[other]} == wanted:
            return place
    raise UsageError(f"'{first}' and '{second}' were not compared; expected a pair of the table")


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


def _groups(comparison: Comparison, place: int, width: float | None) -> Figure:
    order = comparison.results.order(place)
    apart = comparison.matrix(place)[np.ix_(order, order)]
    rules = comparison.rules
    return significance_groups(
        [comparison.results.names[run] for run in order], comparison.results.means[order, place], apart,
        label=_label(comparison, place, f"; bars: no significant difference ({rules.test}, "
                     f"{rules.corrected_by})"), width=width,
    )  # fmt: skip


def _critical_difference(comparison: Comparison, place: int, width: float | None) -> Figure:
    results, rules = comparison.results, comparison.rules
    measure = results.measures[place]
    values = results.counted(place).T
    whole = ~np.isnan(values).any(axis=1)
    if not whole.any():
        raise UsageError(
            f"no query has {measure} in every run; critical-difference ranks such queries"
        )
    values = values[whole]
    ranks = mean_ranks(values, rising=measure.rising)
    order = np.argsort(ranks, kind="stable").tolist()
    alpha = f"{1 - rules.confidence:.3g}"
    left = int((~whole & ~np.isnan(results.counted(place)).all(axis=0)).sum())
    p = friedman(values)
    note = f"Friedman: {p_text(p)}; bars: no significant difference (Nemenyi, {alpha})"
    if left:
        note += f"; left out: {counted(left, 'query', 'queries')} that some run lacks"
    return critical_difference(
        [results.names[run] for run in order], ranks[order],
        difference=nemenyi_difference(len(order), len(values), confidence=rules.confidence),
        label=f"{measure}, mean rank ({counted(len(values), 'query', 'queries')}; 1 is best)",
        note=note, width=width,
    )  # fmt: skip


def _label(comparison: Comparison, place: int, more: str) -> str:
    queries = len(comparison.results.averaged_queries())
    return f"{comparison.results.measures[place]}, mean ({queries} queries){more}"
