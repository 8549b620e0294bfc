"""Intent-aware precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.naming import Spellings, cutoff, number


class P_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Precision for each subtopic alone, averaged over the subtopics of the query.

    Divides by k even when the list is shorter; without a cutoff, by the length of the list. A
    subtopic that no judged document covers does not count. Needs `--subtopics`. Undefined when no
    document is relevant to a subtopic.

    >>> P_IA(cutoff=2).of_subtopics(["a", "ab", "b"])  # a: 2/2, b: 1/2
    0.75
    """

    title = "intent-aware precision"
    formula = "mean over subtopics of the documents of the subtopic at ranks 1..k, / k"
    source = "Agrawal et al. 2009; ndeval"
    spellings: ClassVar[Spellings] = {"P-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        depth = judged.length.astype(np.float64) if self.cutoff is None else self.cutoff
        return over(judged.total(found.query), self.size(judged, self.rel) * depth)
