"""nDCG averaged over relevant documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, finite, over
from leadline.measures._dcg_curve import DCGCurve
from leadline.measures._gains import gains_by_grade, gains_of
from leadline.naming import Spellings


class nDCGrel(Measure):  # noqa: N801  # the field's spelling
    """Mean of nDCG@k over the ranks k of the documents with a positive gain.

    For one that was not retrieved it is the DCG of the whole list over that of the ideal list.

    >>> round(nDCGrel().of([0, 1], judged=[0, 1, 1]), 4)  # both: 1/log2(3) of 1 + 1/log2(3)
    0.3869
    """

    title = "nDCG averaged over relevant documents"
    formula = "1/G sum over the G documents with a gain of nDCG at the rank of each"
    source = "trec_eval ndcg_rel"
    spellings: ClassVar[Spellings] = {"ndcg_rel": {}}

    gains: str = gains_by_grade()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        retrieved, ideal = gains_of(judged, self.gains)
        curve, best = DCGCurve(judged, retrieved), DCGCurve(judged, ideal)
        finite(self, best.last)
        chosen = retrieved.gain > 0
        query = retrieved.query[chosen]
        reached = curve.dcg[chosen] / best.at(query, retrieved.rank[chosen])
        rest = (best.size - judged.total(query)) * over(curve.last, best.last)
        return over(judged.total(query, reached) + rest, best.size.astype(np.float64))
