"""Measures that the order does not change."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.bounds import Rule
from leadline.judged import Judged
from leadline.measures import Measure


class Orderless(Rule):
    """Counts and set measures.

    NumQ, NumRel and NumRet do not look at the grades of a list either. NumNonrelRet rises with a grade 0 and
    falls with a larger one. The others grow with the number of relevant documents, and Utility is a
    line in it, up or down.
    """

    measures: ClassVar[tuple[str, ...]] = (
        "NumNonrelRet", "NumQ", "NumRel", "NumRet", "SetAP", "SetRelP", "Utility",
    )  # fmt: skip

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the value itself."""
        del self, measure, judged, high
        return low

    def monotone(self, measure: Measure) -> bool:
        """Leave out the count of non-relevant documents, which a judgment may raise."""
        del self
        return type(measure).__name__ != "NumNonrelRet"
