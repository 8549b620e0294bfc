"""Discounted cumulative gain that values novelty."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import Covered, _Diversity
from leadline.measures._sums import added_to
from leadline.naming import Spellings, needed_cutoff, number


class alpha_DCG(_Diversity):  # noqa: N801  # the field's spelling
    """DCG in which a document gains for each subtopic, the less the more came before it.

    Each earlier document of a subtopic takes the share alpha off its gain. Divided by what k
    documents would have that all cover every subtopic. Needs `--subtopics`. Undefined when no
    document is relevant to a subtopic.

    >>> round(alpha_DCG(cutoff=2).of_subtopics(["ab", "a"]), 4)  # 2 + 0.5/1.585 of 2 + 1/1.585
    0.8801
    """

    title = "alpha-DCG"
    formula = "sum over ranks r <= k and subtopics of r of (1 - alpha)^(earlier documents of the "
    formula += "subtopic) / log2(r + 1), / the same if all k documents cover all subtopics"
    source = "Clarke et al. 2008; ndeval"
    spellings: ClassVar[Spellings] = {"alpha-DCG": {}, "α_DCG": {}}  # noqa: RUF001

    alpha: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        best = added_to(self.cutoff, lambda r: np.power(1 - self.alpha, r - 1) / np.log2(r + 1))
        value = over(discounted(judged, found, self.alpha), self.size(judged, self.rel) * best)
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def discounted(judged: Judged, found: Covered, alpha: float) -> Floats:
    """Add up, per query, the gains that novelty leaves, by the logarithm of the rank."""
    return judged.total(found.query, found.gain(alpha) / np.log2(found.rank + 1.0))
