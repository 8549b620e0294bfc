"""Spoerri: documents that all of five systems found, less those that one alone found."""

from __future__ import annotations

from math import comb

import numpy as np

from leadline.arrays import Floats
from leadline.estimators.methods import Estimate, Estimator
from leadline.estimators.pool import Pool
from leadline.naming import whole

OTHERS = 4


class Spoerri(Estimator):
    """The share of a run's first `depth` documents that all of 4 other runs found too, less what none found.

    It is the exact mean over all groups of five that a run is in, where the paper draws random groups; the
    share is of the documents that a run has, up to `depth`. With teams, groups are of five teams, each
    standing with a random one of its runs. From -1 to 1; needs five systems (or teams).

    >>> lists = [["a", "b"], ["a"], ["a"], ["a"], ["a", "c"]]
    >>> Spoerri().estimate(Pool.of(lists)).values  # of a and b all have a, none has b
    array([0., 1., 1., 1., 0.])
    """

    title = "structure of overlap in groups of five"
    formula = "share of documents that all five have - share that it alone has"
    source = "Spoerri 2007; all groups instead of random ones"
    called = "spoerri"
    fewest = OTHERS + 1

    depth: int = whole(50)

    def estimate(self, pool: Pool) -> Estimate:
        """Give the two shares and their difference."""
        pool = pool.first(self.depth)
        teams = len(np.unique(pool.team))
        key = pool.team[pool.system].astype(np.int64) * pool.documents + pool.document
        pairs, group = np.unique(key, return_inverse=True)
        share = np.bincount(
            group, pool.weight[pool.system]
        )  # of a team's runs that have a document
        holder = (pairs % pool.documents).astype(np.int64) if pool.documents else pairs
        powers = [
            np.round(np.bincount(holder, share**p, minlength=pool.documents)[pool.document], 9)
            - np.round(share[group] ** p, 9)
            for p in range(1, OTHERS + 1)
        ]
        groups = comb(teams - 1, OTHERS)
        everyone = four_of(*powers) / groups
        nobody = four_of(*_left_out(teams - 1, *powers)) / groups
        used = pool.lengths
        shares = [
            np.divide(pool.total(part), used, out=np.zeros_like(used), where=used > 0)
            for part in (everyone, nobody)
        ]
        return Estimate(shares[0] - shares[1], used, {"all five": shares[0], "alone": shares[1]})


def four_of(first: Floats, second: Floats, third: Floats, fourth: Floats) -> Floats:
    """Give the sum of products over all groups of four numbers, from the sums of their powers.

    Newton's identity: e4 = (p1^4 - 6 p1^2 p2 + 3 p2^2 + 8 p1 p3 - 6 p4) / 24; for zeros and ones it is the
    number of groups of four ones.

    >>> four_of(*(np.array([5.0]),) * 4)
    array([5.])
    """
    found = (first**4 - 6 * first**2 * second + 3 * second**2 + 8 * first * third - 6 * fourth) / 24
    rounded: Floats = np.maximum(np.round(found, 6), 0.0)
    return rounded


def _left_out(
    size: int, first: Floats, second: Floats, third: Floats, fourth: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Give the sums of powers of 1 - x from those of `size` numbers x."""
    return (
        size - first,
        size - 2 * first + second,
        size - 3 * first + 3 * second - third,
        size - 4 * first + 6 * second - 4 * third + fourth,
    )
