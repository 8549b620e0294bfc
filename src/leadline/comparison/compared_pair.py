"""A pair of runs compared by one measure: the columns of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from leadline.comparison.pairing import in_groups
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.table import Limit
from leadline.stats.power import detectable, queries_needed, upper_deviation

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison

Values: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]  # of a column

# Printed columns, more of them with `long`, and those that a narrow terminal drops, the first first.
PRINTED = ("a", "b", "measure", "difference", "low", "high", "p_corrected", "verdict")
COUNTS = ("wins", "ties", "losses")
LONG = ("effect", *COUNTS)
DROPPED = ("ties", "losses", "wins", "effect", "p")
PAPER = {"a": "System", "b": "vs.", "measure": "Measure", "a - b": "Difference"}  # headings in LaTeX


class Change(NamedTuple):
    """A query and its values in both runs."""

    query: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """Value of the first run minus that of the second."""
        return self.a - self.b


class ComparedPair(NamedTuple):
    """Two runs compared by one measure: a row of the columns of a comparison; differences are `a` minus `b`.

    Attributes
    ----------
    a, b : str
        Names of the first and second run.
    measure : str
        The measure.
    mean_a, mean_b : float
        Means of the first and second run.
    difference : float
        Mean difference over the queries of both runs.
    low, high : float
        Limits of the confidence interval of the difference, for this pair alone; not clipped to the range of
        the measure.
    simultaneous_low, simultaneous_high : float
        Limits of the simultaneous confidence interval, which excludes 0 if the pair is significant; NaN for a
        single pair or without correction.
    p : float
        p-value, from 0 to 1.
    p_corrected : float
        p-value corrected for multiple comparisons.
    p_equivalent : float or None
        Corrected p-value of the equivalence test; None without a margin.
    effect : float
        Standardized mean difference, mean / standard deviation: of the queries, or of effective groups.
    effect_low, effect_high : float
        Limits of the confidence interval of `effect`.
    wins, ties, losses : int or None
        Numbers of queries on which `a` is better, equal and worse; None for estimates from a sample of
        judgments.
    queries : int
        Number of queries compared.
    groups : int or None
        Number of groups of queries; None without groups.
    effective_groups : float or None
        Effective number of groups, (sum n)^2 / sum n^2 for groups of n queries or of weight n; without
        groups that of weighted queries; None without either.
    these_low, these_high : float or None
        Limits of an estimated difference for these queries, over draws of judgments; equal if every document
        that matters was judged, NaN where withheld. None if the values are no estimates.
    needed : int or None
        Number of queries needed to detect the smallest difference of interest; None if it was not specified,
        and for estimates from a sample of judgments.
    detectable : float
        Difference detectable with this number of queries and the requested power, at the level of the first
        step of the correction.
    verdict : {"better", "worse", "equivalent", "not significant", "identical", "undecided"}
        Outcome of the comparison, for `a`.
    changed : list of Change
        The queries with the largest differences; none for estimates from a sample of judgments.
    """

    a: str
    b: str
    measure: str
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p: float
    p_corrected: float
    p_equivalent: float | None
    effect: float
    effect_low: float
    effect_high: float
    wins: int | None
    ties: int | None
    losses: int | None
    queries: int
    groups: int | None
    effective_groups: float | None
    these_low: float | None
    these_high: float | None
    needed: int | None
    detectable: float
    verdict: str
    changed: list[Change]


def pair_columns(
    comparison: Comparison, measures: Integers, pairs: Integers, changed: list[list[Change]]
) -> dict[str, Values]:
    """Return the columns of records, given measure, pair and queries with the largest differences of each."""
    names, results, rules = comparison.names, comparison.results, comparison.rules
    texts = list(map(str, results.measures))
    first, second = comparison.pairing.first[pairs], comparison.pairing.second[pairs]
    found = {name: values[measures, pairs] for name, values in comparison.statistics.items()}
    none = [None] * len(pairs)
    simultaneous = np.full((len(pairs), 2), np.nan)
    if comparison.simultaneous is not None:
        simultaneous = comparison.simultaneous[measures, pairs]
    estimated = results.withheld is not None  # wins then count sampling errors
    equivalent, these = comparison.p_equivalent, comparison.these
    places = list(zip(measures.tolist(), pairs.tolist(), strict=True))
    return {
        "a": [names[run] for run in first.tolist()],
        "b": [names[run] for run in second.tolist()],
        "measure": [texts[index] for index, _ in places],
        "mean_a": results.means[first, measures],
        "mean_b": results.means[second, measures],
        "difference": comparison.means[measures, pairs],
        "low": comparison.limits[measures, pairs, 0],
        "high": comparison.limits[measures, pairs, 1],
        "p": comparison.p_uncorrected[measures, pairs],
        "p_corrected": comparison.p_corrected[measures, pairs],
        "p_equivalent": none if equivalent is None else equivalent[measures, pairs],
        "effect": found["effect"],
        "wins": none if estimated else found["wins"],
        "ties": none if estimated else found["ties"],
        "losses": none if estimated else found["losses"],
        "queries": found["queries"],
        "needed": none if rules.smallest is None or estimated else _needed(comparison, found),
        "detectable": _detectable(comparison, found["effective_groups"], found["deviation"]),
        "verdict": [comparison.verdicts[index][pair] for index, pair in places],
        "changed": changed,
        "simultaneous_low": simultaneous[:, 0],
        "simultaneous_high": simultaneous[:, 1],
        "effect_low": found["effect_low"],
        "effect_high": found["effect_high"],
        "groups": found["groups"] if in_groups(comparison.groups) else none,
        "effective_groups": none if comparison.groups is None else found["effective_groups"],
        "these_low": none if these is None else these.limits[measures, pairs, 0],
        "these_high": none if these is None else these.limits[measures, pairs, 1],
    }


def _detectable(comparison: Comparison, effective: Floats, deviation: Floats) -> Floats:
    """Return the differences detectable with numbers of independent units and standard deviations."""
    units, row = np.unique(effective, return_inverse=True)
    effects = [
        detectable(1.0, count, power_wanted=comparison.rules.power, level=comparison.first_level)
        for count in units.tolist()
    ]
    smallest = np.array(effects, dtype=np.float64)[row] * deviation
    smallest[~np.isfinite(deviation)] = np.nan
    return smallest


def _needed(comparison: Comparison, found: Mapping[str, Any]) -> list[int | None]:
    """Return the numbers of queries needed to detect the smallest difference of interest."""
    rules, needed = comparison.rules, []
    columns = (found[name].tolist() for name in ("deviation", "effective_groups", "queries"))
    for deviation, units, number in zip(*columns, strict=True):
        upper = upper_deviation(deviation, units, level=rules.confidence) if deviation > 0 else 0.0
        wanted = None
        if rules.smallest is not None and upper > 0:
            wanted = queries_needed(
                rules.smallest / upper, power_wanted=rules.power, level=comparison.first_level
            )
        needed.append(None if wanted is None else math.ceil(wanted * number / units))
    return needed


def shown_columns(
    fields: Mapping[str, Any], reach: Floats, *, alone: bool | Flags = False
) -> dict[str, Values]:
    """Return the columns of the limits to report, as `shown_limits`; `alone` if of each pair alone."""
    own = np.isnan(fields["simultaneous_low"]) | alone
    return {
        end: [Limit(limit) for limit in np.clip(limits, -reach, reach).tolist()]
        for end in ("low", "high")
        for limits in (np.where(own, fields[end], fields[f"simultaneous_{end}"]),)
    }
