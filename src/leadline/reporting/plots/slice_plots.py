"""Figures of values by slice of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.comparison.query_slices import SliceDifference, SliceMean, Slices
from leadline.data.wording import percent
from leadline.errors import UsageError
from leadline.reporting.plots import COLUMN, shortened
from leadline.reporting.plots.interval_plots import forest
from leadline.reporting.plots.text_layout import FEW

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_slice(
    slices: Slices,
    *,
    measure: object | None = None,
    pair: tuple[str, str] | None = None,
    width: float = COLUMN,
) -> Figure:
    """Draw means or mean differences by slice with their intervals, one row per slice and run or pair.

    Parameters
    ----------
    slices : Slices
        Values by slice.
    measure : str or Measure, optional
        Measure; by default the first.
    pair : (str, str), optional
        Pair of runs, in the order of the comparison; by default all pairs.
    width : float
        Width in inches.
    """
    name = slices.measures[0] if measure is None else str(measure)
    if name not in slices.measures:
        raise UsageError(f"no measure '{name}' in these slices; there are: " + ", ".join(slices.measures))
    records = [record for record in slices.records if record.measure == name]
    if pair is not None:
        records = [r for r in records if isinstance(r, SliceDifference) and {r.a, r.b} == set(pair)]
        if not records:
            raise UsageError(f"'{pair[0]}' and '{pair[1]}' were not compared; expected a pair of the table")
    if slices.rules is None:
        return _means([record for record in records if isinstance(record, SliceMean)], slices, name, width)
    return _differences([r for r in records if isinstance(r, SliceDifference)], slices, name, width)


def _means(records: list[SliceMean], slices: Slices, measure: str, width: float) -> Figure:
    several = len({record.run for record in records}) > 1
    if several:  # the runs of a slice beside each other
        order = {(record.by, record.slice): None for record in records}
        place = {key: row for row, key in enumerate(order)}
        records = sorted(records, key=lambda record: place[record.by, record.slice])
    runs = _short([record.run for record in records], several=several)
    names = [
        _named(record.slice, record.queries) + (f": {run}" if several else "")
        for record, run in zip(records, runs, strict=True)
    ]
    label = f"{measure}, mean, {percent(slices.confidence)} interval of each mean alone"
    return forest(
        names,
        [record.mean for record in records],
        [record.low for record in records],
        [record.high for record in records],
        label=label if several else f"{label}; {runs[0]}",
        rows="slices",
        width=width,
    )


def _differences(records: list[SliceDifference], slices: Slices, measure: str, width: float) -> Figure:
    several = len({(record.a, record.b) for record in records}) > 1
    firsts, seconds = (
        _short([getattr(record, side) for record in records], several=several) for side in ("a", "b")
    )
    names = [
        _named(record.slice, record.queries) + (f": {a} \N{MINUS SIGN} {b}" if several else "")
        for record, a, b in zip(records, firsts, seconds, strict=True)
    ]
    whole = [record.slice is None for record in records]
    label = f"{measure}, mean difference, {percent(slices.confidence)} simultaneous interval over slices"
    return forest(
        names,
        [record.difference for record in records],
        [r.low if one else r.simultaneous_low for r, one in zip(records, whole, strict=True)],
        [r.high if one else r.simultaneous_high for r, one in zip(records, whole, strict=True)],
        label=label if several else f"{label}; {firsts[0]} \N{MINUS SIGN} {seconds[0]}",
        zero=True,
        rows="slices",
        width=width,
    )


def _named(name: str | None, queries: int) -> str:
    return f"{'all' if name is None else name} ({queries:,})"


def _short(names: list[str], *, several: bool) -> list[str]:
    if not several:
        return shortened(names, 36)
    return shortened(names, 14 if len(names) <= FEW else 10)
