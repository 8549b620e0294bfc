"""Expected reciprocal rank, over the orders of tied documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.bounds import Rule
from leadline.bounds.orders import group_bounds, last_places
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures.expected_reciprocal_rank import ERR


class Cascade(Rule):
    """The user goes on past j documents of a tie group with the mean of all products of j factors.

    The factors are 1 - s of the documents of the group, and the mean over all subsets of size j is the
    elementary symmetric polynomial e(j) over its number of terms. So the user stops at the j-th place with
    probability mean(j - 1) - mean(j). Ends: of two neighbours with s > t the better first gives
    (s - t)(1/r - 1/(r + 1)) more and leaves as many users for the ranks below. A larger s at rank r gains
    what comes to 1/r from users who would at best have stopped at r + 1.
    """

    measures: ClassVar[tuple[str, ...]] = ("ERR",)

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        assert isinstance(measure, ERR)
        chosen = np.flatnonzero(judged.grade > 0)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        last = last_places(judged)[chosen]
        start, stop = group_bounds(query, first)
        going_on = 1.0 - (np.exp2(judged.grade[chosen]) - 1.0) / 2.0**measure.max_grade
        values = low.copy()
        left = np.ones(len(low))
        moving = low != high
        values[moving] = 0.0
        for row in np.flatnonzero((start == np.arange(len(chosen))) & moving[query]).tolist():
            means = mean_products(going_on[row : stop[row]], int(last[row] - first[row]) + 1)
            stopping = left[query[row]] * -np.diff(means)
            ranks = np.arange(first[row], last[row] + 1)
            counted = slice(measure.cutoff and max(measure.cutoff - int(first[row]) + 1, 0))
            values[query[row]] += float((stopping / ranks)[counted].sum())
            left[query[row]] *= means[-1]
        return values


def mean_products(factors: Floats, size: int) -> Floats:
    """Give, for j = 0..size, the mean product of j of some factors, filled up with ones to `size`.

    >>> mean_products(np.array([0.5]), 2)
    array([1.  , 0.75, 0.5 ])
    """
    means = np.ones(size - len(factors) + 1)
    for factor in factors.tolist():
        number = len(means)
        with_it = np.arange(number + 1) / number  # the share of the subsets of size j that hold it
        means = (1.0 - with_it) * np.append(means, 0.0) + with_it * factor * np.concatenate(
            ([0.0], means)
        )
    return means
