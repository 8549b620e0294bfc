"""The Bejeweled player model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures._graded import OTHER_NAMES, gains_below, running
from leadline.naming import Refused, needed_cutoff, number


class BPM(Measure):
    """Gain per document of a user who stops with T units of gain, or at rank k.

    The static model. The gain is grade / max_grade; a larger grade is an error. The gain so far
    is compared with T in grades, so that thirds add up exactly.

    >>> BPM(T=1, max_grade=2, cutoff=5).of([1, 0, 1, 2])  # 1 after three documents
    0.3333333333333333
    """

    title = "Bejeweled player model"
    formula = "sum of the gain at ranks 1..n / n; n is the first rank where the sum is T, or k"
    source = "Zhang et al. 2017; cwl_eval"
    refused: ClassVar[Refused] = OTHER_NAMES

    T: float = number(1.0, low=0.0, open_ends=True)
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, grade = gains_below(self, judged, self.max_grade)
        kept = rank <= self.cutoff
        query, rank, grade = query[kept], rank[kept], grade[kept]
        added = running(query, grade, np.add)
        full = np.flatnonzero(added >= self.T * self.max_grade)
        stop = np.full(len(judged.present), float(self.cutoff))
        np.minimum.at(stop, query[full], rank[full])
        seen = rank <= stop[query]
        return np.asarray(judged.total(query[seen], grade[seen]) / self.max_grade / stop)
