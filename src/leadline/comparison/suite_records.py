"""Records that the result of a suite consists of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from leadline.comparison.rules import Rules
from leadline.errors import UsageError
from leadline.stats import CORRECTIONS, Interval
from leadline.stats.intervals import Student
from leadline.stats.paired_tests import Randomisation, T


@dataclass(frozen=True, kw_only=True)
class SuiteRules(Rules):
    """Options of the tests of a suite; `partial` compares pairs on the collections that both have."""

    interval: Interval | None = field(default_factory=Student)
    baselines: tuple[str, ...] = ()
    partial: bool = False

    def __post_init__(self) -> None:
        given = self.correction
        super().__post_init__()
        if not isinstance(self.test, (T, Randomisation)):
            raise UsageError(f"test={str(self.test)!r} does not apply to a suite. Use T or Randomisation.")
        if self.joint is not None:
            raise UsageError(
                f"correction={given!r} does not apply to a suite. Use one of "
                f"{', '.join(CORRECTIONS.classes)}."
            )


class Scope(NamedTuple):
    """One test of a pair over the queries or the collections of a suite.

    Attributes
    ----------
    low : float
        Lower limit of the confidence interval of the difference, for this pair alone; not clipped to the
        range of the measure.
    high : float
        Upper limit of this interval.
    p : float
        p-value.
    p_corrected : float
        p-value corrected over the pairs.
    verdict : str
        Outcome for `a`: better, worse, not significant, identical, undecided, or why there is no test.
    """

    low: float
    high: float
    p: float
    p_corrected: float
    verdict: str


class SuitePair(NamedTuple):
    """Two runs compared by one measure over the collections of a suite; differences are `a` minus `b`.

    Attributes
    ----------
    a : str
        Name of the first run.
    b : str
        Name of the second run.
    measure : str
        The measure.
    difference : float
        Mean over collections of the mean differences; NaN if a run lacks a collection, unless it was asked
        to average what there is.
    collections : int
        Number of collections that both runs have.
    queries : int
        Number of queries of these collections.
    wins : int
        Number of collections on which the mean of `a` is better.
    ties : int
        Number of collections on which both means are equal.
    losses : int
        Number of collections on which the mean of `a` is worse.
    within : Scope
        Test over queries within these collections: would other queries of them give the same sign?
    over : Scope
        Test over collections: would other collections like them? "cannot tell" with fewer than five, or if
        no data could reach significance.
    """

    a: str
    b: str
    measure: str
    difference: float
    collections: int
    queries: int
    wins: int
    ties: int
    losses: int
    within: Scope
    over: Scope


class WinRate(NamedTuple):
    """Comparisons of a run with the others, collection by collection.

    Attributes
    ----------
    wins : int
        Number of comparisons in which the mean of the run is better.
    ties : int
        Number of comparisons with equal means.
    comparisons : int
        Number of comparisons: the other runs on every collection that both have.
    rate : float
        Share of comparisons won, from 0 to 1, a tie counted as half a win; NaN without comparisons.
    """

    wins: int
    ties: int
    comparisons: int

    @property
    def rate(self) -> float:
        """Return the share of comparisons that are won; NaN without any."""
        return (self.wins + self.ties / 2) / self.comparisons if self.comparisons else math.nan
