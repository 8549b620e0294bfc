"""Intent-aware expected reciprocal rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import Covered, _Diversity
from leadline.measures._sums import added_to
from leadline.naming import Spellings, needed_cutoff, number

STOP = 0.5  # of users stop at a document of their subtopic


class ERR_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Expected reciprocal rank, averaged over subtopics; half the users stop at a relevant document.

    Divided by what k documents would have that all cover every subtopic. Needs `--subtopics`.
    Undefined when no document is relevant to a subtopic.

    >>> ERR_IA(cutoff=2).of_subtopics(["ab", "a"])  # 2 + 0.5/2 of 2 + 1/2
    0.9
    """

    title = "intent-aware expected reciprocal rank"
    formula = (
        "sum over ranks r <= k and subtopics of r of 2^-(earlier documents of the subtopic) / r, "
    )
    formula += "/ the same if all k documents cover all subtopics"
    source = "Chapelle et al. 2009; ndeval"
    spellings: ClassVar[Spellings] = {"ERR-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        best = added_to(self.cutoff, lambda rank: np.power(1 - STOP, rank - 1) / rank)
        value = over(by_rank(judged, found), self.size(judged, self.rel) * best)
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def by_rank(judged: Judged, found: Covered) -> Floats:
    """Add up, per query, the gains that are left, divided by the rank."""
    return judged.total(found.query, found.gain(STOP) / found.rank)
