"""Overlap: common documents among the first k."""

from __future__ import annotations

from leadline.arrays import Floats
from leadline.differences.competitors import Competitor, common
from leadline.differences.ranked import Ranked
from leadline.naming import needed_cutoff


class Overlap(Competitor):
    """Share of the first k documents that two lists have in common; a short list is not filled up.

    >>> Overlap(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])
    0.5
    """

    title = "overlap of the first k documents"
    formula = "|A@k and B@k| / k"
    source = "customary"

    cutoff: int = needed_cutoff()

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        return common(ranked, self.cutoff) / self.cutoff
