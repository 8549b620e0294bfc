"""Measures of which the ends are known, but no closed form of the mean."""

from __future__ import annotations

from typing import ClassVar

from leadline.bounds import Rule
from leadline.measures import Measure


class Curves(Rule):
    """The highest of the precisions n / rank of the n-th relevant document, over a choice of n.

    The choice depends on n and R, not on the order; every rank falls when relevant documents move up, so the
    sorted orders are the ends. The mean of a highest value has no closed form that we know.
    """

    measures: ClassVar[tuple[str, ...]] = ("AvgIPrec", "IPrec")

    def monotone(self, measure: Measure) -> bool:
        """Under the printed rules a stretch that was empty may fill, and then hides a higher precision."""
        del self
        return not str(getattr(measure, "rule", "")).startswith("printed")


class Geometric(Rule):
    """AP and Bpref with a geometric mean: what is expected of each query says nothing of that mean."""

    measures: ClassVar[tuple[str, ...]] = ("GMAP", "GMBpref")

    def monotone(self, measure: Measure) -> bool:
        """Bpref skips documents without a judgment."""
        del self
        return type(measure).__name__ == "GMAP"
