"""Jaccard's coefficient: common documents among all that two lists hold."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.differences.competitors import Competitor, common
from leadline.differences.ranked import Ranked
from leadline.naming import cutoff


class Jaccard(Competitor):
    """Share of the documents of two lists that both hold; undefined when both are empty.

    >>> Jaccard(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])  # b of a, b, c
    0.3333333333333333
    """

    title = "Jaccard's coefficient"
    formula = "|A and B| / |A or B|, of the first k documents or of all"
    source = "Jaccard 1912"

    cutoff: int | None = cutoff()

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        both = common(ranked, self.cutoff)
        sizes = both.diagonal()
        either = sizes[:, None] + sizes - both
        shared: Floats = np.divide(both, either, out=np.full_like(both, np.nan), where=either > 0)
        return shared
