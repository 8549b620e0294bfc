"""Discounted cumulative gain."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.judged import Judged
from leadline.measures import Measure, finite
from leadline.measures.cumulative_gain import NO_LEVEL
from leadline.naming import Refused, Spellings, choice, cutoff


class DCG(Measure):
    """Sum of the gains of the first k documents, each divided by a logarithm of its rank.

    `discount=log2` divides by log2(rank + 1). `discount=jk` is the lecture's: ranks 1 and 2 are not
    discounted, after that the divisor is log2(rank). `gain=exp` takes 2^grade - 1 as gain.

    >>> round(DCG(discount="jk", cutoff=6).of([1, 0.6, 0, 0.8, 0, 1]), 2)
    2.39
    """

    title = "discounted cumulative gain"
    formula = "sum over ranks r <= k of gain / log2(r + 1)"
    source = (
        "lecture, 'Discounted Cumulative Gain'; Jarvelin and Kekalainen 2002; Burges et al. 2005"
    )
    high: ClassVar[float] = math.inf
    spellings: ClassVar[Spellings] = {"dcg_burges": {"gain": "exp"}}
    refused: ClassVar[Refused] = NO_LEVEL

    gain: str = choice("linear", "exp")
    discount: str = choice("log2", "jk")
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        with np.errstate(over="ignore"):
            return finite(self, self.added(judged, *judged.gains, np.zeros(len(judged.present))))

    def added(
        self,
        judged: Judged,
        query: Codes,
        rank: Codes | Integers,
        grade: Floats,
        power: Floats,
    ) -> Floats:
        """Add up the discounted gains of each query by rank, divided by its 2^power."""
        if self.cutoff is not None:
            kept = rank <= self.cutoff
            query, rank, grade = query[kept], rank[kept], grade[kept]
        less = np.exp2(-power[query])
        gain = np.exp2(grade - power[query]) - less if self.gain == "exp" else grade * less
        divisor = np.log2(rank + 1.0 if self.discount == "log2" else np.maximum(rank, 2.0))
        return judged.total(query, gain / divisor)
