"""Average precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import CUTOFFS, Measure, over, relevant
from leadline.naming import Alone, Spellings, choice, cutoff, number


class AP(Measure):
    """Mean, over all relevant documents, of the precision at the rank of each; 0 if not retrieved.

    Its mean over queries is MAP. With a cutoff it still divides by R; `norm=min` divides by the
    smaller of R and k.

    >>> round(AP().of([1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0], judged=[1] * 6 + [0] * 9), 5)
    0.63355
    """

    title = "average precision"
    formula = "sum over relevant documents at ranks r <= k of precision at r, / R"
    source = "lecture, 'Mean Average Precision'; trec_eval map, map_cut"
    spellings: ClassVar[Spellings] = {"map": {}, "map_cut": {}, "average_precision": {}}
    alone: ClassVar[Alone] = {"map_cut": CUTOFFS}

    rel: float = number(1.0, low=0.0)
    norm: str = choice("relevant", "min")
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        precision = hits.nth / hits.rank
        query = hits.query
        if self.cutoff is not None:
            kept = hits.rank <= self.cutoff
            query, precision = query[kept], precision[kept]
        size = relevant(judged, self.rel)
        if self.norm == "min" and self.cutoff is not None:
            size = np.minimum(size, self.cutoff)
        return over(judged.total(query, precision), size)
