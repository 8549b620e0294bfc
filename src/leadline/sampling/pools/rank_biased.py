"""Pools by the weight that a document has in rank-biased precision."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.arrays import Integers
from leadline.naming import number, whole
from leadline.sampling.pools import NOTHING, Offered, PoolMethod, by_weight


class RBP(PoolMethod):
    """The documents with the largest sums over runs of (1 - p) p^(rank - 1): what RBP stands to gain by them.

    A judgment of them takes most from the residuals of rank-biased precision over all runs. Ties: document id
    falling.

    >>> RBP(documents=2, p=0.5).order(Offered.of([[2, 0, 1], [1, 2, 3]])).tolist()
    [2, 1]
    """

    title = "so many documents, by their weight in rank-biased precision over the runs"
    source = "Moffat, Webber and Zobel 2007, method A"

    documents: int = whole(100)
    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        """Give the chosen documents."""
        longest = max(map(len, offered.lists), default=0)
        weight = [(1 - self.p) * self.p**rank for rank in range(longest)]
        return by_weight(offered, weight, self.documents)
