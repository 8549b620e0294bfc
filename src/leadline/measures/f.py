"""F: precision and recall in one number."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, found, over, relevant
from leadline.naming import Alone, Spellings, choice, cutoff, number


class F(Measure):
    """Weighted harmonic mean of precision and recall; beta > 1 weights recall more.

    Written without P and R it is defined whenever anything is relevant or retrieved: (1 + beta^2) r
    / (beta^2 R + n) with r relevant among n retrieved (n = k with a cutoff). The lecture calls this
    E; here E is its complement. `form=linear` is set_F of trec_eval and SetF of ir_measures, which
    do not square beta; with beta = 1 the two are one, and `squared` is written.

    >>> round(F().of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)  # P = 2/3, R = 2/4
    0.5714
    >>> F(beta=2, form="linear").of([1, None, 1, None], judged=[1] * 6)  # 3 P R / (2 P + R)
    0.375
    """

    title = "F measure"
    formula = "(1 + beta^2) P R / (beta^2 P + R); beta in place of beta^2 with form=linear"
    source = (
        "lecture, 'F-Measure' and 'E Measure (parameterized F Measure)'; van Rijsbergen 1979; "
        "form=linear: trec_eval set_F"
    )
    spellings: ClassVar[Spellings] = {
        "set_F": {"form": "linear"}, "SetF": {"form": "linear"}, "f1": {},
    }  # fmt: skip
    alone: ClassVar[Alone] = {"set_f": (), "setf": ()}

    beta: float = number(1.0, low=0.0, high=1e12)
    form: str = choice("squared", "linear")
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        if self.beta == 1:
            object.__setattr__(self, "form", "squared")

    def values(self, judged: Judged) -> Floats:
        """Return the value of every query."""
        beta = self.beta if self.form == "squared" else math.sqrt(self.beta)
        return f_values(judged, beta=beta, rel=self.rel, cutoff=self.cutoff)


def f_values(judged: Judged, *, beta: float, rel: float, cutoff: int | None) -> Floats:
    """Give F of every query."""
    count = found(judged, judged.hits(rel), cutoff)
    size = judged.length.astype(np.float64) if cutoff is None else float(cutoff)
    weight = beta * beta
    return over(weight * count + count, weight * relevant(judged, rel) + size)
