"""The interval of the randomisation test."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Flags, Floats, Integers
from leadline.naming import Spellings, whole
from leadline.statistics import Interval
from leadline.statistics._draws import each_block, every_sign, signs
from leadline.statistics.clusters import Totals, totals
from leadline.statistics.randomisation import Randomisation as RandomisationTest

COLUMNS = 64  # handled together: the extremes of all draws are kept
SMALLEST = float(np.nextafter(0.0, 1.0))


class Randomisation(Interval):
    """Inverted sign-flip test: every mean that the randomisation test does not reject.

    A hypothetical mean is subtracted from every difference, and signs are flipped. If that mean is below the
    one seen, a pattern reaches what was seen exactly when it is no smaller than the lesser of two: the mean
    of the flipped differences and that of the others. So the lower limit is an order statistic of these
    lesser means over all patterns, or over `draws` of them, and the upper limit one of the greater means; no
    search is needed. With the same draws, seed and groups 0 lies outside exactly where the test's p is
    below 1 - level. A limit is infinite where the queries (or groups) are too few to reject anything.

    >>> low, high = Randomisation().of([0.1, 0.3, -0.1, 0.2, 0.2, 0.3, 0.1, 0.4])
    >>> round(low, 4), round(high, 4)
    (0.05, 0.3)
    """

    title = "inverted randomisation test"
    source = "Hartigan 1969; Fisher 1935"
    spellings: ClassVar[Spellings] = {
        "sign_flip": {},
        "permutation": {},
        "randomization": {},
        "inverted_randomisation": {},
    }

    draws: int = whole(100_000, low=1)

    def limits(
        self,
        values: Floats,
        *,
        level: float = 0.95,
        seed: int = 0,
        groups: Integers | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the limits around the mean of each column; NaN for fewer than two queries (or groups)."""
        given = totals(values, groups)
        low, high = np.full((2, values.shape[1]), np.nan)
        clusters = (~np.isnan(given.sums)).sum(axis=0)
        exact = 2.0 ** np.minimum(clusters, 63) <= self.draws
        for place in np.flatnonzero(exact & (clusters >= 2)).tolist():
            rows = ~np.isnan(given.sums[:, place])
            part = Totals(given.sums[rows, place, None], given.sizes[rows, place, None], True)
            # the mirror image of every pattern has the same two means
            rank = smallest_count(level, 2.0 ** float(rows.sum()), added=0)
            means = np.sort(_two_means(every_sign(int(rows.sum())), part), axis=1)
            low[place], high[place] = _limits_at(means, -(-rank // 2))[:, 0]
        drawn = np.flatnonzero(~exact)
        for start in range(0, len(drawn), COLUMNS):
            columns = drawn[start : start + COLUMNS]
            part = Totals(np.nan_to_num(given.sums[:, columns]), given.sizes[:, columns], True)
            rank = smallest_count(level, self.draws + 1.0, added=1)
            low[columns], high[columns] = _limits_at(self._drawn(part, seed, rank), rank)
        p = RandomisationTest(draws=self.draws).p_values(values, seed=seed, groups=groups)
        return agreeing(low, high, np.asarray(p < 1 - level), given.sums)

    def _drawn(self, given: Totals, seed: int, rank: int) -> Floats:
        """Return the `rank` smallest of the smaller and largest of the larger means, rising and falling."""
        if rank == 0:
            return np.empty((2, 0, given.sums.shape[1]))

        def block(generator: np.random.Generator, size: int) -> Floats:
            means = _two_means(signs(generator, size, len(given.sums)), given)
            return np.partition(means, rank - 1, axis=1)[:, :rank] if size > rank else means

        kept = np.concatenate(list(each_block(self.draws, seed, block)), axis=1)
        return np.sort(kept, axis=1)[:, :rank]


def _two_means(patterns: Floats, given: Totals) -> Floats:
    """Return the smaller mean of each pattern's two parts, and the negative of the larger one.

    Where one part is empty the pattern is reached by every hypothetical mean: both are minus infinity.
    """
    total, queries = given.sums.sum(axis=0), given.sizes.sum(axis=0)
    sums, sizes = patterns @ given.sums, patterns @ given.sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        flipped, others = (total - sums) / (queries - sizes), (total + sums) / (queries + sizes)
    found = np.stack([np.minimum(flipped, others), -np.maximum(flipped, others)])
    found[:, (queries - sizes == 0) | (queries + sizes == 0)] = -np.inf
    return found


def _limits_at(means: Floats, rank: int) -> Floats:
    """Return the lower and upper limits: the means of this rank; infinite at rank 0."""
    if rank == 0:
        return np.asarray(np.full((2, means.shape[2]), np.inf) * np.array([[-1.0], [1.0]]))
    return np.asarray(means[:, rank - 1] * np.array([[1.0], [-1.0]]))


def smallest_count(level: float, patterns: float, *, added: int) -> int:
    """Return the smallest count whose share, with those added, of the patterns is at least 1 - level."""
    alpha = 1 - level
    count = max(0, int(np.floor(alpha * patterns)) - added - 1)
    while (count + added) / patterns < alpha:
        count += 1
    return count


def agreeing(low: Floats, high: Floats, rejected: Flags, sums: Floats) -> tuple[Floats, Floats]:
    """Return limits that hold 0 exactly where 0 is not rejected.

    They do but for rounding, and where the test of 0 has fewer patterns than the interval: differences of 0
    have no sign. A limit is then moved to 0, or to the next number beside it.
    """
    inside = (low <= 0) & (high >= 0)
    above = np.nansum(sums, axis=0) > 0
    return (
        np.where(rejected & inside & above, SMALLEST, np.where(~rejected & (low > 0), 0.0, low)),
        np.where(
            rejected & inside & ~above, -SMALLEST, np.where(~rejected & (high < 0), 0.0, high)
        ),
    )
