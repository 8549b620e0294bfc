"""Precision: how much of what was retrieved is relevant."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, found, over
from leadline.naming import Alone, Spellings, cutoff, number


class P(Measure):
    """Share of the first k documents that are relevant; without a cutoff, of the whole list.

    Divides by k even when the list is shorter. Without a cutoff, an empty list is undefined.

    >>> P(cutoff=4).of([1, 1, 0, 1, 0, 1])
    0.75
    """

    title = "precision"
    formula = "relevant documents at ranks 1..k / k; without k: / length of the list"
    source = "lecture, 'Precision and Recall'; trec_eval P"
    spellings: ClassVar[Spellings] = {"precision": {}, "set_P": {}, "SetP": {}}
    alone: ClassVar[Alone] = {"set_p": (), "setp": ()}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), self.cutoff)
        return over(count, judged.length.astype(np.float64) if self.cutoff is None else self.cutoff)
