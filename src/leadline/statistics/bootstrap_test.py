"""The paired bootstrap test."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.naming import Spellings, whole
from leadline.statistics import Alternative, PairedTest
from leadline.statistics._draws import each_block, supports, weights
from leadline.statistics.clusters import Means, Totals, means
from leadline.statistics.moments import ROUNDING


class Bootstrap(PairedTest):
    """Paired bootstrap test: the t of resamples of the differences, after their mean is taken off.

    p is the share of resamples whose absolute t is at least the one seen, with the one seen added, so that it
    is never 0; a resample of equal differences has t 0 if their mean is 0 and else infinite. Undefined for
    fewer than two queries; 1 where all differences are 0. With groups of queries whole groups are drawn, and
    t has the cluster-robust standard error.

    >>> round(Bootstrap(draws=20_000).p([0.1, 0.3, -0.1, 0.2, 0.2]), 1)
    0.2
    """

    title = "paired bootstrap test"
    null = "the mean difference is 0"
    source = "Efron and Tibshirani 1993, algorithm 16.2; for retrieval Sakai 2006"
    spellings: ClassVar[Spellings] = {"bootstrap_t": {}}

    draws: int = whole(10_000, low=1)

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return the p when no resample reaches what was seen, or only those of one query drawn again.

        Those have infinite t: k / n^n resamples of k queries that differ, and (1 - k/n)^n of n - k that do
        not; n is the number of all queries that makes the two fewest. Expected, not certain: they are drawn.
        """
        least = 1 / (self.draws + 1)
        if queries == 0:
            return 1.0
        if alternative != "two-sided":
            return least
        sizes = np.arange(max(queries, 2), 2 * queries + 10, dtype=np.float64)
        degenerate = (1 - queries / sizes) ** sizes + queries * sizes**-sizes
        return float(max(least, degenerate.min()))

    def _p_of(self, given: Totals, *, two_sided: bool, seed: int) -> Floats:
        found = np.full(given.sums.shape[1], np.nan)
        for columns, rows in supports(given.sums):
            if rows.sum() >= 2:
                at = np.ix_(rows, columns)
                part = Totals(given.sums[at], given.sizes[at], given.grouped)
                found[columns] = self._together(part, seed, two_sided=two_sided)
        return found

    def _together(self, given: Totals, seed: int, *, two_sided: bool) -> Floats:
        clusters, seen = len(given.sums), means(given)
        residuals = given.sums - given.sizes * seen.mean
        squares = residuals**2
        slack = ROUNDING * np.abs(given.sums).max(axis=0, initial=0.0)

        def t_of(found: Means) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                t = found.mean / found.error
            error = found.error * np.sqrt(clusters)
            t[(error <= slack) & (np.abs(found.mean) <= slack)] = 0.0
            return np.abs(t) if two_sided else t

        needed = t_of(seen)
        needed = np.where(needed > 0, needed * (1 - ROUNDING), needed * (1 + ROUNDING))

        def block(generator: np.random.Generator, draws: int) -> Integers:
            times = weights(generator, draws, clusters)
            drawn = _resampled(times, residuals, squares, given)
            return np.asarray((t_of(drawn) >= needed).sum(axis=0))

        more = np.sum(list(each_block(self.draws, seed, block)), axis=0)
        p = (more + 1) / (self.draws + 1)
        return np.where(seen.error > 0, p, np.where(np.abs(seen.mean) <= slack, 1.0, np.nan))


def _resampled(times: Floats, residuals: Floats, squares: Floats, given: Totals) -> Means:
    """Return the means and errors of resamples: draws x columns."""
    clusters = float(len(residuals))
    sums, queries = times @ residuals, np.array(clusters)
    crossed, sizes = sums, np.array(clusters)
    if given.grouped:
        queries = times @ given.sizes
        crossed, sizes = times @ (residuals * given.sizes), times @ given.sizes**2
    mean = sums / queries
    squared = np.maximum(times @ squares - 2 * mean * crossed + mean**2 * sizes, 0.0)
    error = np.sqrt(squared * (clusters / (clusters - 1))) / queries
    return Means(np.array(clusters), mean, error)
