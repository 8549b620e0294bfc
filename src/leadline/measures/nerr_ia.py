"""Normalised intent-aware expected reciprocal rank."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.measures.err_ia import STOP, by_rank
from leadline.naming import Spellings, cutoff, number


class nERR_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Intent-aware expected reciprocal rank divided by that of an ideal list of the judged documents.

    The ideal list is made greedily, as ndeval does; a list may beat it and pass 1. Needs
    `--subtopics`. Undefined when no document is relevant to a subtopic.

    >>> nERR_IA(cutoff=2).of_subtopics(["ab", "a", "c"])  # 2 + 0.5/2 of 2 + 1/2
    0.9
    """

    title = "normalised intent-aware expected reciprocal rank"
    formula = (
        "sum over ranks r <= k and subtopics of r of 2^-(earlier documents of the subtopic) / r, "
    )
    formula += "/ that of the greedy ideal"
    source = "Chapelle et al. 2009; ndeval"
    high: ClassVar[float] = math.inf
    spellings: ClassVar[Spellings] = {"nERR-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        ideal = self.ideal(judged, self.rel, STOP).first(self.cutoff)
        found = self.covered(judged, self.rel).first(self.cutoff)
        return over(by_rank(judged, found), by_rank(judged, ideal))
