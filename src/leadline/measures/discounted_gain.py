"""Discounted cumulative gain."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.naming import choice, cutoff


class DCG(Measure):
    """Sum of the gains of the first k documents, each divided by a logarithm of its rank.

    `discount=log2` divides by log2(rank + 1). `discount=jk` is the lecture's: ranks 1 and 2 are not
    discounted, after that the divisor is log2(rank). `gain=exp` takes 2^grade - 1 as gain.

    >>> round(DCG(discount="jk", cutoff=6).of([1, 0.6, 0, 0.8, 0, 1]), 2)
    2.39
    """

    title = "discounted cumulative gain"
    formula = "sum over ranks r <= k of gain / log2(r + 1)"
    source = "lecture, 'Discounted Cumulative Gain'; Jarvelin and Kekalainen 2002; Burges et al. 2005"
    high: ClassVar[float] = math.inf
    spellings = {"dcg_cut": {}, "dcg_burges": {"gain": "exp"}}

    gain: str = choice("linear", "exp")
    discount: str = choice("log2", "jk")
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, grade = judged.gains
        return discounted(judged, query, rank, grade, self)


def discounted(
    judged: Judged, query: Codes, rank: Codes | Integers, grade: Floats, form: Measure
) -> Floats:
    """Add up discounted gains per query in the order of rank; `form` has gain, discount and cutoff."""
    cutoff, gain, discount = (getattr(form, name) for name in ("cutoff", "gain", "discount"))
    if cutoff is not None:
        kept = rank <= cutoff
        query, rank, grade = query[kept], rank[kept], grade[kept]
    gains = np.exp2(grade) - 1.0 if gain == "exp" else grade
    divisor = np.log2(rank + 1.0) if discount == "log2" else np.log2(np.maximum(rank, 2.0))
    return judged.total(query, gains / divisor)
