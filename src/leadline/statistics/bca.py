"""Bootstrap intervals, bias-corrected and accelerated."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.naming import Spellings, whole
from leadline.statistics import Interval, checked_level, checked_seed, column
from leadline.statistics._draws import each_block, supports, weights
from leadline.statistics.clusters import Totals, totals

NORMAL = NormalDist()


class BCa(Interval):
    """Bootstrap interval, corrected for bias and skewness, from `draws` resamples of the queries.

    All columns with the same queries share their resamples, so that two runs are compared like with like. A
    column of equal values gives that value twice: resamples know of no other. With groups of queries whole
    groups are drawn and left out.

    >>> low, high = BCa().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 1), round(high, 1)
    (-0.0, 0.2)
    """

    title = "BCa bootstrap interval"
    source = "Efron 1987; Efron and Tibshirani 1993, section 14.3"
    spellings: ClassVar[Spellings] = {"bootstrap": {}}

    draws: int = whole(9_999, low=99)

    def limits(
        self,
        values: Floats,
        *,
        level: float = 0.95,
        seed: int = 0,
        groups: Integers | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the limits around the mean of each column; NaN for fewer than two queries (or groups)."""
        low, high = np.full((2, values.shape[1]), np.nan)
        for columns, given in resampling(totals(values, groups)):
            drawn = resampled_means(given, self.draws, seed)
            total, queries = given.sums.sum(axis=0), given.sizes.sum(axis=0)
            left_out = (total - given.sums) / (queries - given.sizes)
            low[columns], high[columns] = bca_limits(drawn, total / queries, left_out, level)
        return low, high

    def ratio(
        self, first: Floats, second: Floats, *, level: float = 0.95, seed: int = 0
    ) -> tuple[float, float]:
        """Give the limits of mean(first) / mean(second), two lists of values of the same queries.

        NaN where the second mean is 0 in a resample or a leave-one-out mean, and for fewer than two queries.

        >>> low, high = BCa().ratio([0.2, 0.4, 0.5, 0.3], [0.1, 0.3, 0.5, 0.2])
        >>> round(low, 1), round(high, 1)
        (1.1, 1.6)
        """
        if len(first) != len(second):
            raise UsageError(f"{len(first)} and {len(second)} values; expected the same queries")
        both = np.hstack([column(first), column(second)])
        both = both[~np.isnan(both).any(axis=1)]
        checked_level(level)
        checked_seed(seed)
        if len(both) < 2:
            return float("nan"), float("nan")
        means = resampled(both, self.draws, seed)
        left = (both.sum(axis=0) - both) / (len(both) - 1)
        if (means[:, 1] == 0).any() or (left[:, 1] == 0).any():
            return float("nan"), float("nan")
        one = both[:, 0].mean() / both[:, 1].mean()
        low, high = bca_limits(
            means[:, :1] / means[:, 1:], np.array([one]), left[:, :1] / left[:, 1:], level
        )
        return float(low[0]), float(high[0])


def resampled(values: Floats, draws: int, seed: int) -> Floats:
    """Give the means of resamples of the queries: draws x columns; no value may be NaN."""
    if len(values) == 0:
        raise UsageError("no queries to draw from; expected at least one")

    def block(generator: np.random.Generator, size: int) -> Floats:
        return np.asarray(weights(generator, size, len(values)) @ values / len(values))

    return np.concatenate(list(each_block(draws, seed, block)))


def resampling(given: Totals) -> Iterator[tuple[Integers, Totals]]:
    """Return the columns that have the same clusters together, if two or more: which, and their totals."""
    for columns, rows in supports(given.sums):
        if rows.sum() >= 2:
            at = np.ix_(rows, columns)
            yield columns, Totals(given.sums[at], given.sizes[at], given.grouped)


def resampled_means(given: Totals, draws: int, seed: int) -> Floats:
    """Return the means of resamples of the clusters: draws x columns."""
    if not given.grouped:
        return resampled(given.sums, draws, seed)

    def block(generator: np.random.Generator, size: int) -> Floats:
        times = weights(generator, size, len(given.sums))
        return np.asarray((times @ given.sums) / (times @ given.sizes))

    return np.concatenate(list(each_block(draws, seed, block)))


def bca_limits(
    estimates: Floats, seen: Floats, leave_one_out: Floats, level: float
) -> tuple[Floats, Floats]:
    """Give the BCa limits per column from resampled estimates, the one seen, and the jackknife.

    With z0 the normal quantile of the share of estimates below the one seen (half of those equal), and
    a = sum(U^3) / (6 sum(U^2)^1.5) over U = mean of the jackknife - its values, the limits are the
    quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) for the normal quantiles z of the level.
    """
    from scipy.special import ndtr, ndtri

    draws = len(estimates)
    slack = 1e-12 * np.maximum(np.abs(estimates).max(axis=0), np.abs(seen))
    below = (estimates < seen - slack).mean(axis=0)
    upto = (estimates <= seen + slack).mean(axis=0)
    bias = ndtri(np.clip((below + upto) / 2, 0.5 / draws, 1 - 0.5 / draws))
    apart = leave_one_out.mean(axis=0) - leave_one_out
    spread = (apart**2).sum(axis=0) ** 1.5
    skew = (apart**3).sum(axis=0)
    acceleration = np.divide(skew, 6 * spread, out=np.zeros_like(skew), where=spread > 0)
    ordered = np.sort(estimates, axis=0)
    limits = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        reach = bias + NORMAL.inv_cdf(share)
        limits.append(_quantile(ordered, ndtr(bias + reach / (1 - acceleration * reach))))
    constant = np.ptp(estimates, axis=0) <= slack
    return np.where(constant, seen, limits[0]), np.where(constant, seen, limits[1])


def _quantile(ordered: Floats, shares: Floats) -> Floats:
    """Give a quantile of each sorted column, at a share of its own, linear between neighbours."""
    place = shares * (len(ordered) - 1)
    under = np.floor(place).astype(np.int64)
    above = np.minimum(under + 1, len(ordered) - 1)
    columns = np.arange(ordered.shape[1])
    low, high = ordered[under, columns], ordered[above, columns]
    return np.asarray(low + (high - low) * (place - under))
