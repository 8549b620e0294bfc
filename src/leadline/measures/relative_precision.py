"""Relative precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import CUTOFFS, Measure, found, over, relevant
from leadline.naming import Alone, Spellings, needed_cutoff, number


class RelP(Measure):
    """Precision at k divided by the best that any list could have there.

    It is precision while k is below R, and recall from there on. BEIR calls it capped recall, R_cap@k.

    >>> RelP(cutoff=4).of([1, 0, 0, 1], judged=[1, 1, 0, 0])
    1.0
    """

    title = "relative precision"
    formula = "relevant documents at ranks 1..k / min(k, R)"
    source = "trec_eval relative_P; Thakur et al. 2021 (BEIR), R_cap"
    spellings: ClassVar[Spellings] = {"relative_P": {}, "R_cap": {}, "recall_cap": {}}
    alone: ClassVar[Alone] = {"relative_p": CUTOFFS}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), self.cutoff)
        return over(count, np.minimum(relevant(judged, self.rel), self.cutoff))
