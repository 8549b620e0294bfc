"""E: the complement of F."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures.f import f_values
from leadline.naming import choice, cutoff, number


class E(Measure):
    """Effectiveness measure of van Rijsbergen, 1 - F: the smaller the better.

    The lecture prints F under the name E; `form=lecture` gives that.

    >>> round(E(beta=2).of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)
    0.4737
    >>> round(E(beta=2, form="lecture").of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)
    0.5263
    """

    title = "E measure"
    formula = "1 - (1 + beta^2) P R / (beta^2 P + R)"
    source = "van Rijsbergen 1979; lecture, 'E Measure', prints F (form=lecture)"
    rising: ClassVar[bool] = False

    beta: float = number(1.0, low=0.0, high=1e6)
    form: str = choice("complement", "lecture")
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        if self.form == "lecture":
            object.__setattr__(self, "rising", True)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        values = f_values(judged, beta=self.beta, rel=self.rel, cutoff=self.cutoff)
        return values if self.form == "lecture" else 1.0 - values
