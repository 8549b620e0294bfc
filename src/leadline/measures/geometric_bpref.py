"""Bpref for a geometric mean."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Average, Measure
from leadline.measures.bpref import Bpref
from leadline.naming import Spellings, number


class GMBpref(Measure):
    """Bpref whose mean is geometric, so that the worst queries weigh most.

    Values below 0.00001, undefined ones included, count as 0.00001 in the mean.

    >>> GMBpref().of([1, 0, None, 1, 0], judged=[1, 1, 0, 0])
    0.75
    """

    title = "binary preference, averaged geometrically"
    formula = "exp(mean over queries of ln max(Bpref, 0.00001))"
    source = "trec_eval gm_bpref"
    average: ClassVar[Average] = "geometric"
    spellings: ClassVar[Spellings] = {"gm_bpref": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return Bpref(rel=self.rel).values(judged)
