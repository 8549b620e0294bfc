"""Expected reciprocal rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures._graded import OTHER_NAMES, gains_below, left_before
from leadline.naming import Refused, Spellings, cutoff, number


class ERR(Measure):
    """One over the rank at which the user stops, in expectation.

    At each document the user is satisfied and stops with probability (2^grade - 1) / 2^max_grade.
    Grades above `max_grade` are an error; negative ones give 0. The best list stays below 1.

    >>> ERR(max_grade=1).of([1, 0, 1])  # 1/2 * 1/1 + 1/2 * 1/2 * 1/3
    0.5833333333333334
    """

    title = "expected reciprocal rank"
    formula = "sum over ranks r <= k of s(r) * product over i < r of (1 - s(i)) / r, s = "
    formula += "(2^grade - 1) / 2^max_grade"
    source = "Chapelle et al. 2009; gdeval of the TREC web track"
    spellings: ClassVar[Spellings] = {"expected_reciprocal_rank": {}}
    refused: ClassVar[Refused] = OTHER_NAMES

    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, grade = gains_below(self, judged, self.max_grade)
        if self.cutoff is not None:
            kept = rank <= self.cutoff
            query, rank, grade = query[kept], rank[kept], grade[kept]
        stop = np.exp2(grade - self.max_grade) - np.exp2(-self.max_grade)
        return judged.total(query, stop * left_before(query, 1 - stop) / rank)
