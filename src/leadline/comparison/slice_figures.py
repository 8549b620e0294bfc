"""Figures of values by slice of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from leadline.charts import COLUMN, label_of, shortened
from leadline.charts.grid import grid, is_written
from leadline.charts.interval_plots import forest
from leadline.charts.text_layout import FEW, stretches
from leadline.data.wording import percent
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.comparison.query_slices import Slices

Record: TypeAlias = Any  # a SliceMean or SliceDifference


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
        raise UsageError(f"the slices have no measure '{name}'. Use one of {', '.join(slices.measures)}.")
    records = _each_once([record for record in slices.records if record.measure == name])
    if pair is not None:
        if slices.rules is None:
            raise UsageError("these slices show means of runs, not pairs of runs. Leave out `pair`.")
        records = [record for record in records if sorted(_owner(record)) == sorted(pair)]
        if not records:
            raise UsageError(f"'{pair[0]}' and '{pair[1]}' were not compared. Choose a pair from the table.")
    several = len({_owner(record) for record in records}) > 1
    if several and len(records) > FEW:
        return _map(records, slices, name, width)
    level = percent(slices.confidence)
    names = [_named(record, slices) for record in records]
    headings: dict[int, str] = {}
    if slices.rules is None:
        label, alone = f"mean {name} with {level} interval of each mean", shortened([records[0].run], 36)[0]
        if several:  # the runs of a slice beside each other
            order = {(one.by, one.slice): place for place, one in reversed(list(enumerate(records)))}
            records = sorted(records, key=lambda one: order[one.by, one.slice])
            headings = _headings([_named(record, slices) for record in records])
            names = [record.run for record in records]
        rows = [(one.mean, one.low, one.high) for one in records]
    else:
        pairs = [f"{label_of(one.a)} \N{MINUS SIGN} {label_of(one.b)}" for one in records]
        label, alone = f"{name}, mean difference, {level} simultaneous interval over slices", pairs[0]
        headings = _headings(pairs) if several else {}
        rows = [
            (one.difference, one.low, one.high)
            if one.slice is None
            else (one.difference, one.simultaneous_low, one.simultaneous_high)
            for one in records
        ]
    return forest(
        names,
        *zip(*rows, strict=True),
        label=label if several else f"{label}; {alone}",
        zero=slices.rules is not None,
        rows="slices",
        headings=headings,
        width=width or COLUMN,
    )


def _headings(groups: Sequence[str]) -> dict[int, str]:
    """Return the name of each group of adjacent rows, by its first row."""
    return {first: name for name, first, _ in stretches(groups)}


def _owner(record: Record) -> tuple[str, ...]:
    return (record.run,) if hasattr(record, "run") else (record.a, record.b)


def _map(records: Sequence[Record], slices: Slices, measure: str, width: float | None) -> Figure:
    """Draw runs or pairs by slices, the highest over all queries at the top."""
    owners = {owner: row for row, owner in enumerate(dict.fromkeys(map(_owner, records)))}
    columns = {key: place for place, key in enumerate(dict.fromkeys((one.by, one.slice) for one in records))}
    table = np.full((len(owners), len(columns)), np.nan)
    moved = np.zeros(table.shape, dtype=np.bool_)
    sizes = dict.fromkeys(columns, 0)
    for one in records:
        cell = owners[_owner(one)], columns[one.by, one.slice]
        table[cell] = one.mean if slices.rules is None else one.difference
        moved[cell] = slices.rules is not None and one.verdict in ("better", "worse")
        sizes[one.by, one.slice] = max(sizes[one.by, one.slice], one.queries)
    order = np.argsort(np.where(np.isnan(table[:, 0]), np.inf, -table[:, 0]), kind="stable")
    table, moved = table[order], moved[order]
    owned = list(owners)
    rows = _labels([owned[row] for row in order.tolist()])
    heads = [_head(by, name, sizes[by, name], slices) for by, name in columns]
    means = slices.rules is None
    reach = float(np.nanmax(np.abs(table), initial=0.0)) or 1.0
    low, high = (float(np.nanmin(table, initial=np.inf)), float(np.nanmax(table, initial=-np.inf)))
    limits = (low, high) if means and low <= high else (-reach, reach)
    label = f"{measure}, mean"
    if not means:
        bases = {owner[1] for owner in owned}
        label += f" difference from {shortened(sorted(bases), 24)[0]}" if len(bases) == 1 else " difference"
        label += f" ({'bold' if is_written(*table.shape) else 'dot'}: significant)"
    figure, _ = grid(
        rows,
        heads,
        table,
        table,
        label=label,
        many=f"{len(columns)} slices",
        cmap="Blues" if means else "PuOr",
        limits=limits,
        bold=moved,
        what="runs" if means else "pairs",
        width=width,
    )
    return figure


def _labels(owners: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the labels of runs; of pairs the first run alone if the second is always the same."""
    firsts = [owner[0] for owner in owners]
    seconds = {owner[-1] for owner in owners}
    if len(owners[0]) == 1 or len(seconds) == 1:
        return firsts
    short = [shortened([owner[side] for owner in owners], 10) for side in (0, 1)]
    return [f"{a} \N{MINUS SIGN} {b}" for a, b in zip(*short, strict=True)]


def _each_once(records: Sequence[Record]) -> list[Record]:
    """Return the records with those of all queries once, although every way to slice has them."""
    first: dict[tuple[object, ...], Record] = {}
    for record in records:
        first.setdefault((_owner(record), record.slice and (record.by, record.slice)), record)
    return list(first.values())


def _named(record: Record, slices: Slices) -> str:
    return _head(record.by, record.slice, record.queries, slices)


def _head(by: str, name: str | None, queries: int, slices: Slices) -> str:
    """Return the label of a slice, with what slices the queries if two have slices of the same name."""
    if name is None:
        return f"all ({queries:,})"
    shared = any(record.slice == name and record.by != by for record in slices.records)
    return f"{by}: {name} ({queries:,})" if shared else f"{name} ({queries:,})"
