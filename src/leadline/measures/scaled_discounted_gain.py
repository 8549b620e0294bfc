"""Scaled discounted cumulative gain."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures._graded import OTHER_NAMES, gains_below
from leadline.measures._sums import added_to
from leadline.naming import Refused, needed_cutoff, number


class SDCG(Measure):
    """DCG divided by that of k documents of the largest grade there is, judged or not.

    The gain is grade / max_grade; a larger grade is an error.

    >>> round(SDCG(max_grade=1, cutoff=2).of([0, 1]), 4)  # 1 / log2(3) of 1 + 1 / log2(3)
    0.3869
    """

    title = "scaled discounted cumulative gain"
    formula = "sum over ranks r <= k of grade / max_grade / log2(r + 1), / sum of 1 / log2(r + 1)"
    source = "cwl_eval; Jarvelin and Kekalainen 2002"
    refused: ClassVar[Refused] = OTHER_NAMES

    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, grade = gains_below(self, judged, self.max_grade)
        kept = rank <= self.cutoff
        gain = grade[kept] / self.max_grade / np.log2(rank[kept] + 1.0)
        return judged.total(query[kept], gain) / added_to(
            self.cutoff, lambda ranks: 1.0 / np.log2(ranks + 1)
        )
