"""How the bounds of a family of measures are computed: the base of all rules."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.measures import Measure


def last_ranks(judged: JudgedRun) -> Integers:
    """Return the last rank, within the list as cut, of the tie of each row."""
    last: Integers = np.minimum(judged.tie_last, judged.length[judged.query]).astype(np.int64)
    return last


def group_bounds(query: Codes, first: Codes | Integers) -> tuple[Integers, Integers]:
    """Return the first row and the end (exclusive) of the tie of each row; rows are in order of rank."""
    new = np.ones(len(first), dtype=np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    return starts[group], np.append(starts[1:], len(first))[group]


class Rule:
    """Bounds and expected values of a family of measures.

    A measure listed in `measures` must be monotone over the orders of a tie: exchanging two tied documents so
    that the higher grade moves up never lowers (or never raises) the value, where unjudged documents count
    as between grade 0 and negative grades. Its extreme values are then those of the two sorted orders.
    Measures without a rule have no bounds. `tests/evaluation/test_ties.py` checks every rule on all orders
    and all grades of small lists.
    """

    measures: ClassVar[tuple[str, ...]] = ()

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats | None:
        """Return the mean over all orders of tied documents; None if there is no closed form.

        Parameters
        ----------
        measure : Measure
            Measure of this family.
        judged : JudgedRun
            One run joined with the relevance judgments.
        low, high : ndarray of float64, shape (n_queries,)
            Values with ties in ascending and in descending order of grade.
        """
        del self, measure, judged, low, high
        return None

    def monotone(self, measure: Measure) -> bool:
        """Return whether the value is monotone in the grades of retrieved documents."""
        del self, measure
        return True
