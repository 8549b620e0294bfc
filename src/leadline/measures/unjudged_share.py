"""How much of the head of a list was not judged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.naming import Alone, Spellings, needed_cutoff


class Unj(Measure):
    """Unjudged documents among the first k, divided by k.

    A negative grade is not a judgment. Ranks below the end of a shorter list are not unjudged, so
    it is not always 1 - Judged@k. It is the hole at k, Hole@k; the code of BEIR takes a document
    for judged that any query judges, so its number may be smaller.

    >>> Unj(cutoff=4).of([1, None, -1])
    0.5
    """

    title = "unjudged documents"
    formula = "unjudged documents at ranks 1..k / k"
    source = "trec_eval 10 unj; Xiong et al. 2021 (ANCE), hole rate"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False
    spellings: ClassVar[Spellings] = {"unjudged": {}, "hole": {}, "hole_rate": {}}
    alone: ClassVar[Alone] = {"unj": (5, 10, 20)}

    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        chosen = (judged.grade >= 0) & (judged.rank <= self.cutoff)
        size = np.minimum(judged.length, self.cutoff)
        return (size - judged.total(judged.query[chosen])) / self.cutoff
