"""nDCG averaged over the levels of gain."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, finite, over, relevant
from leadline.measures._dcg_curve import DCGCurve
from leadline.measures._gains import gains_by_grade, gains_of
from leadline.naming import number


class RnDCG(Measure):
    """Mean of nDCG@k where k is the number of documents of at least one gain, for every gain.

    With 5 documents of gain 3 and 3 of gain 2 that is the mean of nDCG@5 and nDCG@8. A list longer
    than all of them by two or more adds nDCG at its end. A query without a document of grade `rel`
    is undefined.

    >>> round(RnDCG().of([1, 2]), 4)  # nDCG@1 = 1/2, nDCG@2 = (1 + 2/log2(3)) / (2 + 1/log2(3))
    0.6799
    """

    title = "nDCG averaged over levels of gain"
    formula = "mean over positive gains g of nDCG at the number of documents with gain g or more"
    source = "trec_eval Rndcg"

    gains: str = gains_by_grade()
    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        retrieved, ideal = gains_of(judged, self.gains)
        curve, best = DCGCurve(judged, retrieved), DCGCurve(judged, ideal)
        finite(self, best.last)
        ends = np.ones(len(ideal.query), dtype=np.bool_)
        ends[:-1] = (ideal.query[1:] != ideal.query[:-1]) | (ideal.gain[1:] != ideal.gain[:-1])
        query, rank = ideal.query[ends], ideal.rank[ends]
        total = judged.total(query, curve.at(query, rank) / best.dcg[ends])
        longer = (judged.length > best.size + 1) & (best.size > 0)
        total[longer] += (curve.last / np.where(longer, best.last, 1.0))[longer]
        size = judged.total(query) + longer
        size[relevant(judged, self.rel) == 0] = 0.0
        return over(total, size)
