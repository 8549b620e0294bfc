"""Columns, notes and parts of estimates from a sample of judgments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, freeze
from leadline.data.table import Column, RunInfo, interval_texts
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.estimation.designs import Ratio
from leadline.estimation.sampling_errors import WITHOUT_VALUE, RunEstimate, variance
from leadline.evaluation.results import Results

if TYPE_CHECKING:
    from leadline.estimation.estimate import EstimatedResults


class Estimate(NamedTuple):
    """One estimated mean.

    Attributes
    ----------
    value : float
        The estimate; NaN where undefined or withheld.
    rank : int or None
        Rank among the runs with an interval, or among all if none has one; None for the others.
    low, high : float
        Limits of the confidence interval over queries (and draws); NaN where that for these queries is
        withheld.
    these_low, these_high : float
        Limits of the confidence interval for these queries, over draws of documents; equal where every
        document that matters was judged, NaN where the interval is withheld.
    widened : float
        Share of the width of the interval for these queries that is due to documents outside the frame.
    to_halve : int or None
        Number of documents outside the frame to judge, drawn at random, to halve the widening; None where it
        is not known.
    lowest, highest : float
        Limits of the value over all grades of guessed and unknown pairs of the list; NaN for ratios (nDCG, R,
        F) and AP, whose divisors depend on the grades of documents outside the list too.
    judged : float
        Share of the weight of the value that is judged with certainty; the four shares add up to 1.
    drawn : float
        Share that was drawn and judged.
    guessed : float
        Share for which a grade is predicted.
    unknown : float
        Share without a prediction.
    reason : str
        Reason for withholding the interval; empty if it is given.
    target : {"pooled", "all"}
        Whether the value is relative to the relevant documents of the pool (nDCG, R, F, AP), or depends on
        those of the list only. Relative to all relevant documents of a collection, values are lower.
    """

    value: float
    rank: int | None
    low: float
    high: float
    these_low: float
    these_high: float
    widened: float
    to_halve: int | None
    lowest: float
    highest: float
    judged: float
    drawn: float
    guessed: float
    unknown: float
    reason: str
    target: str = "all"


class Difference(NamedTuple):
    """Estimated difference of two runs in a measure.

    Attributes
    ----------
    a, b : str
        Names of the runs.
    measure : str
        The measure.
    difference : float
        Mean of `a` minus mean of `b`.
    these_low, these_high : float
        Confidence interval for these queries, over draws of documents; NaN where it is withheld.
    reason : str
        Reason for withholding the interval; empty if it is given.
    doubt : tuple of float
        By how much documents outside the frame may lower and raise the difference.
    """

    a: str
    b: str
    measure: str
    difference: float
    these_low: float
    these_high: float
    reason: str
    doubt: tuple[float, float]


INTERVALS = (
    "low, high: {} confidence interval for other queries of this kind",
    "these queries: {} confidence interval for these queries only, over samples of documents",
    "exact: every document that matters was judged",
)
SHARES = (
    "judged, drawn, guessed: shares of the estimate judged in any case, judged because drawn, and "
    "predicted; unknown: the rest"
)
POOLED = "pooled: relative to the relevant documents in the pool, not in the whole collection"
PREDICTED = {
    "machine": "predicted from calibrated LLM labels",
    "centered": "predicted as the mean grade of the judged pairs",
    "none": "counted as 0 (Horvitz-Thompson estimator)",
}


class _Rows:
    """The estimates of all runs by measure, the best first, and what of them is shown."""

    def __init__(self, results: EstimatedResults) -> None:
        self.rows: list[tuple[Any, int, Estimate]] = [
            (measure, run, results.estimate(results.names[run], measure))
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

    def clipped(self, name: str, field: str = "") -> list[Column]:
        """Return a field of the estimates for CSV, and clipped to the range of the measure as printed."""
        raw = self.column(name, field)
        low, high = (
            np.array([getattr(measure, end) for measure, *_ in self.rows]) for end in ("low", "high")
        )
        values = np.clip(np.asarray(raw.values, np.float64), low, high)
        none = name in ("low", "high") and bool(np.isnan(values).all())
        return [Column(name, values, printed_only=True, hidden=none), raw._replace(hidden=True)]

    def these(self) -> list[Column]:
        """Return the intervals for these queries: their limits for CSV, and one column as printed."""
        limits = [self.clipped(name) for name in ("these_low", "these_high")]
        found = [np.asarray(printed.values) for printed, _ in limits]
        none, texts = bool(np.isnan(found).all()), interval_texts(*found)
        return [Column("these queries", texts, printed_only=True, hidden=none), *(raw for _, raw in limits)]


def _counts(values: Iterable[int | None]) -> list[str | None]:
    return [None if value is None else f"{value:,}" for value in values]


def with_target(measure: object, target: str) -> str:
    """Return the name of a measure with its target, as in "nDCG@10, pooled"."""
    return f"{measure}, pooled" if target == "pooled" else str(measure)


def estimate_columns(results: EstimatedResults) -> list[Column]:
    """Return the estimates, one run per row."""
    rows = _Rows(results)
    columns = [
        Column("run", [results.names[run] for _, run, _ in rows.rows]),
        Column("new", ["new" if results.new[run] else "" for _, run, _ in rows.rows], heading=""),
        Column("measure", [with_target(measure, estimate.target) for measure, _, estimate in rows.rows]),
        *rows.clipped("estimate", "value"),
        *rows.clipped("low"),
        *rows.clipped("high"),
        *rows.these(),
    ]
    if rows.bounded:
        columns += [*rows.clipped("lowest"), *rows.clipped("highest")]
    columns.append(Column("rank", _counts(estimate.rank for estimate in rows.estimates)))
    if rows.widened:
        halves = _counts(estimate.to_halve for estimate in rows.estimates)
        columns += [rows.column("widened"), Column("to_halve", halves, heading="to halve")]
    return [*columns, *map(rows.column, ("judged", "drawn", "guessed", "unknown"))]


def basis_of(results: EstimatedResults) -> str:
    """Return the number of judgments that the estimates are made from, as text."""
    each = results.judgments / len(results.queries)
    return f"estimated from {counted(results.judgments, 'judgment')}, {each:.3g} per query"


def estimate_notes(results: EstimatedResults) -> list[str]:
    """Return the sentences below the estimates."""
    rows = _Rows(results)
    predicted = PREDICTED[results.proxy]
    if results.proxy == "none" and not any(estimate.drawn > 0 for estimate in rows.estimates):
        predicted = "counted as non-relevant"
    notes = [basis_of(results)] * bool(results.read["pool"])
    for words, end in zip(INTERVALS[:2], ("low", "these_low"), strict=True):
        any_ = not np.isnan([getattr(estimate, end) for estimate in rows.estimates]).all()
        notes += [words.format(percent(results.confidence))] * any_
    notes += [INTERVALS[2]] * any(estimate.these_low == estimate.these_high for estimate in rows.estimates)
    notes.append(f"unjudged pairs: {predicted}")
    notes.append(SHARES + "; new: not one of the pooled runs" * any(results.new))
    if rows.widened:
        notes.append(
            "widened: share of the interval's width (for these queries) that comes from documents outside "
            "the sampling frame"
        )
        notes.append(
            "to halve: number of documents outside the frame whose judgments would halve the widening (to "
            "draw them, pass the pooled runs and the new run to `leadline pool --for MEASURE --from "
            "POOL --total N`, with a larger N than before)"
        )
    if rows.bounded:
        ratios = any(np.isnan(estimate.lowest) for estimate in rows.estimates)
        words = "lowest, highest: range of the estimate over all possible grades of guessed and unknown pairs"
        notes.append(
            words + " (not for nDCG, R, F and AP, which also depend on other documents)" * bool(ratios)
        )
    if results.estimates is not None:
        notes += results.estimates.notes(results.names)
    if any(estimate.target == "pooled" for estimate in rows.estimates):
        notes.append(POOLED)
    return [*notes, *map(str, results.warnings)]


BY_MEASURE = ("measures", "_relevant", "_ideals")
BY_RUN = ("runs", "values", "averaged", "present", "without_mean", "sampling")


def refuse_infinite(measures: Sequence[object], infinite: Iterable[bool | np.bool_]) -> None:
    """Raise UsageError for the first of the measures whose estimate is infinite."""
    for measure, one in zip(measures, infinite, strict=True):
        if one:
            raise UsageError(f"the estimate of {measure} is infinite. Use smaller grades.")


def is_exact(results: EstimatedResults, place: int, runs: Sequence[int] | None = None) -> bool:
    """Return whether every document that matters for a measure was judged, for some runs or for all."""
    parts: list[list[RunEstimate]] = vars(results)["_parts"]
    if isinstance(results._kinds[place], Ratio) and not results._complete:  # noqa: SLF001  # same module
        return False
    return all(parts[run][place].shares[0] == 1.0 for run in (range(len(parts)) if runs is None else runs))


def variance_of(results: EstimatedResults, place: int, run: int, other: int | None = None) -> float:
    """Return the variance over draws of the mean of a run, or of its difference from another one."""
    a: RunEstimate = vars(results)["_parts"][run][place]
    if other is None:
        return variance(a.errors, a.replicates, a.predicted[1])
    b: RunEstimate = vars(results)["_parts"][other][place]
    predicted = a.predicted_difference(b, vars(results)["_pairs"])
    return variance(a.errors - b.errors, a.replicates - b.replicates, predicted)


def selected(results: EstimatedResults, indices: Sequence[int]) -> EstimatedResults:
    """Return the estimates of some of the measures."""
    chosen = {name: [getattr(results, name)[index] for index in indices] for name in BY_MEASURE}
    parts = [[parts[index] for index in indices] for parts in vars(results)["_parts"]]
    options = results.options | {"measures": list(map(str, chosen["measures"]))}
    values, averaged = results.values[:, :, indices], results.averaged[:, :, indices]
    return results.changed(
        **chosen | {"values": values, "averaged": averaged, "options": options, "_parts": parts}
    )


def joined(results: EstimatedResults, other: Results, infos: Sequence[RunInfo]) -> Results:
    """Return these estimates and those of other runs of the same measures.

    Without intervals for these queries unless the errors of both refer to the same pairs in one order.
    """
    found = Results.with_runs(results, other, infos)
    own, theirs = vars(results), vars(other)
    if own["_rows"] != theirs.get("_rows"):
        return found
    attributes = {name: getattr(found, name) for name in BY_RUN}
    attributes |= {"new": np.concatenate([results.new, theirs["new"]]), "estimates": None}
    return results.changed(**attributes | {"_parts": [*own["_parts"], *theirs["_parts"]]})


def without_exploded(results: EstimatedResults) -> tuple[Floats, Flags]:
    """Return values and which are averaged: none of runs and measures whose value is withheld."""
    values, averaged = results.values.copy(), results.averaged.copy()
    for run, reasons in enumerate(results._reasons):  # noqa: SLF001  # same module
        for place, withheld in enumerate(reasons):
            if withheld is not None and withheld.code in WITHOUT_VALUE:
                values[run, :, place], averaged[run, :, place] = math.nan, False
    freeze(values, averaged)
    return values, averaged
