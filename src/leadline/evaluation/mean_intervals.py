"""Intervals of means: how far they would move with other queries of the same kind."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Integers
from leadline.data.results import Intervals, Results
from leadline.stats import INTERVALS, Interval, checked_level, checked_seed

DEFAULT_INTERVAL = "Student"


def intervals_of(
    results: Results,
    by: str | Interval = DEFAULT_INTERVAL,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    groups: Integers | None = None,
) -> Intervals:
    """Return an interval for every mean of results: runs x measures x low, high.

    The queries are taken as drawn from a population of such queries, or whole groups of them are where
    `groups` holds the group of every query. The interval of a geometric mean is
    made of the logarithms. A count has none, nor has a mean of fewer than two queries: NaN.

    >>> from leadline.evaluation.evaluate import evaluate
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> run = {"q1": {"d1": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> intervals_of(evaluate(qrels, run, ["AP"])).limits.round(2).tolist()
    [[[-2.43, 3.93]]]
    """
    kind = by if isinstance(by, Interval) else INTERVALS.parse(by)
    checked_level(confidence)
    checked_seed(seed)
    limits = np.full((len(results.runs), len(results.measures), 2), np.nan)
    for place, measure in enumerate(results.measures):
        if measure.average == "sum":
            continue
        values = results.counted(place).T
        if measure.average == "geometric":
            values = np.log(values)
        found = np.stack(kind.limits(values, level=confidence, seed=seed, groups=groups), axis=1)
        limits[:, place] = np.exp(found) if measure.average == "geometric" else found
    return Intervals(limits, str(kind), confidence)
