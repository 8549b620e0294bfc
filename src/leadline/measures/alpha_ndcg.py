"""Normalised discounted cumulative gain that values novelty."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.measures.alpha_dcg import discounted
from leadline.naming import Spellings, cutoff, number


class alpha_nDCG(_Diversity):  # noqa: N801  # the field's spelling
    """DCG that values novelty, divided by that of an ideal list of the judged documents.

    Each earlier document of a subtopic takes the share alpha off its gain. The ideal list is made
    greedily, as ndeval does; a list may beat it and pass 1. Needs `--subtopics`. Undefined when no
    document is relevant to a subtopic.

    >>> round(alpha_nDCG(cutoff=2).of_subtopics(["ab", "a", "c"]), 4)  # 2 + 0.5/1.585 of 2 + 1/1.585
    0.8801
    """

    title = "alpha-nDCG"
    formula = (
        "DCG@k / DCG@k of the greedy ideal, DCG = sum over ranks r <= k and subtopics of r of "
    )
    formula += "(1 - alpha)^(earlier documents of the subtopic) / log2(r + 1)"
    source = "Clarke et al. 2008; ndeval"
    high: ClassVar[float] = math.inf
    spellings: ClassVar[Spellings] = {"alpha-nDCG": {}, "α_nDCG": {}}  # noqa: RUF001

    alpha: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        ideal = self.ideal(judged, self.rel, self.alpha).first(self.cutoff)
        return over(discounted(judged, found, self.alpha), discounted(judged, ideal, self.alpha))
