"""Limits of values and means: bounds, and confidence intervals over queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats import INTERVALS, Interval, checked_level, checked_seed

if TYPE_CHECKING:
    from leadline.evaluation.results import Results

DEFAULT_INTERVAL = "Student"


class Bounds(NamedTuple):
    """Bounds of values.

    Attributes
    ----------
    limits : ndarray of float64, shape (..., n_measures, 5)
        Lowest, highest and expected value over the orders of tied documents, lowest and highest over the
        grades of unjudged ones; NaN if undefined.
    available : ndarray of bool, shape (n_measures, 5)
        Whether a bound is defined for a measure.
    """

    limits: Floats
    available: Flags

    @classmethod
    def stack(cls, runs: Sequence[Bounds]) -> Bounds | None:
        """Return the bounds of runs as one array; None without runs."""
        return cls(np.stack([run.limits for run in runs]), runs[0].available) if runs else None


class Intervals(NamedTuple):
    """Confidence intervals of the means over queries.

    Attributes
    ----------
    limits : ndarray of float64, shape (n_runs, n_measures, 2)
        Lower and upper limits.
    by : str
        Method of the intervals.
    confidence : float
        Confidence level, from 0 to 1.
    """

    limits: Floats
    by: str
    confidence: float


def mean_intervals(
    results: Results,
    method: str | Interval = DEFAULT_INTERVAL,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    groups: Integers | None = None,
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
