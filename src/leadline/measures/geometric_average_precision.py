"""Average precision for a geometric mean."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure
from leadline.measures.average_precision import AP
from leadline.naming import Spellings, number


class GMAP(Measure):
    """Average precision whose mean is geometric, so that the worst queries weigh most.

    Values below 0.00001, undefined ones included, count as 0.00001 in the mean.

    >>> GMAP().of([1, 0, 1], judged=[1, 1, 0])
    0.8333333333333333
    """

    title = "average precision, averaged geometrically"
    formula = "exp(mean over queries of ln max(AP, 0.00001))"
    source = "trec_eval gm_map; Robertson 2006"
    average: ClassVar[Average] = "geometric"
    spellings: ClassVar[Spellings] = {"gm_map": {}, "gm_ap": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return AP(rel=self.rel).values(judged)
