"""Wilcoxon's signed-rank test."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.naming import Spellings, choice
from leadline.statistics import Alternative, PairedTest
from leadline.statistics.clusters import Totals
from leadline.statistics.sign import one_sign

DECIMALS = 12  # differences that agree to this many are ties, whatever the rounding of their sums
EXACT = 200  # differences that are not 0; beyond, the normal distribution is as good


class Wilcoxon(PairedTest):
    """Wilcoxon's signed-rank test; its null is symmetry around 0, not a mean of 0.

    `zeros` says what a difference of 0 does: `drop` leaves it out (Wilcoxon), `pratt` ranks it first. Where
    every difference is 0, p is 1. Exact, with ties too, for up to 200 differences that are not 0; beyond that
    normal with tie correction. Groups of queries are not supported.

    >>> Wilcoxon().p([0.1, 0.3, -0.15, 0.2, 0.25])  # rank sums 13 and 2: 6 of 32 patterns
    0.1875
    """

    title = "Wilcoxon signed-rank test"
    null = "the differences are symmetric around 0"
    source = "Wilcoxon 1945; Pratt 1959; exact with ties: Streitberg and Roehmel 1986"
    spellings: ClassVar[Spellings] = {"signed_rank": {}}
    clusters: ClassVar[bool] = False

    zeros: str = choice("drop", "pratt")

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return the p of differences of one sign; beyond the exact ones, a bound on the normal p."""
        if queries <= EXACT:
            return one_sign(queries, alternative)
        return (2 if alternative == "two-sided" else 1) * _normal(-(queries**0.5))

    def _p_of(self, given: Totals, *, two_sided: bool, seed: int) -> Floats:  # noqa: ARG002  # draws nothing
        return np.array(
            [self._one(column, two_sided=two_sided) for column in given.sums.T], dtype=np.float64
        )

    def _one(self, differences: Floats, *, two_sided: bool) -> float:
        known = np.round(differences[~np.isnan(differences)], DECIMALS)
        if len(known) == 0:
            return float("nan")
        if not known.any():
            return 1.0
        if self.zeros == "drop":
            known = known[known != 0]
        ranks = doubled_ranks(np.abs(known))[known != 0]
        above = int(ranks[known[known != 0] > 0].sum())
        seen = min(above, int(ranks.sum()) - above) if two_sided else int(ranks.sum()) - above
        if len(ranks) <= EXACT:
            p = lower_tail(np.sort(ranks).tobytes(), seen)
        else:  # the distance to the mean in standard deviations, of ranks and doubled ranks alike
            p = _normal((seen - ranks.sum() / 2) / (np.sqrt((ranks**2).sum()) / 2))
        return min(1.0, 2 * p) if two_sided else p


def _normal(deviations: float) -> float:
    """Return the lower tail of the normal distribution; that of `statistics` is 0 far out."""
    from scipy.special import ndtr

    return float(ndtr(deviations))


def doubled_ranks(values: Floats) -> Integers:
    """Return twice the mid-ranks of values: whole numbers, with ties too.

    >>> doubled_ranks(np.array([0.5, 0.1, 0.5]))
    array([5, 2, 5])
    """
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((2 * last - counts + 1)[group.ravel()], dtype=np.int64)


def lower_tail(ranks: bytes, seen: int) -> float:
    """Return the chance that the ranks of random signs above 0 sum to `seen` or less; int64 ranks."""
    return float(_distribution(ranks)[: seen + 1].sum())


@lru_cache(maxsize=64)  # columns without ties have the same ranks
def _distribution(ranks: bytes) -> Floats:
    """Return the distribution of the sum of ranks above 0 by the shift algorithm.

    One rank after the other: half of the distribution stays, half moves up by the rank.
    """
    found = np.array([1.0])
    for rank in np.frombuffer(ranks, dtype=np.int64).tolist():
        longer = np.zeros(len(found) + rank)
        longer[: len(found)] += found / 2
        longer[rank:] += found / 2
        found = longer
    return found
