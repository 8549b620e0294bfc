"""Pools by reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.arrays import Integers
from leadline.naming import number, whole
from leadline.sampling.pools import NOTHING, Offered, PoolMethod, by_weight


class RRF(PoolMethod):
    """The documents with the largest sums over runs of 1 / (k + rank); ties: document id falling.

    >>> RRF(documents=2).order(Offered.of([[2, 0, 1], [1, 2, 3]])).tolist()
    [2, 1]
    """

    title = "so many documents, by reciprocal rank fusion of the runs"
    source = "Cormack, Clarke and Buettcher 2009"

    documents: int = whole(100)
    k: float = number(60.0, low=0.0)

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        """Give the chosen documents."""
        longest = max(map(len, offered.lists), default=0)
        weight = [1 / (self.k + rank) for rank in range(1, longest + 1)]
        return by_weight(offered, weight, self.documents)
