"""Kendall's tau of the documents that two lists have in common."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.differences.competitors import Competitor
from leadline.differences.ranked import Ranked
from leadline.differences.tables import call


class Kendall(Competitor):
    """Pairs of common documents in the same order less those in different order, over all such pairs.

    Both lists are in the order of a run (ties by document id), so no two documents are tied. Undefined with
    fewer than two common documents. O(n log n) per pair of lists.

    >>> Kendall().of(["a", "b", "c", "x"], ["b", "a", "c"])  # 2 of 3 pairs agree
    0.33333333333333326
    """

    title = "Kendall's tau of common documents"
    formula = "(agreeing - disagreeing) / all pairs of common documents"
    source = "Kendall 1938"
    low: ClassVar[float] = -1.0

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        documents = ranked.orders.place.shape[1]
        ends = np.triu_indices(ranked.size)
        first, second = (one.astype(np.int32) for one in ends)
        words = (documents >> 6) + 1
        common = np.empty(len(first), dtype=np.int64)
        agreeing = np.empty(len(first), dtype=np.int64)
        call(
            "common_orders", documents, *ranked.orders[:2], ranked.orders.place.ravel(), first,
            second, np.empty(words, np.uint64), np.empty(2 * words, np.int32), common, agreeing,
        )  # fmt: skip
        pairs = common * (common - 1) / 2
        tau = np.full((ranked.size, ranked.size), np.nan)
        tau[ends] = (
            2 * np.divide(agreeing, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0) - 1
        )
        tau.T[ends] = tau[ends]
        return tau
