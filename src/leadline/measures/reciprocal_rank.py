"""Reciprocal rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.naming import Spellings, cutoff, number


class RR(Measure):
    """One over the rank of the first relevant document; 0 when none is retrieved by rank k.

    >>> RR().of([0, 0, 1, 1])
    0.3333333333333333
    """

    title = "reciprocal rank"
    formula = "1 / rank of the first relevant document"
    source = "trec_eval recip_rank; its mean is MRR"
    spellings: ClassVar[Spellings] = {"recip_rank": {}, "mrr": {}, "reciprocal_rank": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        first = hits.nth == 1
        if self.cutoff is not None:
            first &= hits.rank <= self.cutoff
        values = np.zeros(len(judged.present))
        values[hits.query[first]] = 1.0 / hits.rank[first]
        return values
