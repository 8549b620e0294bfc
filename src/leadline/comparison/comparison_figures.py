"""Figures of a comparison, by name, and of values by slice of the queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from leadline.charts import COLUMN, FONT, enlarged, label_of, shortened, style
from leadline.charts.grid import grid, is_written
from leadline.charts.interval_plots import forest
from leadline.charts.pair_plots import differences, scatter
from leadline.charts.significance_groups import critical_difference, significance_groups
from leadline.charts.text_layout import FEW, narrowed, stretches
from leadline.comparison.pair_texts import p_text
from leadline.data.arrays import Floats
from leadline.data.validation import refusal
from leadline.data.wording import counted, percent
from leadline.errors import UsageError, either
from leadline.evaluation.lookups import place_of
from leadline.evaluation.query_figures import SHAPES, interval_words, label_of_means
from leadline.evaluation.results import in_range
from leadline.stats.simultaneous import BH, friedman, mean_ranks
from leadline.stats.simultaneous import critical_difference as nemenyi_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.comparison.comparison_result import Comparison
    from leadline.comparison.query_slices import Slices

Record: TypeAlias = Any  # a row of slices
NEEDS_ALL_PAIRS = (
    "--figure groups needs tests of all pairs. Compare without a baseline, or choose another --figure."
)
MINUS = " \N{MINUS SIGN} "  # between the runs of a pair
NOT_COMPARED = "'{}' and '{}' were not compared. Choose a pair from the table."


def by_slice(
    slices: Slices,
    *,
    measure: object | None = None,
    pair: tuple[str, str] | None = None,
    width: float | None = None,
) -> Figure:
    """Draw means or mean differences by slice with their intervals, one row per slice and run or pair.

    If there would be more than 30 rows, runs or pairs are the rows and slices the columns of a heat map
    without intervals; significant differences are bold, or dots where the values are not written.
    """
    name = slices.measures[0] if measure is None else str(measure)
    if name not in slices.measures:
        raise UsageError(f"the slices have no measure '{name}'. Use {either(slices.measures)}.")
    records = _each_once([record for record in slices.records if record.measure == name])
    if pair is not None:
        if slices.rules is None:
            raise UsageError("these slices show means of runs, not pairs of runs. Leave out `pair`.")
        check_pair(pair)
        records = [record for record in records if sorted(_owner(record)) == sorted(pair)]
        if not records:
            raise UsageError(NOT_COMPARED.format(*pair))
    several = len(set(map(_owner, records))) > 1
    if several and len(records) > FEW:
        return _map(records, slices, name, width)
    level, (low, high) = percent(slices.confidence), slices.ranges[name]
    compared, inches = slices.rules is not None, width or COLUMN
    if compared:
        low, high = low - high, high - low
        label, words = f"{name}, mean difference", f'{level} simultaneous interval over slices (except "all")'
    else:
        label, words = f"mean {name}", f"{level} interval of each mean"
        # the runs of a slice beside each other
        order = {(one.by, one.slice): place for place, one in reversed(list(enumerate(records)))}
        records = sorted(records, key=lambda one: order[one.by, one.slice])
    rows = []
    for one in records:
        if not compared:
            rows.append((one.mean, one.low, one.high))
        elif np.isnan(one.simultaneous_low):
            rows.append((one.difference, one.low, one.high))
        else:
            rows.append((one.difference, one.simultaneous_low, one.simultaneous_high))
    means, *limits = np.array(rows).T
    label += interval_words(np.transpose(limits), words)
    names, headings = [_head(one, slices) for one in records], {}
    if not several:
        label += f"; {MINUS.join(_short(_owner(records[0]), inches))}"
    else:
        owners = [MINUS.join(map(label_of, _owner(one))) for one in records]
        names, groups = (names, owners) if compared else (owners, names)
        headings = {first: group for group, first, _ in stretches(groups)}
    return forest(
        names,
        means,
        *np.clip(limits, low, high),
        label=label,
        zero=compared,
        rows="slices",
        headings=headings,
        width=inches,
    )


def _short(names: Sequence[str], inches: float) -> list[str]:
    """Shorten names of a label until they fit beside those of the rows."""
    with style():
        return narrowed(names, 0.5 * enlarged(inches) * 72, size=FONT, most=36)


def _owner(record: Record) -> tuple[str, ...]:
    return (record.run,) if hasattr(record, "run") else (record.a, record.b)


def _map(records: Sequence[Record], slices: Slices, measure: str, width: float | None) -> Figure:
    """Draw runs or pairs by slices, the highest over all queries at the top."""
    owners = {owner: row for row, owner in enumerate(dict.fromkeys(map(_owner, records)))}
    largest = {(one.by, one.slice): one for one in sorted(records, key=lambda one: one.queries)}
    columns = {key: place for place, key in enumerate(dict.fromkeys((one.by, one.slice) for one in records))}
    heads = [_head(largest[key], slices) for key in columns]
    table = np.full((len(owners), len(heads)), np.nan)
    moved = np.zeros(table.shape, dtype=np.bool_)
    means = slices.rules is None
    for one in records:
        cell = owners[_owner(one)], columns[one.by, one.slice]
        table[cell] = one.mean if means else one.difference
        moved[cell] = not means and one.verdict in ("better", "worse")
    order = np.argsort(np.where(np.isnan(table[:, 0]), np.inf, -table[:, 0]), kind="stable")
    table, moved = table[order], moved[order]
    owned = [list(owners)[row] for row in order.tolist()]
    names, others = [owner[0] for owner in owned], {owner[-1] for owner in owned}
    reach = float(np.nanmax(np.abs(table), initial=0.0)) or 1.0
    low, high = float(np.nanmin(table, initial=np.inf)), float(np.nanmax(table, initial=-np.inf))
    limits = (low, high) if means and low <= high else (-reach, reach)
    label = f"{measure}, mean"
    if not means:
        if len(others) == 1:  # one baseline, which the label names
            label += f" difference from {shortened(sorted(others), 24)[0]}"
        else:
            names = list(
                map(MINUS.join, zip(*(shortened(side, 10) for side in zip(*owned, strict=True)), strict=True))
            )
            label += " difference"
        label += f" ({'bold' if is_written(*table.shape) else 'dot'}: significant)"
    figure, _ = grid(
        names,
        heads,
        table,
        table,
        label=label,
        many=f"{len(heads)} slices",
        cmap="Blues" if means else "PuOr",
        limits=limits,
        bold=moved,
        what="runs" if means else "pairs",
        width=width,
    )
    return figure


def _each_once(records: Sequence[Record]) -> list[Record]:
    """Return the records with those of all queries once, although every way to slice has them."""
    first: dict[tuple[object, ...], Record] = {}
    for record in records:
        first.setdefault((_owner(record), record.slice and (record.by, record.slice)), record)
    return list(first.values())


def _head(record: Record, slices: Slices) -> str:
    """Return the label of a slice, with what slices the queries if several sources do."""
    if record.slice is None:
        return f"all ({record.queries:,})"
    return f"{record.by}: " * (len(slices.without_slice) > 1) + f"{record.slice} ({record.queries:,})"


BY_QUERY = ("differences", "scatter", "critical-difference")  # of per-query values


class _Asked(NamedTuple):
    measure: int
    pair: int
    width: float | None
    per_pair: bool
    pairs: Sequence[int] | None

    @property
    def inches(self) -> float:
        return self.width or COLUMN


def drawn_comparison(
    comparison: Comparison,
    figure: str,
    measure_index: int = 0,
    pair: int = 0,
    *,
    width: float | None = None,
    per_pair: bool = False,
    pairs: Sequence[int] | None = None,
) -> Figure:
    """Draw a figure of a comparison."""
    refuse_by_query(comparison, figure)
    return KINDS[figure](comparison, _Asked(measure_index, pair, width, per_pair, pairs))


def refuse_by_query(comparison: Comparison, figure: str) -> None:
    """Raise UsageError for a figure of the values of single queries if these are estimates."""
    if figure in (*BY_QUERY, *SHAPES) and comparison.results.withheld is not None:
        others = ["forest", "pairs", *["groups"] * (not comparison.baselines)]
        raise UsageError(
            f"per-query estimates from sampled judgments are too noisy for the {figure} figure. Use "
            f"{either(others)}."
        )


def check_pair(pair: object) -> None:
    """Raise UsageError unless a pair is two names."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise refusal("pair", pair, "the names of two runs")


def pair_of(comparison: Comparison, pair: tuple[str, str]) -> int:
    """Return the index of the pair of two runs, in either order."""
    check_pair(pair)
    names = {comparison.names[place_of(comparison.names, name)] for name in pair}
    for index, (run_a, run_b) in enumerate(zip(*comparison.pairing, strict=True)):
        if {comparison.names[run_a], comparison.names[run_b]} == names:
            return index
    raise UsageError(NOT_COMPARED.format(*pair))


def interval_name(comparison: Comparison, *, per_pair: bool = False, which: str = "the pair") -> str:
    """Return the label of the intervals of differences."""
    level = percent(comparison.rules.confidence)
    if comparison.simultaneous is None:
        return f"{level} confidence interval"
    if per_pair:
        return f"{level} confidence interval of {which} alone"
    if isinstance(comparison.rules.correction, BH):
        return f"{level} interval with a controlled false coverage rate"
    return f"{level} simultaneous confidence interval"


def _limits(comparison: Comparison, asked: _Asked) -> Floats:
    """Return the limits that the table shows, pairs x (low, high), clipped to the range of the measure."""
    limits = comparison.limits if asked.per_pair else comparison.shown_limits
    reach = comparison.reach(str(comparison.results.measures[asked.measure]))
    return np.asarray(np.clip(limits[asked.measure], -reach, reach))


def _differences(comparison: Comparison, asked: _Asked) -> Figure:
    results, (first, second) = comparison.results, comparison.pairing
    low, high = _limits(comparison, asked)[asked.pair].tolist()
    return differences(
        comparison.differences[asked.measure][:, asked.pair],
        queries=list(results.queries),
        first=results.names[first[asked.pair]],
        second=results.names[second[asked.pair]],
        measure=results.measures[asked.measure],
        low=low,
        high=high,
        interval=interval_name(comparison, per_pair=asked.per_pair),
        width=asked.inches,
    )


def _pairs(comparison: Comparison, asked: _Asked) -> Figure:
    """Draw one row per pair, in descending order of difference."""
    results, (first, second) = comparison.results, comparison.pairing
    drawn = np.arange(len(first)) if asked.pairs is None else np.asarray(asked.pairs, dtype=np.int64)
    if not len(drawn):
        raise UsageError(
            f"no pair differs significantly on {results.measures[asked.measure]}, so there is nothing to "
            "plot. Choose another figure, or plot every pair with --pairs all."
        )
    means = comparison.means[asked.measure]
    drawn = drawn[np.argsort(-means[drawn], kind="stable")]
    limits = _limits(comparison, asked)[drawn]
    bases = set(second.tolist())
    one_baseline = len(bases) == 1 and len(results.names) > 2
    short = results.names if one_baseline else shortened(results.names, 10 if len(drawn) <= FEW else 13)
    names = [
        short[first[row]] if one_baseline else f"{short[first[row]]} \N{MINUS SIGN} {short[second[row]]}"
        for row in drawn.tolist()
    ]
    what = (
        f"difference from {_short(results.names, asked.inches)[min(bases)]}" if one_baseline else "difference"
    )
    name = interval_name(comparison, per_pair=asked.per_pair, which="each pair")
    more = interval_words(limits, name)
    if len(drawn) < len(first):
        more += f"; {len(drawn):,} of {counted(len(first), 'pair')}"
    return forest(
        names,
        means[drawn],
        limits[:, 0],
        limits[:, 1],
        label=_label(comparison, asked.measure, more, what=f"mean {what}"),
        zero=True,
        rows="pairs",
        width=asked.inches,
    )


def _scatter(comparison: Comparison, asked: _Asked) -> Figure:
    results, (first, second) = comparison.results, comparison.pairing
    values = results.averaged_values(asked.measure)
    return scatter(
        values[second[asked.pair]],
        values[first[asked.pair]],
        first=results.names[first[asked.pair]],
        second=results.names[second[asked.pair]],
        measure=results.measures[asked.measure],
        width=asked.inches,
    )


def _forest(comparison: Comparison, asked: _Asked) -> Figure:
    results, rules = comparison.results, comparison.rules
    order = results.order(asked.measure)
    new = [one["new"] for one in results.sampling or [{"new": False}] * len(order)]
    limits = in_range(comparison.intervals.limits[order, asked.measure], results.measures[asked.measure])
    bases = sorted(set(comparison.pairing.second.tolist()))
    return forest(
        [f"{label_of(results.names[run])}{' (new)' * new[run]}" for run in order],
        results.means[order, asked.measure],
        limits[:, 0],
        limits[:, 1],
        label=_label(
            comparison,
            asked.measure,
            interval_words(limits, f"{percent(rules.confidence)} confidence interval of each mean alone"),
        ),
        reference=order.index(bases[0]) if len(bases) == 1 and len(order) > 2 else None,
        width=asked.inches,
    )


def _groups(comparison: Comparison, asked: _Asked) -> Figure:
    if comparison.baselines:
        raise UsageError(NEEDS_ALL_PAIRS)
    order = comparison.results.order(asked.measure)
    apart = comparison.matrix(asked.measure)[np.ix_(order, order)]
    rules = comparison.rules
    return significance_groups(
        [comparison.results.names[run] for run in order],
        comparison.results.means[order, asked.measure],
        apart,
        label=_label(comparison, asked.measure, f"; bars: no significant difference ({rules.decided_by})"),
        width=asked.width,
    )


def _critical_difference(comparison: Comparison, asked: _Asked) -> Figure:
    results, rules = comparison.results, comparison.rules
    measure = results.measures[asked.measure]
    values = results.averaged_values(asked.measure).T
    complete = ~np.isnan(values).any(axis=1)
    if not complete.any():
        raise UsageError(
            f"the critical-difference figure needs queries with a value of {measure} for every run, but "
            "there are none. Choose another figure."
        )
    values = values[complete]
    ranks = mean_ranks(values, rising=measure.rising)
    order = np.argsort(ranks, kind="stable").tolist()
    alpha = f"{1 - rules.confidence:.3g}"
    excluded = int((~complete & ~np.isnan(results.averaged_values(asked.measure)).all(axis=0)).sum())
    p = friedman(values)
    note = f"Friedman: {p_text(p)}; bars: no significant difference (Nemenyi, {alpha})"
    if excluded:
        note += f"; left out: {counted(excluded, 'query', 'queries')} for which a run has no value"
    return critical_difference(
        [results.names[run] for run in order],
        ranks[order],
        difference=nemenyi_difference(len(order), len(values), confidence=rules.confidence),
        label=f"{measure}, mean rank ({counted(len(values), 'query', 'queries')}; 1 is best)",
        note=note,
        width=asked.width,
    )


def _label(comparison: Comparison, measure_index: int, more: str, *, what: str = "mean") -> str:
    return label_of_means(comparison.results, measure_index, what) + more


# By name, in the order of `--figure`.
KINDS: dict[str, Callable[[Comparison, _Asked], Figure]] = {
    "differences": _differences,
    "forest": _forest,
    "pairs": _pairs,
    "groups": _groups,
    "critical-difference": _critical_difference,
    "scatter": _scatter,
}
