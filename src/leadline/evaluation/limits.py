"""Limits of values and means: bounds, and confidence intervals over queries; query weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.table import ResultWarning
from leadline.data.wording import in_code, percent, queries
from leadline.errors import InputError, UsageError
from leadline.stats import INTERVALS, Interval, checked_level, checked_seed
from leadline.stats.intervals import approximate
from leadline.stats.moments import FEWEST_GROUPS, Groups, Weighted, effective_groups, totals

if TYPE_CHECKING:
    from leadline.evaluation.results import Results

DEFAULT_INTERVAL = "Student"
ENOUGH = 40  # effective queries; limits of weighted means from fewer are called approximate


class Bounds(NamedTuple):
    """Bounds of values."""

    # (..., n_measures, 5): lowest, highest and expected value over the orders of tied documents, lowest and
    # highest over the grades of unjudged ones; NaN if undefined.
    limits: Floats
    available: Flags  # whether a bound is defined for a measure

    @classmethod
    def stack(cls, runs: Sequence[Bounds]) -> Bounds:
        """Return the bounds of runs as one array."""
        return cls(np.stack([run.limits for run in runs]), runs[0].available)


class Intervals(NamedTuple):
    """Confidence intervals of the means over queries."""

    limits: Floats  # lower and upper limits: (n_runs, n_measures, 2)
    by: str  # method of the intervals
    confidence: float  # confidence level, from 0 to 1


def mean_intervals(
    results: Results,
    method: str | Interval = DEFAULT_INTERVAL,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    groups: Groups | None = None,
) -> Intervals:
    """Return a confidence interval for every mean of results, over a population of queries.

    The interval of a geometric mean is computed from logarithms. Counts, means of fewer than two queries, and
    values by labels of an automatic judge have no interval: NaN.

    >>> from leadline.evaluation.evaluate import evaluate
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> run = {"q1": {"d1": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> mean_intervals(evaluate(qrels, run, ["AP"])).limits.round(2).tolist()
    [[[-2.43, 3.93]]]
    """
    interval = method if isinstance(method, Interval) else INTERVALS.parse(method)
    checked_level(confidence)
    checked_seed(seed)
    groups = results.weighted if groups is None else groups
    limits = np.full((len(results.runs), len(results.measures), 2), np.nan)
    for index, measure in enumerate(results.measures):
        if measure.average == "sum" or results.unreliable:
            continue
        geometric = measure.average == "geometric"
        values = results.averaged_values(index).T
        if geometric:
            values = np.log(values)
        low_high = np.stack(interval.limits(values, level=confidence, seed=seed, groups=groups), axis=1)
        limits[:, index] = np.exp(low_high) if geometric else low_high
    return Intervals(limits, str(interval), confidence)


def few_queries(results: Results, method: str | Interval) -> list[ResultWarning]:
    """Return how often the intervals of means hold, if some mean is over few queries."""
    interval = method if isinstance(method, Interval) else INTERVALS.parse(method)
    units = [
        effective_groups(totals(results.averaged_values(index).T, results.weighted))
        for index, measure in enumerate(results.measures)
        if measure.average != "sum"
    ]
    with_interval = np.concatenate([*units, [math.inf]])
    fewest = 2 if results.weighted is None else FEWEST_GROUPS
    least = float(with_interval[with_interval >= fewest].min())
    if results.unreliable or math.isinf(least):
        return []
    number = queries(int(least)) if results.weighted is None else f"{least:.1f} effective queries"
    return approximate(f"mean {type(interval).__name__}", least, number)


def read_weights(given: object, judged: Sequence[str]) -> tuple[Floats, float]:
    """Return the weight of every judged query, and the share of all weights that these have.

    The weights are those of FILE:COLUMN or a mapping, divided by their mean over the judged queries.

    >>> weights, share = read_weights({"q1": 30, "q2": 10, "q3": 60}, ["q1", "q2"])
    >>> weights.tolist(), share
    ([1.5, 0.5], 0.4)
    """
    places: dict[str, tuple[int | None, object]] = {}
    path = "query_weights"
    if isinstance(given, str):
        from leadline.io.small_tables import column_of

        path, rows = column_of(given, ("query_id", "qid", "query"), example="queries.tsv:visits")
        for line, key, cell in rows:
            query = str(key)
            if query in places:
                raise InputError(
                    f"query '{query}' has more than one weight",
                    path=path,
                    line=line,
                    hint="Keep only one weight per query",
                )
            places[query] = line, cell
    elif isinstance(given, Mapping):
        places = {str(query): (None, weight) for query, weight in given.items()}
    else:
        raise UsageError(
            f"query_weights cannot be of type {type(given).__name__}. Pass FILE:COLUMN or {{query: weight}}."
        )
    known = {query: _weight(query, cell, path, line) for query, (line, cell) in places.items()}
    lacking = [query for query in judged if query not in known]
    if lacking:
        raise InputError(
            f"query '{lacking[0]}' has no weight (judged queries without one: {len(lacking)} of "
            f"{len(judged)})",
            path=path,
            hint="Add a weight for every judged query. A weight of 0 leaves a query out",
        )
    weights = np.array([known[query] for query in judged], dtype=np.float64)
    if not weights.any():
        hint = "Give at least one judged query a weight above 0"
        raise InputError("no judged query has a positive weight", path=path, hint=hint)
    return weights / weights.mean(), float(weights.sum() / math.fsum(known.values()))


def _weight(query: str, cell: object, path: str, line: int | None) -> float:
    try:
        weight = float(cell)  # type: ignore[arg-type]  # of any type, as it was given
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise InputError(
            f"the weight of query '{query}' must be a finite number of at least 0, not {in_code(cell)}",
            path=path,
            line=line,
        )
    return weight


def weights_warning(weighted: Weighted, share: float, source: str) -> ResultWarning:
    """Return how many queries of equal weight the weighted ones are worth."""
    used = weighted.weights > 0
    number = int(used.sum())
    effective = float(effective_groups(totals(np.where(used, 1.0, np.nan)[:, None], weighted))[0])
    zero = len(used) - number
    words = (
        f"means weighted by {source}: {queries(number)} with {percent(round(share, 4))} of the total weight, "
        f"equivalent to {effective:.1f} queries of equal weight (design effect {number / effective:.2f})"
    )
    words += f"; left out {queries(zero)} with weight 0" * bool(zero)
    few = (
        f". With the equivalent of fewer than {ENOUGH} queries, confidence intervals are approximate "
        "(docs/comparing.md)"
    )
    words += few * (effective < ENOUGH)
    return ResultWarning("query_weights", words, number)


def same_weights(first: Results, second: Results) -> bool:
    """Return whether the queries of the first results have the same weights in the second."""
    if first.weighted is None or second.weighted is None:
        return first.weighted is second.weighted
    rows = second.queries.encode(first.queries.names)
    return bool((rows >= 0).all()) and np.allclose(first.weighted.weights, second.weighted.weights[rows])
