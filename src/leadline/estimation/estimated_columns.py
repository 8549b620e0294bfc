"""Columns and notes of estimates from a sample of judgments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.table import Column
from leadline.data.wording import counted, percent
from leadline.estimation.estimated_values import Estimate

if TYPE_CHECKING:
    from leadline.estimation.estimate import EstimatedResults

INTERVAL = "low, high: {} confidence interval over samples of documents, for these queries"
POOLED = "pooled: relative to the relevant documents of the pool, not of the whole collection"
PREDICTED = {
    "machine": "predicted from calibrated machine labels",
    "votes": "predicted from the votes of the pooled runs",
    "centred": "predicted as the mean of the judged pairs",
    "none": "counted as 0 (Horvitz-Thompson estimator)",
}


class _Rows:
    """The estimates of all runs by measure, the best first, and what of them is shown."""

    def __init__(self, results: EstimatedResults) -> None:
        self.rows: list[tuple[Any, int, Estimate]] = [
            (measure, run, results.estimate(results.names[run], measure, over_queries=False))
            for index, measure in enumerate(results.measures)
            for run in results.order(index)
        ]
        self.estimates = [estimate for *_, estimate in self.rows]
        self.widened = any(results.new[run] and estimate.widened > 0 for _, run, estimate in self.rows)
        self.bounded = any(
            one.guessed + one.unknown > 0 and not np.isnan(one.lowest) for one in self.estimates
        )

    def column(self, name: str, field: str = "") -> Column:
        """Return a field of the estimates."""
        return Column(name, [getattr(estimate, field or name) for estimate in self.estimates])

    def clipped(self, name: str, field: str = "") -> Column:
        """Return a field of the estimates, clipped to the range of the measure."""
        values = self.column(name, field).values
        low, high = (
            np.array([getattr(measure, end) for measure, *_ in self.rows]) for end in ("low", "high")
        )
        return Column(name, np.clip(np.asarray(values, np.float64), low, high))


def _counts(values: Iterable[int | None]) -> list[str | None]:
    return [None if value is None else f"{value:,}" for value in values]


def _named(measure: object, target: str) -> str:
    """Return the name of a measure with its target, as in "nDCG@10, pooled"."""
    return f"{measure}, pooled" if target == "pooled" else str(measure)


def estimate_columns(results: EstimatedResults) -> list[Column]:
    """Return the estimates, one run per row."""
    rows = _Rows(results)
    columns = [
        Column("run", [results.names[run] for _, run, _ in rows.rows]),
        Column("", ["new" if results.new[run] else "" for _, run, _ in rows.rows]),
        Column("measure", [_named(measure, estimate.target) for measure, _, estimate in rows.rows]),
        rows.clipped("estimate", "value"),
        rows.clipped("low"),
        rows.clipped("high"),
    ]
    if rows.bounded:
        columns += [rows.clipped("lowest"), rows.clipped("highest")]
    columns.append(Column("rank", _counts(estimate.rank for estimate in rows.estimates)))
    if rows.widened:
        halves = _counts(estimate.to_halve for estimate in rows.estimates)
        columns += [rows.column("widened"), Column("to halve", halves)]
    return [*columns, *map(rows.column, ("judged", "drawn", "guessed", "unknown"))]


def estimate_notes(results: EstimatedResults) -> list[str]:
    """Return the sentences below the estimates."""
    rows = _Rows(results)
    predicted = PREDICTED.get(results.proxy, f"predicted from quantiles of {results.proxy}")
    if results.proxy == "none" and not any(estimate.drawn > 0 for estimate in rows.estimates):
        predicted = "counted as non-relevant"
    notes = []
    if results.read["pool"]:
        each = results.judgments / len(results.queries)
        notes.append(f"estimated from {counted(results.judgments, 'judgment')}, {each:.3g} per query")
    notes.append(INTERVAL.format(percent(results.confidence)) + f"; unjudged pairs: {predicted}")
    if rows.widened:
        notes.append(
            "widened: share of the width due to documents outside the frame; to halve: how many of them to "
            "judge for half of it (draw them with `leadline pool --from`, the earlier runs and this one)"
        )
    if rows.bounded:
        ratios = any(np.isnan(estimate.lowest) for estimate in rows.estimates)
        words = "lowest, highest: range over all grades of the guessed and unknown pairs"
        notes.append(words + ("; none of measures with a divisor (nDCG, R, F, AP)" if ratios else ""))
    if any(estimate.target == "pooled" for estimate in rows.estimates):
        notes.append(POOLED)
    return [*notes, *map(str, results.warnings)]


def pair_columns(results: EstimatedResults) -> list[Column]:
    """Return the differences of all pairs of runs."""
    found = results.differences()
    targets = {str(measure): results.target(place) for place, measure in enumerate(results.measures)}
    return [
        Column("a", [pair.a for pair in found]),
        Column("b", [pair.b for pair in found]),
        Column("measure", [_named(pair.measure, targets[pair.measure]) for pair in found]),
        Column("a - b", [pair.difference for pair in found]),
        Column("low", [pair.low for pair in found]),
        Column("high", [pair.high for pair in found]),
    ]


def pair_notes(results: EstimatedResults) -> list[str]:
    """Return the sentences below the differences."""
    found = results.differences()
    notes = [INTERVAL.format(percent(results.confidence)) + ", each pair alone"]
    notes += [POOLED] * any(results.target(place) == "pooled" for place in range(len(results.measures)))
    notes += [str(notice) for notice in results.warnings if notice.code != "no_interval"]  # of single runs
    for measure in map(str, results.measures):
        of_measure = [pair for pair in found if pair.measure == measure]
        reasons = [pair.reason for pair in of_measure if pair.reason]
        if reasons:
            more = "; ..." if len(set(reasons)) > 1 else ""
            count = f"{len(reasons):,} of {counted(len(of_measure), 'pair')}"
            notes.append(f"no interval for {count} by {measure}: {reasons[0]}{more}")
    return notes
