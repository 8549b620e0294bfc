"""Limits of values and means: bounds over ties and unjudged documents, confidence intervals over queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, freeze
from leadline.data.judged_run import JudgedRun
from leadline.data.run import TieGroups
from leadline.data.table import ResultWarning
from leadline.data.wording import percent, queries
from leadline.errors import InputError, UsageError
from leadline.evaluation.tie_expectations import Rule, group_bounds, last_ranks
from leadline.measures import Measure
from leadline.stats import INTERVALS, Interval, checked_level, checked_seed
from leadline.stats.moments import Groups, Weighted, effective_groups, totals

if TYPE_CHECKING:
    from leadline.evaluation.results import Results


def sorted_ties(judged: JudgedRun, *, best: bool) -> JudgedRun:
    """Return the lists with the documents of each tie sorted by grade.

    Unjudged documents are ordered between grade 0 and negative grades. Where a list was cut inside a tie,
    only the remaining documents are reordered.
    """
    if not (judged.tie_last > judged.tie_first).any():
        return judged
    query, first = judged.query, judged.tie_first.astype(np.int64)
    last = last_ranks(judged)
    sign = -1.0 if best else 1.0
    order = np.lexsort((sign * judged.grade, first, query))
    start, stop = group_bounds(query, first)
    position = np.arange(len(order)) - start
    front = (judged.grade[order] >= 0) == best
    rank = np.where(front, first + position, last - (stop - start - 1 - position))
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=judged.offsets,
        rank=rank.astype(np.int32),
        row=judged.row[order],
        tie_first=judged.tie_first,
        tie_last=judged.tie_last,
        unjudged_ties=judged.unjudged_ties,
    )


class AllJudged(JudgedRun):
    """Judged run in which unjudged documents have a grade; R and the ideal list are those of the qrels."""

    def __init__(self, judged: JudgedRun, grade: float) -> None:
        offsets = np.concatenate(([0], np.cumsum(judged.length))).astype(np.int64)
        query = np.repeat(np.arange(len(judged.length)), judged.length)
        rank = (np.arange(len(query)) - offsets[query] + 1).astype(np.int32)
        position = offsets[judged.query] + judged.rank - 1
        row = np.full(len(query), -1, dtype=np.int32)
        row[position] = judged.row
        grades = np.full(len(query), grade)
        grades[position] = judged.grade
        freeze(grades)
        self._grades = grades
        empty: Codes = np.empty(0, dtype=np.int32)
        super().__init__(
            judged.qrels,
            present=judged.present,
            length=judged.length,
            offsets=offsets,
            rank=rank,
            row=row,
            tie_first=rank,
            tie_last=rank,
            unjudged_ties=TieGroups(empty, empty, empty),
        )

    @cached_property
    def levels(self) -> Floats:
        """Return the grade of every row."""
        return self._grades


def all_judged(judged: JudgedRun) -> JudgedRun:
    """Return the lists with every unjudged document at the highest grade of the qrels."""
    return AllJudged(judged, judged.qrels.highest_grade)


@cache
def rules() -> dict[str, Rule]:
    """Return the rules by name of measure."""
    by_measure: dict[str, Rule] = {}
    for rule in _rules():
        for name in rule.measures:
            if name in by_measure:
                raise TypeError(f"two rules of bounds for {name}")
            by_measure[name] = rule
    return by_measure


def _rules() -> Iterator[Rule]:
    from leadline.evaluation import tie_expectations

    for value in vars(tie_expectations).values():
        if isinstance(value, type) and issubclass(value, Rule) and value is not Rule:
            yield value()


def bounds_of(measures: Sequence[Measure], judged: JudgedRun) -> Bounds:
    """Return the bounds of one run by query and measure.

    >>> from leadline.measures import MEASURES
    >>> from leadline.io.objects import Qrels
    >>> from leadline.io.objects import Run
    >>> tied = JudgedRun.of_run(Run.of([(b"1", b"a", 0.5), (b"1", b"b", 0.5)]), Qrels.of([(b"1", b"a", 1)]))
    >>> bounds_of([MEASURES.parse("RR")], tied).limits[0, 0]
    array([0.5 , 1.  , 0.75, 0.5 , 1.  ])
    """
    size = (len(judged.present), len(measures), 5)
    values = np.full(size, np.nan)
    available = np.zeros(size[1:], dtype=np.bool_)
    extremes = [sorted_ties(judged, best=best) for best in (False, True)]
    judged_high = all_judged(judged)
    for index, measure in enumerate(measures):
        rule = rules().get(type(measure).__name__)
        if rule is None:
            continue
        bounds = [
            *_over_ties(rule, measure, judged, extremes=extremes),
            *_over_grades(rule, measure, judged, judged_high=judged_high),
        ]
        for bound, values_of_bound in enumerate(bounds):
            if values_of_bound is not None:
                values[:, index, bound] = values_of_bound
                available[index, bound] = True
    return Bounds(values, available)


def _over_ties(
    rule: Rule, measure: Measure, judged: JudgedRun, *, extremes: Sequence[JudgedRun]
) -> tuple[Floats | None, ...]:
    """Return the lowest, highest and expected value over the orders of tied documents."""
    ascending, descending = (measure.values(lists) for lists in extremes)
    low, high = np.minimum(ascending, descending), np.maximum(ascending, descending)
    expected = rule.expected(measure, judged, low=ascending, high=descending)
    # By rounding, the mean may exceed the extremes.
    return low, high, None if expected is None else np.clip(expected, low, high)


def _over_grades(
    rule: Rule, measure: Measure, judged: JudgedRun, *, judged_high: JudgedRun
) -> tuple[Floats | None, ...]:
    """Return the values with all unjudged documents non-relevant, and with all at the highest grade."""
    if not rule.monotone(measure):
        return None, None
    lower = measure.values(judged)
    upper = np.clip(measure.values(judged_high), measure.low, measure.high)
    return np.minimum(lower, upper), np.maximum(lower, upper)


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

    Examples
    --------
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
                    hint="Keep only one row per query",
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
        raise InputError("no judged query has a weight above 0", path=path)
    return weights / weights.mean(), float(weights.sum() / math.fsum(known.values()))


def _weight(query: str, cell: object, path: str, line: int | None) -> float:
    try:
        weight = float(cell)  # type: ignore[arg-type]  # of any type, as it was given
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise InputError(
            f"weight {cell!r} of query '{query}' must be a finite number, 0 or greater", path=path, line=line
        )
    return weight


def weights_warning(weighted: Weighted, share: float, source: str) -> ResultWarning:
    """Return how many queries of equal weight the weighted ones are worth."""
    used = weighted.weights > 0
    number = int(used.sum())
    effective = float(effective_groups(totals(np.where(used, 1.0, np.nan)[:, None], weighted))[0])
    zero = len(used) - number
    words = (
        f"means weighted by {source}: {queries(number)}, equivalent to {effective:.1f} of equal weight "
        f"(design effect {number / effective:.2f}), with {percent(round(share, 4))} of all weight"
    )
    words += f" (left out {queries(zero)} with weight 0)" * bool(zero)
    words += ". The limits are approximate (docs/comparing.md)" * (effective < ENOUGH)
    return ResultWarning("query_weights", words, number)


def same_weights(first: Results, second: Results) -> bool:
    """Return whether the queries of the first results have the same weights in the second."""
    if first.weighted is None or second.weighted is None:
        return first.weighted is second.weighted
    rows = second.queries.encode(first.queries.names)
    return bool((rows >= 0).all()) and np.allclose(first.weighted.weights, second.weighted.weights[rows])
