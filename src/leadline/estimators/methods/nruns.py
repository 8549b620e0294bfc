"""nruns: documents that many systems found early count as relevant."""

from __future__ import annotations

import math

import numpy as np

from leadline.arrays import Flags
from leadline.estimators.methods import Estimate, Estimator
from leadline.estimators.pool import Pool
from leadline.naming import number, whole


class NRuns(Estimator):
    """AP over pseudo-relevant documents: those that most runs have among their first `depth`.

    Documents that some run has in its first `depth` are ordered by the number of such runs (falling), the sum
    of their ranks there (rising) and id; the first `pseudo` are taken as relevant (the share `share` of
    them, when that is above 0). AP looks at whole lists, or at their first `eval_depth`. From 0 to 1.

    >>> pool = Pool.of([["a", "b"], ["a", "c"], ["c", "d"]])
    >>> NRuns(pseudo=2).estimate(pool).values  # a: ranks 1 + 1, c: ranks 2 + 1
    array([0.5, 1. , 0.5])
    """

    title = "votes of the first documents"
    formula = "AP over the documents that most runs have in their first k"
    source = "Sakai and Lin 2010 (depth 30); `pseudo` and the last tie rule are ours"
    called = "nruns"

    depth: int = whole(30)
    pseudo: int = whole(30)
    share: float = number(0.0, low=0.0, high=1.0)
    eval_depth: int | None = whole(None)

    def estimate(self, pool: Pool) -> Estimate:
        """Give AP over the pseudo-relevant documents."""
        seen = pool.first(self.eval_depth)
        return Estimate(seen.average_precision(self.chosen(pool)), seen.lengths, {})

    def chosen(self, pool: Pool) -> Flags:
        """Say which documents count as relevant."""
        early = pool.first(self.depth)
        votes, ranks = early.votes(), early.votes(early.rank.astype(np.float64))
        order = np.lexsort((np.arange(pool.documents), ranks, -votes))
        order = order[: np.count_nonzero(votes)]
        most = math.ceil(self.share * len(order)) if self.share else self.pseudo
        found = np.zeros(pool.documents, dtype=np.bool_)
        found[order[:most]] = True
        return found
