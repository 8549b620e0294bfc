"""The randomised max-t procedure: many pairs at once, step-down p values and simultaneous intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.statistics import checked_seed
from leadline.statistics._draws import each_block, every_sign, signs
from leadline.statistics.clusters import Totals, means, totals
from leadline.statistics.moments import ROUNDING
from leadline.statistics.randomisation_interval import agreeing, smallest_count
from leadline.statistics.sign import one_sign

CELLS = 4_000_000  # of draws x columns in a block


class MaxT:
    """Adjusted p values and simultaneous intervals of columns of differences.

    Attributes
    ----------
    p : ndarray, shape (columns,)
        Step-down adjusted two-sided p values; NaN for a column without queries.
    p_single_step : ndarray, shape (columns,)
        Single-step ones, never smaller.

    """

    def __init__(self, given: Totals, *, draws: int, seed: int) -> None:
        self.draws = draws
        self.seed = seed
        self._given = given
        self._exact = 2.0 ** min(len(given.sums), 63) <= draws
        self.p, self.p_single_step = self._p_values()

    def limits(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return simultaneous limits of the means of the columns.

        Mean plus and minus c standard errors, where c is the quantile of the largest |t| over all columns
        when the signs of the centred differences are flipped: with probability `level`, approximately,
        all intervals hold their means at once. They are single-step intervals, while `p` is step-down and
        its differences are not centred (the null is that all means are 0). So that interval and verdict
        never contradict each other a limit is moved to 0 where only one of the two excludes 0: an
        interval reaches to 0 where p is 1 - level or more, and ends beside 0 where p is below.
        """
        found = means(self._given)
        with np.errstate(invalid="ignore"):
            reach = np.where(found.error > 0, self.reach(level) * found.error, found.error)
            return agreeing(
                found.mean - reach,
                found.mean + reach,
                np.asarray(self.p < 1 - level),
                self._given.sums,
            )

    def reach(self, level: float = 0.95) -> float:
        """Return c, in standard errors; infinite where there are too few draws, queries or groups.

        At least that of the t interval of one pair: with a handful of queries flipped residuals are too few.
        """
        from scipy.special import stdtrit

        clusters = int((~np.isnan(self._given.sums)).sum(axis=0).max(initial=0))
        if one_sign(clusters) >= 1 - level:
            return math.inf
        if self._exact:
            rank = -(-smallest_count(level, 2.0 * len(self._largest), added=0) // 2)
        else:
            rank = smallest_count(level, self.draws + 1.0, added=1)
        if rank == 0 or rank > len(self._largest):
            return math.inf
        flipped = float(np.sqrt(self._largest[len(self._largest) - rank]))
        return max(flipped, float(stdtrit(clusters - 1, (1 + level) / 2)))

    @cached_property
    def _largest(self) -> Floats:
        """Return the largest squared t of each draw when centred differences are flipped, rising."""
        given, found = self._given, means(self._given)
        residuals = np.nan_to_num(given.sums - given.sizes * found.mean)
        columns = np.nan_to_num(found.error) > 0
        statistic = _squared_t(residuals[:, columns], found.clusters[columns])
        if not columns.any():
            return np.empty(0)
        return np.sort(np.concatenate([statistic(block).max(axis=1) for block in self._patterns()]))

    def _p_values(self) -> tuple[Floats, Floats]:
        sums = self._given.sums
        stepped, single = np.full((2, sums.shape[1]), np.nan)
        clusters = (~np.isnan(sums)).sum(axis=0).astype(np.float64)
        columns = np.flatnonzero(clusters > 0)
        if not len(columns):
            return stepped, single
        unsorted = _squared_t(np.nan_to_num(sums[:, columns]), clusters[columns])
        seen = unsorted(np.ones((1, len(sums))))[0]
        order = np.argsort(-seen, kind="stable")  # the largest first
        columns, seen = columns[order], seen[order]
        statistic = _squared_t(np.nan_to_num(sums[:, columns]), clusters[columns])
        needed = np.where(np.isinf(seen), np.inf, seen * (1 - 1000 * ROUNDING) - ROUNDING)
        steps = np.zeros((2, len(columns)))
        patterns = 0
        for block in self._patterns():
            t = statistic(block)
            largest = np.maximum.accumulate(t[:, ::-1], axis=1)[:, ::-1]
            steps[0] += (largest >= needed).sum(axis=0)
            steps[1] += (largest[:, :1] >= needed).sum(axis=0)
            patterns += len(block)
        added = 0 if self._exact else 1
        steps = (steps + added) / (patterns + added)
        stepped[columns] = np.maximum.accumulate(steps[0])
        single[columns] = steps[1]
        return stepped, single

    def _patterns(self) -> Iterator[Floats]:
        """Return the sign patterns in blocks: those of the randomisation test with the same seed."""
        rows, columns = self._given.sums.shape
        size = max(1, CELLS // max(1, columns))
        if self._exact:
            blocks: Iterable[Floats] = [every_sign(rows)]
        else:
            blocks = each_block(
                self.draws, self.seed, lambda generator, count: signs(generator, count, rows)
            )
        for block in blocks:
            for start in range(0, len(block), size):
                yield block[start : start + size]


def _squared_t(sums: Floats, clusters: Floats) -> Callable[[Floats], Floats]:
    """Return a function that gives the squared t of columns with flipped signs: patterns x columns.

    Flipping leaves the sum of squares Q, so that with S the flipped sum and n clusters t^2 is
    (n - 1) S^2 / (n Q - S^2); infinite where all flipped differences are equal.
    """
    with np.errstate(divide="ignore"):
        size = np.sqrt(clusters * (sums**2).sum(axis=0))
        scaled = np.divide(sums, size, out=np.zeros_like(sums), where=size > 0)

    def squared(patterns: Floats) -> Floats:
        share = (patterns @ scaled) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (clusters - 1) * share / (1 - share)
        t[np.broadcast_to(clusters < 2, t.shape)] = 0.0
        t[(share >= 1 - ROUNDING) & (clusters >= 2)] = np.inf
        return np.asarray(t)

    return squared


def max_t(
    differences: Floats, *, draws: int = 20_000, seed: int = 0, groups: Integers | None = None
) -> MaxT:
    """Compare many pairs of runs at once by the randomised max-t procedure.

    The signs of whole queries (or groups) are flipped, the same in all columns, so that the dependence
    between pairs stays what it is. Every |t| seen is compared with the largest |t| of flipped differences
    over the columns whose |t| seen is no larger (step-down); p never falls from one column to the next.
    This controls the family-wise error strongly where the differences of true nulls are jointly symmetric,
    as they are when runs can be exchanged. All patterns are used where they are no more than `draws`. Given
    the pairs with one baseline it is the randomisation analogue of Dunnett's procedure.

    Parameters
    ----------
    differences : ndarray, shape (queries, columns)
        One column a pair; NaN where a pair does not have a query.
    draws : int, default 20,000
        Sign patterns; p is at least 1 / (draws + 1).
    seed : int
        Seed of the draws.
    groups : ndarray of int, shape (queries,), optional
        Queries of the same group are flipped together.

    Returns
    -------
    MaxT
        Its `p` are adjusted for all columns; `limits(level)` gives simultaneous intervals.

    References
    ----------
    Romano and Wolf (2005), JASA 100(469); Westfall and Young (1993), Resampling-Based Multiple Testing.

    Examples
    --------
    >>> found = max_t(np.array([[0.1, 0.0], [0.3, 0.1], [0.2, -0.1], [0.2, 0.1], [0.1, 0.0], [0.4, 0.2]]))
    >>> found.p.tolist()  # exact: 64 patterns
    [0.03125, 0.5]

    """
    checked_seed(seed)
    if draws < 1:
        raise UsageError(f"{draws} draws; expected 1 or more")
    if differences.ndim != 2:
        raise UsageError(
            f"differences of {differences.ndim} dimensions; expected queries x columns"
        )
    return MaxT(totals(differences, groups), draws=draws, seed=seed)
