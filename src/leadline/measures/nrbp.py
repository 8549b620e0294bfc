"""Novelty- and rank-biased precision."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import Covered, _Diversity
from leadline.naming import number


class NRBP(_Diversity):
    """Rank-biased precision in which a document gains for each subtopic, the less the more before it.

    Each earlier document of a subtopic takes the share alpha off its gain; the user goes on with
    probability beta. A list without end that always covers every subtopic has 1. Needs
    `--subtopics`. Undefined when no document is relevant to a subtopic.

    >>> NRBP().of_subtopics(["ab", "a"])  # (1 - 0.25) / 2 * (2 + 0.5 * 0.5)
    0.84375
    """

    title = "novelty- and rank-biased precision"
    formula = "(1 - (1 - alpha) * beta) / subtopics * sum over ranks r and subtopics of r of "
    formula += "(1 - alpha)^(earlier documents of the subtopic) * beta^(r - 1)"
    source = "Clarke et al. 2009; ndeval"

    alpha: float = number(0.5, low=0.0, high=1.0)
    beta: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = patient(judged, self.covered(judged, self.rel), self.alpha, self.beta)
        value = over(found * (1 - (1 - self.alpha) * self.beta), self.size(judged, self.rel))
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def patient(judged: Judged, found: Covered, alpha: float, beta: float) -> Floats:
    """Add up, per query, the gains that novelty leaves, by the patience to reach the rank."""
    return judged.total(found.query, found.gain(alpha) * np.power(beta, found.rank - 1.0))
