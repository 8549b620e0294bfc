"""Slices: values and differences by type, length or language of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.comparison_result import Comparison
from leadline.comparison.engine import Differences, Tested, few_queries_text, few_queries_texts
from leadline.comparison.pairing import check_complete
from leadline.comparison.rules import Rules
from leadline.comparison.slicings import SliceSource, Slicing, slicings_of
from leadline.data.arrays import Flags
from leadline.data.result import Result
from leadline.data.results import Results, ResultWarning, keyed
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.evaluate import DEFAULT_INTERVAL, mean_intervals
from leadline.stats import INTERVALS, Interval
from leadline.stats.corrections import Holm


class SliceMean(NamedTuple):
    """Mean of a run over a slice of the queries.

    Attributes
    ----------
    by : str
        Source of the slices, FILE:COLUMN.
    slice : str or None
        Name of the slice; None for all queries.
    run, measure : str
        Run and measure.
    queries : int
        Number of averaged queries.
    mean, low, high : float
        Mean and its confidence interval; NaN if undefined or withheld.
    reason : str
        Reason for which there is no interval; empty if there is one.
    """

    by: str
    slice: str | None
    run: str
    measure: str
    queries: int
    mean: float
    low: float
    high: float
    reason: str


class SliceDifference(NamedTuple):
    """Difference of two runs on a slice of the queries; see `ComparedPair`.

    Attributes
    ----------
    by : str
        Source of the slices, FILE:COLUMN.
    slice : str or None
        Name of the slice; None for all queries, which are no part of the correction over slices.
    a : str
        Name of the first run.
    b : str
        Name of the second run.
    measure : str
        The measure.
    queries : int
        Number of queries compared.
    mean_a : float
        Mean of the first run over these queries.
    mean_b : float
        Mean of the second run over these queries.
    difference : float
        Mean difference, `a` minus `b`.
    low : float
        Lower limit of the confidence interval of the difference, for this slice alone.
    high : float
        Upper limit of this interval.
    simultaneous_low : float
        Lower limit of the simultaneous interval over slices.
    simultaneous_high : float
        Upper limit of this interval.
    p : float
        p-value.
    p_corrected : float
        p-value corrected by Holm over the slices and pairs.
    verdict : {"better", "worse", "not significant", "identical", "cannot tell"}
        Outcome for `a`.
    reason : str
        Reason for "cannot tell"; otherwise empty.
    """

    by: str
    slice: str | None
    a: str
    b: str
    measure: str
    queries: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p: float
    p_corrected: float
    verdict: str
    reason: str


class Slices(Result):
    """Values by slice of the queries: means of runs, or differences of compared runs.

    Attributes
    ----------
    records : list of SliceMean or SliceDifference
        Values by measure, run or pair, and slice; the first of each are those of all queries.
    without_slice : dict of str to int
        Number of averaged queries in no slice, by source.
    in_several : dict of str to int
        Number of averaged queries in more than one slice, by source.
    confidence : float
        Confidence level.
    rules : Rules or None
        Test and levels of differences; None for means.
    """

    def __init__(
        self,
        records: Sequence[SliceMean | SliceDifference],
        slicings: Sequence[Slicing],
        results: Results,
        *,
        interval: str,
        confidence: float,
        rules: Rules | None = None,
    ) -> None:
        self.records: list[SliceMean | SliceDifference] = list(records)
        self.confidence = confidence
        self.interval = interval
        self.rules = rules
        self.measures = list(map(str, results.measures))
        averaged = results.averaged.any(axis=2).any(axis=0)
        counts = {each.by: each.members[:, averaged].sum(axis=0) for each in slicings}
        self.without_slice = {by: int((count == 0).sum()) for by, count in counts.items()}
        self.in_several = {by: int((count > 1).sum()) for by, count in counts.items()}
        self.warnings = self._warnings()
        self.ranges = {
            str(measure): (float(getattr(measure, "low", -np.inf)), float(getattr(measure, "high", np.inf)))
            for measure in results.measures
        }

    @property
    def moved(self) -> list[SliceDifference]:
        """Slices with a significant difference after the correction over slices."""
        return [
            record
            for record in self.records
            if isinstance(record, SliceDifference)
            and record.slice is not None
            and record.verdict in ("better", "worse")
        ]

    def _warnings(self) -> list[ResultWarning]:
        """Return the warnings of queries without a slice and in several."""
        found = []
        for by, count in self.without_slice.items():
            if count:
                words = f"{queries(count)} without a slice in {by}"
                found.append(ResultWarning("queries_without_slice", words, count))
        for by, count in self.in_several.items():
            if count:
                words = f"{queries(count)} in several slices of {by}"
                found.append(ResultWarning("queries_in_several_slices", words, count))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys slices and without_slice; None is undefined."""
        return {
            "slices": [keyed(record) for record in self.records],
            "without_slice": self.without_slice,
            "in_several_slices": self.in_several,
        }

    def __repr__(self) -> str:
        return f"Slices({counted(len(self.records), 'value')} by {', '.join(self.without_slice)})"


def slices_of(
    compared: Results | Comparison,
    by: SliceSource | Iterable[SliceSource],
    *,
    interval: str | Interval | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Slices:
    """Return values by slice of the queries, with confidence intervals.

    Parameters
    ----------
    compared : Results or Comparison
        Evaluated runs, for the mean of each run on each slice; or compared runs, for the difference of each
        pair on each slice, with the test, level and groups of the comparison.
    by : str, mapping, or several of these
        Slices: FILE:COLUMN, or `{query: slice}` or `{query: [slice, ...]}`. The columns of FILE may be those
        of queries with tags (JSON Lines); `length` is the number of words of a query, if there is no such
        column.
    interval : str, optional
        Confidence interval of means; by default Student's t. That of differences is that of the comparison.
    confidence : float, default 0.95
        Confidence level of means.
    seed : int, default 0
        Seed of the random number generator, for bootstrap intervals of means.

    Returns
    -------
    Slices

    Raises
    ------
    InputError
        If no query has a slice, or a column has too many different values.

    Notes
    -----
    p-values of differences are corrected by Holm over all slices and pairs of a measure (with
    `family="all"`, of all measures), and simultaneous intervals have Bonferroni's level. Slices of fewer than
    five queries (or groups of queries) have no interval and no test, and do not count in the correction.

    Examples
    --------
    >>> from leadline.evaluation.evaluate import evaluate
    >>> qrels = {f"q{number}": {"d": 1} for number in range(6)}
    >>> run = {query: {"d": 1.0} for query in qrels}
    >>> found = slices_of(evaluate(qrels, run, "AP"), {"q0": "short", "q1": "short", "q2": "long"})
    >>> [(record.slice, record.queries, record.mean) for record in found.records]
    [(None, 6, 1.0), ('long', 1, 1.0), ('short', 2, 1.0)]
    >>> found.without_slice
    {'in memory': 3}
    """
    results = compared if isinstance(compared, Results) else compared.results
    check_complete(results)
    slicings = slicings_of(results, by)
    if isinstance(compared, Results):
        chosen = INTERVALS.parse(DEFAULT_INTERVAL) if interval is None else interval
        chosen = INTERVALS.parse(chosen) if isinstance(chosen, str) else chosen
        rows = list(_means(results, slicings, chosen, confidence, seed))
        return Slices(rows, slicings, results, interval=str(chosen), confidence=confidence)
    rules = replace(compared.rules, correction=Holm())
    return Slices(
        _differences(compared, slicings, rules),
        slicings,
        results,
        interval=str(rules.interval),
        confidence=rules.confidence,
        rules=rules,
    )


def _of_queries(results: Results, members: Flags) -> Results:
    """Return results whose means are over the queries of a slice."""
    return Results(
        results.runs,
        results.queries,
        results.measures,
        results.values,
        results.averaged & members[None, :, None],
        present=results.present,
        without_mean=results.without_mean,
        options=results.options,
    )


def _means(
    results: Results, slicings: Sequence[Slicing], interval: Interval, confidence: float, seed: int
) -> Iterator[SliceMean]:
    every = np.ones(len(results.queries), dtype=np.bool_)
    parts = [
        (by, name, _of_queries(results, members))
        for by, names, table in slicings
        for name, members in [(None, every), *zip(names, table, strict=True)]
    ]
    limits = [mean_intervals(part, interval, confidence=confidence, seed=seed).limits for _, _, part in parts]
    for index, measure in enumerate(results.measures):
        for run, name_of_run in enumerate(results.names):
            for (by, name, part), low_high in zip(parts, limits, strict=True):
                averaged = int((~np.isnan(part.averaged_values(index)[run])).sum())
                reason = few_queries_text(averaged)
                low, high = low_high[run, index].tolist()
                if not reason and np.isnan(low):
                    reason = "a sum over queries" if measure.average == "sum" else "no interval"
                withheld = bool(reason)
                yield SliceMean(
                    by,
                    name,
                    name_of_run,
                    str(measure),
                    averaged,
                    float(part.means[run, index]) if averaged else np.nan,
                    np.nan if withheld else low,
                    np.nan if withheld else high,
                    reason,
                )


def _differences(comparison: Comparison, slicings: Sequence[Slicing], rules: Rules) -> list[SliceDifference]:
    """Return the differences by measure, pair, source and slice."""
    if comparison.results.withheld is not None:
        raise UsageError("estimates from a sample of judgments vary too much by query; expected no slices")
    pairs = range(len(comparison.pairing))
    labels = [(each.by, name) for each in slicings for name in each.names]
    members = np.concatenate([each.members for each in slicings])
    tables = [
        np.concatenate([np.where(members.T, table[:, pair : pair + 1], np.nan) for pair in pairs], axis=1)
        for table in comparison.differences
    ]
    parts = [
        Differences(table, rising=part.rising, reasons=few_queries_texts(table, comparison.groups))
        for table, part in zip(tables, comparison.parts, strict=True)
    ]
    tested = Tested(parts, rules, comparison.groups)
    records = []
    for index in range(len(tables)):
        for pair in pairs:
            for row, (by, name) in enumerate(labels):
                if row == 0 or labels[row - 1][0] != by:
                    records.append(_overall(comparison, index, pair, by))
                column = pair * len(labels) + row
                records.append(_record(comparison, tested, (index, pair, column), (by, name)))
    return records


def _overall(comparison: Comparison, index: int, pair: int, by: str) -> SliceDifference:
    """Return the difference on all queries, as in the comparison."""
    chosen = [[pair] if place == index else [] for place in range(len(comparison.results.measures))]
    (whole,) = comparison.records(changed=0, chosen=chosen)
    undecided = whole.verdict == "undecided"
    return SliceDifference(
        by,
        None,
        whole.a,
        whole.b,
        whole.measure,
        whole.queries,
        whole.mean_a,
        whole.mean_b,
        whole.difference,
        whole.low,
        whole.high,
        whole.simultaneous_low,
        whole.simultaneous_high,
        whole.p,
        whole.p_corrected,
        "cannot tell" if undecided else whole.verdict,
        "p is undefined" if undecided else "",
    )


def _record(
    comparison: Comparison, tested: Tested, place: tuple[int, int, int], label: tuple[str, str]
) -> SliceDifference:
    """Return the difference of a pair on a slice."""
    index, pair, column = place
    results = comparison.results
    first, second = int(comparison.pairing.first[pair]), int(comparison.pairing.second[pair])
    values, used = results.averaged_values(index), ~np.isnan(tested.differences[index][:, column])
    verdict, reason = tested.verdicts[index][column], ""
    if verdict == "undecided":
        verdict, reason = "cannot tell", tested.parts[index].reasons[column] or "p is undefined"
    low, high = tested.limits[index, column].tolist()
    simultaneous_low, simultaneous_high = tested.shown_limits[index, column].tolist()
    by, name = label
    return SliceDifference(
        by,
        name,
        results.names[first],
        results.names[second],
        str(results.measures[index]),
        int(used.sum()),
        float(values[first, used].mean()) if used.any() else np.nan,
        float(values[second, used].mean()) if used.any() else np.nan,
        float(tested.means[index, column]),
        low,
        high,
        simultaneous_low,
        simultaneous_high,
        float(tested.p_uncorrected[index, column]),
        float(tested.p_corrected[index, column]),
        verdict,
        reason,
    )
