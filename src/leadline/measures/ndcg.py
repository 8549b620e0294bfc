"""Normalised discounted cumulative gain."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import CUTOFFS, over
from leadline.measures.discounted_gain import DCG
from leadline.naming import Alone, Spellings


class nDCG(DCG):  # noqa: N801  # the field's spelling
    """DCG divided by the DCG of the ideal order of all judged documents; 1 is the best list.

    `discount=jk` and `gain=exp` as for DCG. The lecture's tables are `discount=jk`; their ideal
    holds the five retrieved gains only, which there are all the judged ones.

    >>> round(nDCG(cutoff=4).of([1, 0.6, 0, 0.8, 0, 1]), 4)
    0.7527
    >>> round(nDCG(discount="jk", cutoff=4).of([1, 0.6, 0, 0.8, 0, 1, 0.2]), 2)
    0.71
    """

    title = "normalised discounted cumulative gain"
    formula = "DCG@k / DCG@k of all judged documents ordered by grade"
    source = "lecture, 'Normalized Discounted Cumulative Gain'; Jarvelin and Kekalainen 2002"
    high: ClassVar[float] = 1.0
    spellings: ClassVar[Spellings] = {"ndcg": {}, "ndcg_cut": {}, "ndcg_burges": {"gain": "exp"}}
    alone: ClassVar[Alone] = {"ndcg_cut": CUTOFFS}

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        ideal = judged.qrels.ideal
        best = np.zeros(len(judged.present))
        best[ideal.query[ideal.rank == 1]] = ideal.gain[ideal.rank == 1]
        power = self.too_large(best)
        return over(self.added(judged, *judged.gains, power), self.added(judged, *ideal, power))

    def too_large(self, grade: Floats) -> Floats:
        """Give the power of 2 by which gains of these grades must shrink to add up to numbers."""
        size = grade if self.gain == "exp" else np.frexp(grade)[1]
        return np.ceil(np.maximum(size - 900.0, 0.0))
