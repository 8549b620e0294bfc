"""Aslam and Savell: how alike the list of a system is to those of the others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.estimators.methods import Estimate, Estimator
from leadline.estimators.pool import Pool
from leadline.naming import Spellings, whole


class AslamSavell(Estimator):
    """The mean over other systems of |A and B| / |A or B|; 0 where both lists are empty. From 0 to 1.

    With teams, systems of one's own team are left out, and every other team counts once.

    >>> AslamSavell().estimate(Pool.of([["a", "b"], ["b", "c"], ["b"]])).values.round(4)
    array([0.4167, 0.4167, 0.5   ])
    """

    title = "likeness to the other systems"
    formula = "mean over other systems of |A and B| / |A or B|"
    source = "Aslam and Savell 2003"
    called = "aslam-savell"
    spellings: ClassVar[Spellings] = {"aslam-savell": {}}

    depth: int | None = whole(None)

    def estimate(self, pool: Pool) -> Estimate:
        """Give the mean likeness to systems of other teams."""
        pool = pool.first(self.depth)
        holds = np.zeros((pool.systems, pool.documents), dtype=np.float32)
        holds[pool.system, pool.document] = 1
        both = (holds @ holds.T).astype(np.float64)  # counts are exact up to 2**24
        sizes = both.diagonal()
        either = sizes[:, None] + sizes - both
        alike = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
        others = np.where(pool.team[:, None] != pool.team, pool.weight, 0.0)
        # sorted, so that the order of systems cannot matter
        parts = np.sort(alike * others, axis=1).sum(axis=1)
        return Estimate(parts / np.sort(others, axis=1).sum(axis=1), sizes, {})
