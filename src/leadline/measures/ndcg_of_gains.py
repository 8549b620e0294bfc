"""nDCG with gains of one's own."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.judged import Judged
from leadline.measures import Measure, finite, over
from leadline.measures._gains import gains_by_grade, gains_of
from leadline.naming import cutoff


class GnDCG(Measure):
    """nDCG where some grades have another gain than themselves, as in `gains=1:3/2:9`.

    Grades that are not named keep their gain; a gain may be 0 or negative. Without gains it is nDCG.

    >>> round(GnDCG(gains="1:1/2:3").of([1, 2, 0]), 4)  # (1 + 3/log2(3)) / (3 + 1/log2(3))
    0.7967
    """

    title = "nDCG with given gains"
    formula = "DCG@k / DCG@k of all judged documents ordered by gain"
    source = "trec_eval ndcg with parameters; Jarvelin and Kekalainen 2002"
    low: ClassVar[float] = -math.inf

    gains: str = gains_by_grade()
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        retrieved, ideal = gains_of(judged, self.gains)
        best = finite(self, self._added(judged, *ideal))
        return over(self._added(judged, *retrieved), best)

    def _added(self, judged: Judged, query: Codes, rank: Codes | Integers, gain: Floats) -> Floats:
        """Add up the discounted gains at ranks up to the cutoff."""
        if self.cutoff is not None:
            kept = rank <= self.cutoff
            query, rank, gain = query[kept], rank[kept], gain[kept]
        return judged.total(query, gain / np.log2(rank + 1.0))
