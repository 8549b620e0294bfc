"""Normalised novelty- and rank-biased precision."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.measures.nrbp import patient
from leadline.naming import number


class nNRBP(_Diversity):  # noqa: N801  # the field's spelling
    """Novelty- and rank-biased precision divided by that of an ideal list of the judged documents.

    The ideal list is made greedily, as ndeval does; a list may beat it and pass 1. Needs
    `--subtopics`. Undefined when no document is relevant to a subtopic.

    >>> nNRBP().of_subtopics(["ab", "a", "c"])  # 2 + 0.25 + 0.25 of 2 + 0.5 + 0.125
    0.9523809523809523
    """

    title = "normalised novelty- and rank-biased precision"
    formula = "NRBP / NRBP of the greedy ideal"
    source = "Clarke et al. 2009; ndeval"
    high: ClassVar[float] = math.inf

    alpha: float = number(0.5, low=0.0, high=1.0)
    beta: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        ideal = self.ideal(judged, self.rel, self.alpha)
        found = self.covered(judged, self.rel)
        return over(
            patient(judged, found, self.alpha, self.beta),
            patient(judged, ideal, self.alpha, self.beta),
        )
