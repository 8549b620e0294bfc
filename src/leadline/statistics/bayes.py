"""A Bayesian reading of a paired comparison."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.statistics.moments import moments


class Beliefs(NamedTuple):
    """How probable it is that the first run is worse, about equal, or better, per column."""

    worse: Floats
    equivalent: Floats
    better: Floats


def beliefs(differences: Floats, *, margin: float = 0.0) -> Beliefs:
    """Give how probable it is that the mean difference is below -margin, within the margin, or above.

    The differences are taken as normal with the prior p(mean, s) ~ 1/s, so that the mean has Student's t
    around the mean seen, with n - 1 degrees of freedom and the standard error as scale. Undefined for fewer
    than two queries. (Corani and Benavoli 2015, with correlation 0; for retrieval Sakai 2017.)

    >>> found = beliefs(np.array([[0.1], [0.3], [-0.1], [0.2], [0.2]]), margin=0.01)
    >>> [round(float(share[0]), 3) for share in found]
    [0.046, 0.018, 0.936]
    """
    from scipy.special import stdtr

    if not margin >= 0:
        raise UsageError(f"margin {margin}; expected a number, 0 or more")
    found = moments(differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = stdtr(found.number - 1, (-margin - found.mean) / found.error)
        above = stdtr(found.number - 1, (found.mean - margin) / found.error)
    certain = found.deviation == 0
    below = np.where(certain, (found.mean < -margin).astype(np.float64), below)
    above = np.where(certain, (found.mean > margin).astype(np.float64), above)
    return Beliefs(below, np.clip(1 - below - above, 0.0, 1.0), above)
