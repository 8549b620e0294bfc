"""D#-nDCG: relevance and diversity in one number."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.measures.d_ndcg import global_gains
from leadline.naming import Spellings, cutoff, number


class Dsharp_nDCG(_Diversity):  # noqa: N801  # the field's spelling, but for the sign
    """Mean of subtopic recall (I-rec), which weighs gamma, and D-nDCG.

    All subtopics weigh the same. For I-rec a document covers a subtopic with grade `rel` or more.
    Needs `--subtopics`. Undefined where one of the two is.

    >>> round(Dsharp_nDCG(cutoff=2).of_subtopics(["a", "ab", "c"]), 4)  # 2/3 and 0.8597
    0.7632
    """

    title = "D#-nDCG"
    formula = "gamma * StRecall@k + (1 - gamma) * D_nDCG@k"
    source = "Sakai and Song 2011; NTCIREVAL"
    spellings: ClassVar[Spellings] = {"D#-nDCG": {}, "Dsharp-nDCG": {}}

    gamma: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        recall = over(judged.total(found.query[found.nth == 1]), self.size(judged, self.rel))
        gain = over(*global_gains(self, judged, self.cutoff))
        return np.asarray(self.gamma * recall + (1 - self.gamma) * gain, dtype=np.float64)
