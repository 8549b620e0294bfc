"""The pool of TREC: the first documents of every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from leadline.arrays import Integers
from leadline.naming import whole
from leadline.sampling.pools import NOTHING, Offered, PoolMethod


class Depth(PoolMethod):
    """All documents among the first k of any run; the best rank first, ties: document id falling.

    >>> Depth(k=2).order(Offered.of([[2, 0, 4], [1, 2, 3]])).tolist()
    [2, 1, 0]
    """

    title = "the first k documents of every run"
    source = (
        "Sparck Jones and van Rijsbergen 1975; TREC; lecture, 'Standard relevance benchmark: TREC'"
    )
    bare: ClassVar[str] = "k"

    k: int = whole(100)

    @property
    def reach(self) -> int | None:
        """Give the rank to which a run brings documents."""
        return self.k

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        """Give the chosen documents."""
        best = np.full(offered.documents, self.k)
        for one in offered.lists:
            first = one[: self.k]
            best[first] = np.minimum(best[first], np.arange(len(first)))
        chosen = np.flatnonzero(best < self.k)
        return chosen[np.lexsort((-chosen, best[chosen]))]
