"""Record of a pair of runs compared by one measure, and the columns of the table of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from leadline.comparison.pairing import in_groups
from leadline.data.arrays import Floats, Integers
from leadline.stats.moments import Means
from leadline.stats.power import Outcomes, detectable, queries_needed, upper_deviation

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison

Values: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]  # of a column

# Printed columns, more of them with `long`, and those that a narrow terminal drops, the first first.
PRINTED = ("a", "b", "measure", "difference", "low", "high", "p_corrected", "verdict")
COUNTS = ("wins", "ties", "losses")
LONG = ("effect", *COUNTS)
DROPPED = ("ties", "losses", "wins", "effect", "p")


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
    a : str
        Name of the first run.
    b : str
        Name of the second run.
    measure : str
        The measure.
    mean_a : float
        Mean of the first run.
    mean_b : float
        Mean of the second run.
    difference : float
        Mean difference over the queries of both runs.
    low : float
        Lower limit of the confidence interval of the difference, for this pair alone; not clipped to the
        range of the measure.
    high : float
        Upper limit of this interval.
    simultaneous_low : float
        Lower limit of the simultaneous confidence interval, which excludes 0 if the pair is significant; NaN
        for a single pair or without correction.
    simultaneous_high : float
        Upper limit of this interval.
    p : float
        p-value, from 0 to 1.
    p_corrected : float
        p-value corrected for multiple comparisons.
    p_equivalent : float or None
        Corrected p-value of the equivalence test; None without a margin.
    effect : float
        Standardised mean difference, mean / standard deviation: of the queries, or of effective groups.
    effect_low : float
        Lower limit of the confidence interval of `effect`.
    effect_high : float
        Upper limit of this interval.
    wins : int or None
        Number of queries on which `a` is better; None for estimates from a sample of judgments.
    ties : int or None
        Number of queries on which both are equal; None for such estimates.
    losses : int or None
        Number of queries on which `a` is worse; None for such estimates.
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


class Statistics(NamedTuple):
    """Statistics of the differences of one measure, by pair."""

    queries: Floats
    means: Means
    effect: Floats
    effect_limits: tuple[Floats, Floats]
    counts: Outcomes


def pair_columns(
    comparison: Comparison, index: int, pairs: Integers, changed: list[list[Change]]
) -> dict[str, Values]:
    """Return the columns of pairs for one measure, given the queries with the largest differences."""
    names, found = comparison.names, comparison.statistics[index]
    measure = comparison.results.measures[index]
    first, second = comparison.pairing.first[pairs], comparison.pairing.second[pairs]
    simultaneous = np.full((len(pairs), 2), np.nan)
    if comparison.simultaneous is not None:
        simultaneous = comparison.simultaneous[index][pairs]
    wins, ties, losses = found.counts
    if not measure.rising:
        wins, losses = losses, wins
    none = [None] * len(pairs)
    estimated = comparison.results.withheld is not None  # wins then count sampling errors
    verdicts = comparison.verdicts[index]
    effective = found.means.effective[pairs]
    means_of_runs = comparison.results.means[:, index]
    return {
        "a": [names[run] for run in first.tolist()],
        "b": [names[run] for run in second.tolist()],
        "measure": [str(measure)] * len(pairs),
        "mean_a": means_of_runs[first],
        "mean_b": means_of_runs[second],
        "difference": found.means.mean[pairs],
        "low": comparison.limits[index, pairs, 0],
        "high": comparison.limits[index, pairs, 1],
        "p": comparison.p_uncorrected[index, pairs],
        "p_corrected": comparison.p_corrected[index, pairs],
        "p_equivalent": none if comparison.p_equivalent is None else comparison.p_equivalent[index][pairs],
        "effect": found.effect[pairs],
        "wins": none if estimated else wins[pairs],
        "ties": none if estimated else ties[pairs],
        "losses": none if estimated else losses[pairs],
        "queries": found.queries[pairs].astype(np.int64),
        "needed": none
        if comparison.rules.smallest is None
        else [_needed(comparison, found, pair) for pair in pairs.tolist()],
        "detectable": _detectable(comparison, effective, found.means.deviation[pairs]),
        "verdict": [verdicts[pair] for pair in pairs.tolist()],
        "changed": changed,
        "simultaneous_low": simultaneous[:, 0],
        "simultaneous_high": simultaneous[:, 1],
        "effect_low": found.effect_limits[0][pairs],
        "effect_high": found.effect_limits[1][pairs],
        "groups": found.means.clusters[pairs].astype(np.int64) if in_groups(comparison.groups) else none,
        "effective_groups": none if comparison.groups is None else effective,
        "these_low": none if comparison.these is None else comparison.these.limits[index, pairs, 0],
        "these_high": none if comparison.these is None else comparison.these.limits[index, pairs, 1],
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


def _needed(comparison: Comparison, found: Statistics, pair: int) -> int | None:
    """Return the number of queries needed to detect the smallest difference of interest."""
    units, deviation = float(found.means.effective[pair]), float(found.means.deviation[pair])
    if comparison.rules.smallest is None or not deviation > 0 or comparison.results.withheld is not None:
        return None
    upper = upper_deviation(deviation, units, level=comparison.rules.confidence)
    if not upper > 0:
        return None
    wanted = queries_needed(
        comparison.rules.smallest / upper, power_wanted=comparison.rules.power, level=comparison.first_level
    )
    if wanted is None:
        return None
    return int(np.ceil(wanted * found.queries[pair] / units))
