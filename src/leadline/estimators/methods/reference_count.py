"""Wu and Crestani's reference count: how often the documents of a system were found by others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.estimators.methods import Estimate, Estimator
from leadline.estimators.pool import Pool
from leadline.naming import Spellings, whole


class ReferenceCount(Estimator):
    """The sum over the first `depth` documents of the number of other runs that have it there too.

    With teams it is the number of other teams, each run of a team bringing its share of one. From 0 to
    depth x (systems - 1): longer lists have more, so short ones are at a disadvantage.

    >>> ReferenceCount().estimate(Pool.of([["a", "b"], ["b", "c"], ["b"]])).values
    array([2., 2., 2.])
    """

    title = "references by other systems"
    formula = "sum over documents of the number of other runs that have it"
    source = "Wu and Crestani 2003, the basic method"
    called = "reference-count"
    spellings: ClassVar[Spellings] = {"reference-count": {}}

    depth: int = whole(100)

    def estimate(self, pool: Pool) -> Estimate:
        """Count what other teams say of a system's documents."""
        pool = pool.first(self.depth)
        others = np.round(pool.votes()[pool.document] - pool.own_votes(), 9)
        return Estimate(pool.total(others), pool.lengths, {})
