"""Record of a pair of runs compared by one measure."""

from __future__ import annotations

from typing import NamedTuple


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
