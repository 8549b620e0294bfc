"""The figures of a comparison, by name: what of its table goes into which picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.comparison.comparison_result import Comparison
from leadline.comparison.sentences import p_text
from leadline.data.arrays import Floats
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.reporting.plots import COLUMN, shortened
from leadline.reporting.plots.interval_plots import forest
from leadline.reporting.plots.layout_of_text import FEW
from leadline.reporting.plots.pair_plots import differences, scatter
from leadline.reporting.plots.significance_groups import critical_difference, significance_groups
from leadline.stats.corrections import BH
from leadline.stats.simultaneous import critical_difference as nemenyi_difference
from leadline.stats.simultaneous import friedman, mean_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


KINDS = ("differences", "scatter", "forest", "pairs", "groups", "critical-difference")


def figure_of(
    comparison: Comparison,
    kind: str,
    place: int = 0,
    pair: int = 0,
    *,
    width: float | None = None,
    per_pair: bool = False,
    pairs: Sequence[int] | None = None,
) -> Figure:
    """Draw `differences` or `scatter` of a pair, or one of the figures of all runs.

    These are `forest` (means with intervals), `pairs` (mean differences with intervals), `groups` (means,
    with bars that join runs without a significant difference by the test of the comparison), and
    `critical-difference` (mean ranks with the critical difference of Nemenyi). `place` is that of the
    measure, by default the first. Intervals of differences are simultaneous where there are such, as in the
    table; with `per_pair` they are those of each pair alone. `pairs` are the places of the pairs that
    `pairs` draws, by default all.
    """
    if kind == "differences":
        return _differences(comparison, place, pair, width or COLUMN, per_pair=per_pair)
    if kind == "pairs":
        return _pairs(comparison, place, pairs, width or COLUMN, per_pair=per_pair)
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


def interval_name(comparison: Comparison, *, per_pair: bool = False) -> str:
    """Return the label of the intervals of differences."""
    level = percent(comparison.rules.confidence)
    if comparison.simultaneous is None:
        return f"{level} confidence interval"
    if per_pair:
        return f"{level} confidence interval of the pair alone"
    if isinstance(comparison.rules.correction, BH):
        return f"{level} interval by the false coverage rate"
    return f"{level} simultaneous confidence interval"


def _limits(comparison: Comparison, place: int, *, per_pair: bool) -> Floats:
    """Return the limits that the table shows, pairs x low, high, clipped to what the measure allows."""
    limits = comparison.limits if per_pair else comparison.shown_limits
    reach = comparison.reach(str(comparison.results.measures[place]))
    return np.asarray(np.clip(limits[place], -reach, reach))


def _differences(comparison: Comparison, place: int, pair: int, width: float, *, per_pair: bool) -> Figure:
    results, (first, second) = comparison.results, comparison.pairing
    low, high = _limits(comparison, place, per_pair=per_pair)[pair].tolist()
    return differences(
        comparison.differences[place][:, pair],
        queries=list(results.queries),
        first=results.names[first[pair]],
        second=results.names[second[pair]],
        measure=results.measures[place],
        low=low,
        high=high,
        interval=interval_name(comparison, per_pair=per_pair),
        width=width,
    )


def _pairs(
    comparison: Comparison, place: int, pairs: Sequence[int] | None, width: float, *, per_pair: bool
) -> Figure:
    """Draw one row per pair, in descending order of difference."""
    results, (first, second) = comparison.results, comparison.pairing
    shown = np.arange(len(first)) if pairs is None else np.asarray(pairs, dtype=np.int64)
    if not len(shown):
        raise UsageError("no pair with a significant difference to draw; --pairs all draws every pair")
    means = comparison.means[place]
    shown = shown[np.argsort(-means[shown], kind="stable")]
    limits = _limits(comparison, place, per_pair=per_pair)[shown]
    bases = set(second.tolist())
    alone = len(bases) == 1 and len(results.names) > 2
    short = results.names if alone else shortened(results.names, 10 if len(shown) <= FEW else 13)
    names = [
        short[first[row]] if alone else f"{short[first[row]]} \N{MINUS SIGN} {short[second[row]]}"
        for row in shown.tolist()
    ]
    what = f"difference from {results.names[min(bases)]}" if alone else "difference"
    more = f", {interval_name(comparison, per_pair=per_pair)}"
    if len(shown) < len(first):
        more += f"; {len(shown):,} of {counted(len(first), 'pair')}"
    return forest(
        names,
        means[shown],
        limits[:, 0],
        limits[:, 1],
        label=_label(comparison, place, more, what=f"mean {what}"),
        zero=True,
        rows="pairs",
        width=width,
    )


def _scatter(comparison: Comparison, place: int, pair: int, width: float) -> Figure:
    results, (first, second) = comparison.results, comparison.pairing
    values = results.averaged_values(place)
    return scatter(
        values[second[pair]],
        values[first[pair]],
        first=results.names[first[pair]],
        second=results.names[second[pair]],
        measure=results.measures[place],
        width=width,
    )


def _forest(comparison: Comparison, place: int, width: float) -> Figure:
    results, rules = comparison.results, comparison.rules
    limits = comparison.intervals.limits[:, place]
    order = results.order(place)
    bases = sorted(set(comparison.pairing.second.tolist()))
    return forest(
        [results.names[run] for run in order],
        results.means[order, place],
        limits[order, 0],
        limits[order, 1],
        label=_label(
            comparison, place, f", {percent(rules.confidence)} confidence interval of each mean alone"
        ),
        reference=order.index(bases[0]) if len(bases) == 1 and len(order) > 2 else None,
        width=width,
    )


def _groups(comparison: Comparison, place: int, width: float | None) -> Figure:
    order = comparison.results.order(place)
    apart = comparison.matrix(place)[np.ix_(order, order)]
    rules = comparison.rules
    return significance_groups(
        [comparison.results.names[run] for run in order],
        comparison.results.means[order, place],
        apart,
        label=_label(
            comparison, place, f"; bars: no significant difference ({rules.test}, {rules.corrected_by})"
        ),
        width=width,
    )


def _critical_difference(comparison: Comparison, place: int, width: float | None) -> Figure:
    results, rules = comparison.results, comparison.rules
    measure = results.measures[place]
    values = results.averaged_values(place).T
    whole = ~np.isnan(values).any(axis=1)
    if not whole.any():
        raise UsageError(f"no query has {measure} in every run; critical-difference ranks such queries")
    values = values[whole]
    ranks = mean_ranks(values, rising=measure.rising)
    order = np.argsort(ranks, kind="stable").tolist()
    alpha = f"{1 - rules.confidence:.3g}"
    left = int((~whole & ~np.isnan(results.averaged_values(place)).all(axis=0)).sum())
    p = friedman(values)
    note = f"Friedman: {p_text(p)}; bars: no significant difference (Nemenyi, {alpha})"
    if left:
        note += f"; left out: {counted(left, 'query', 'queries')} that some run lacks"
    return critical_difference(
        [results.names[run] for run in order],
        ranks[order],
        difference=nemenyi_difference(len(order), len(values), confidence=rules.confidence),
        label=f"{measure}, mean rank ({counted(len(values), 'query', 'queries')}; 1 is best)",
        note=note,
        width=width,
    )


def _label(comparison: Comparison, place: int, more: str, *, what: str = "mean") -> str:
    queries = len(comparison.results.averaged_queries())
    return f"{comparison.results.measures[place]}, {what} ({queries} queries){more}"
