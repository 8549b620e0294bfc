"""The residual of rank-biased precision as trec_eval 10 has it."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures.rank_biased_residual import RBPResidual
from leadline.naming import Spellings, number


class RBPUnjudged(Measure):
    """RBPResidual, but 0 where every retrieved document is judged: trec_eval 10 forgets the rest there.

    >>> RBPUnjudged(p=0.5).of([1, None]), RBPUnjudged(p=0.5).of([1, 0])
    (0.5, 0.0)
    """

    title = "residual of rank-biased precision in trec_eval 10"
    formula = "(1 - p) * sum over unjudged ranks r of p^(r - 1), + p^n; 0 where there is none"
    source = "trec_eval 10 rbp_resid"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False
    spellings: ClassVar[Spellings] = {"rbp_resid": {}}

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        residual = RBPResidual(p=self.p).values(judged)
        residual[judged.total(judged.query[judged.grade >= 0]) == judged.length] = 0.0
        return residual
