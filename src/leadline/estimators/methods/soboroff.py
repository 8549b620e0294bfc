"""Soboroff, Nicholas and Cahan: documents drawn from the pool count as relevant."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.errors import InputError
from leadline.estimators.methods import Estimate, Estimator
from leadline.estimators.pool import Pool
from leadline.naming import number, whole
from leadline.qrels import Qrels


class Soboroff(Estimator):
    """AP over documents drawn at random from the pool, duplicates kept; the mean of `draws` draws.

    The pool holds the first `depth` documents of every run, one entry per run, so that a document that many
    found is drawn more easily. A draw takes entries until it has a share of the distinct documents, the
    share being normal with mean `share_mean` and deviation `share_sd` (cut to between one document and
    all). The same query has the same draws in any order of systems. From 0 to 1.

    >>> pool = Pool.of([["a", "b"], ["a", "c"], ["a", "d"]])
    >>> Soboroff(share_mean=1, share_sd=0).estimate(pool).values  # everything is drawn
    array([0.5, 0.5, 0.5])
    """

    title = "random pseudo-relevant documents"
    formula = "mean over draws of AP over documents drawn from the pool"
    source = "Soboroff, Nicholas and Cahan 2001, duplicates kept; 5 % and 3 % are ours"
    called = "soboroff"

    depth: int = whole(100)
    draws: int = whole(50)
    share_mean: float = number(0.05, low=0.0, high=1.0)
    share_sd: float = number(0.03, low=0.0, high=1.0)

    def estimate(self, pool: Pool) -> Estimate:
        """Give the mean over draws of AP over the drawn documents."""
        votes = pool.first(self.depth).votes()
        pooled = np.flatnonzero(votes)
        values = np.zeros(pool.systems)
        if not len(pooled):
            return Estimate(values, pool.lengths, {})
        dice = np.random.default_rng(pool.seed)
        shares = dice.normal(self.share_mean, self.share_sd, self.draws)
        sizes = np.clip(np.rint(shares * len(pooled)), 1, len(pooled)).astype(np.int64)
        seen = pool.where(votes[pool.document] > 0)  # only pooled documents can be drawn
        for size in sizes.tolist():
            # the first of n entries in a random order comes as early as the least of n exponential times
            times = dice.exponential(size=len(pooled)) / votes[pooled]
            relevant = np.zeros(pool.documents, dtype=np.bool_)
            relevant[pooled[np.argpartition(times, size - 1)[:size]]] = True
            values += seen.average_precision(relevant)
        return Estimate(values / self.draws, pool.lengths, {})


def shares_of(qrels: Qrels, *, rel: float = 1.0) -> tuple[float, float]:
    """Give mean and deviation over queries of the share of judged documents that are relevant."""
    judged = qrels.count(np.ones(len(qrels.grades), dtype=np.bool_)).astype(np.float64)
    known = judged > 0
    if not known.any():
        raise InputError("holds no judgments", expected="at least one", path=qrels.source)
    shares: Floats = qrels.relevant(rel)[known] / judged[known]
    return float(shares.mean()), float(shares.std())
