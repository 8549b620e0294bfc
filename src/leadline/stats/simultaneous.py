"""Many comparisons: corrections of p, randomized Tukey HSD, max-t step-down, Friedman and Nemenyi."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Floats
from leadline.data.registry import Aliases
from leadline.stats import Correction
from leadline.stats.intervals import consistent_limits, smallest_count
from leadline.stats.moments import (
    BLOCK,
    ROUNDING,
    Groups,
    Totals,
    each_block,
    every_sign,
    means,
    signs,
    too_few_groups,
    totals,
    weights,
)
from leadline.stats.paired_tests import one_sign


class Uncorrected(Correction):
    """No correction: each test has its own error rate.

    >>> Uncorrected().corrected([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """

    title = "no correction"
    controls = "the error rate of each test separately"
    source = ""
    aliases: ClassVar[Aliases] = {"none": {}}

    def of_rising(self, p: Floats) -> Floats:
        """Return the p-values unchanged."""
        return p


class Bonferroni(Correction):
    """Bonferroni's correction: each p times n. Holm's is uniformly more powerful.

    >>> Bonferroni().corrected([0.25, 0.5]).tolist()
    [0.5, 1.0]
    """

    title = "Bonferroni's correction"
    controls = "the family-wise error rate, under any dependence between the tests"
    source = "Dunn 1961"

    def of_rising(self, p: Floats) -> Floats:
        return p * len(p)


class Holm(Correction):
    """Holm's step-down correction: valid under any dependence between the tests.

    The i-th smallest p times n - i + 1, made non-decreasing.

    >>> Holm().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """

    title = "Holm's step-down correction"
    aliases: ClassVar[Aliases] = {"holm_bonferroni": {}}
    controls = "the family-wise error rate, under any dependence between the tests"
    source = "Holm 1979"

    def of_rising(self, p: Floats) -> Floats:
        return np.maximum.accumulate(p * np.arange(len(p), 0, -1))


class Hochberg(Correction):
    """Hochberg's step-up correction: Holm's factors, each value at most the next.

    >>> Hochberg().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Hochberg's step-up correction"
    controls = "the family-wise error rate, for independent or positively dependent tests"
    source = "Hochberg 1988"

    def of_rising(self, p: Floats) -> Floats:
        return np.minimum.accumulate((p * np.arange(len(p), 0, -1))[::-1])[::-1]


class BH(Correction):
    """Benjamini and Hochberg's step-up correction of the false discovery rate.

    The i-th smallest p times n / i, each value at most the next.

    >>> BH().corrected([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    title = "Benjamini and Hochberg's correction"
    controls = "the false discovery rate"
    source = "Benjamini and Hochberg 1995"
    aliases: ClassVar[Aliases] = {"fdr": {}, "fdr_bh": {}, "benjamini_hochberg": {}}

    def of_rising(self, p: Floats) -> Floats:
        return np.minimum.accumulate((p * (len(p) / np.arange(1, len(p) + 1)))[::-1])[::-1]


TUKEY_CELLS = 500_000  # array elements per block of permutations


class RangeDistribution(NamedTuple):
    """Null distribution of the range of the means, from random permutations, in increasing order."""

    drawn: Floats
    slack: float

    def p_values(self, differences: ArrayLike) -> Floats:
        """Return p-values of differences of means, adjusted for all pairs; add-one, never 0."""
        needed = np.abs(np.asarray(differences, dtype=np.float64)) - self.slack
        more = len(self.drawn) - np.searchsorted(self.drawn, needed, side="left")
        return np.where(np.isnan(needed), np.nan, (more + 1) / (len(self.drawn) + 1))

    def half_width(self, level: float) -> float:
        """Return the half-width of the simultaneous intervals of all pairs.

        A larger difference has p of at most 1 - level. Infinite if there are too few permutations, or too few
        queries, so that no permutation has a larger range.
        """
        draws = len(self.drawn)
        allowed = math.floor((1 - level) * (draws + 1) + ROUNDING * draws)
        if not allowed:
            return math.inf
        width, most = float(self.drawn[draws - allowed]), float(self.drawn[-1])
        return math.inf if allowed > 1 and self.slack < most <= width + self.slack else width


def tukey(values: Floats, *, draws: int = 20_000, seed: int = 0) -> RangeDistribution:
    """Return the null distribution of the range of the means by permutation of runs within queries.

    The randomized Tukey HSD test: two runs differ significantly at level alpha if the difference of their
    means is larger than all but a proportion alpha of the ranges. (SciPy's `tukey_hsd` takes the queries of
    two runs as independent.)

    Source: Carterette (2012), ACM TOIS 30(1), section 4.

    >>> values = np.array([[0.1, 0.5], [0.2, 0.4], [0.3, 0.9], [0.1, 0.2]])
    >>> abs(tukey(values).p_values(0.325) - 2 / 16) < 0.01  # as flipping signs: 2 of 16 patterns
    np.True_
    """
    queries, runs = values.shape
    values = np.sort(values, axis=1)  # the same draws for every order of the runs

    def block(generator: np.random.Generator, size: int) -> Floats:
        shuffled = np.repeat(values[None], size, axis=0)
        generator.permuted(shuffled, axis=2, out=shuffled)
        return np.asarray(np.ptp(shuffled.sum(axis=1), axis=1) / queries)

    size = max(1, TUKEY_CELLS // (queries * runs))
    drawn = np.sort(np.concatenate(list(each_block(draws, seed, block, block=size))))
    return RangeDistribution(drawn, ROUNDING * float(np.abs(values).max(initial=0.0)))


CELLS = 4_000_000  # draws x columns per block


class MaxT:
    """Adjusted two-sided p-values and simultaneous intervals of columns of differences.

    `p` is step-down; NaN for a column of fewer than two queries.
    """

    def __init__(self, observed: Totals, *, draws: int, seed: int) -> None:
        self.draws = draws
        self.seed = seed
        self._observed = observed
        self._exact = 2.0 ** min(len(observed.sums), 63) <= draws
        self.p = self._p_values()

    def limits(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return simultaneous limits of the means of the columns.

        Mean plus and minus c standard errors, where c is the quantile of the largest |t| over all columns in
        bootstrap resamples of the queries (or groups), each t about the observed mean with the standard error
        of the resample: with probability `level`, approximately, all intervals contain their means. `p` is
        step-down and flips signs, which supposes that its differences are symmetric about 0. To keep interval
        and p consistent, a limit is moved to 0 where only one of the two excludes 0: an interval reaches 0
        where p is 1 - level or more, and excludes it where p is below.
        """
        estimate = means(self._observed)
        with np.errstate(invalid="ignore"):
            half_width = np.where(
                estimate.error > 0, self.critical_value(level) * estimate.error, estimate.error
            )
            return consistent_limits(
                estimate.mean - half_width,
                estimate.mean + half_width,
                np.asarray(self.p < 1 - level),
                self._observed.sums,
            )

    def critical_value(self, level: float = 0.95) -> float:
        """Return c in standard errors; infinite where there are too few draws, queries or groups.

        At least the quantile of the t interval of a single pair.
        """
        from scipy.special import stdtrit

        estimate = means(self._observed)
        columns = np.nan_to_num(estimate.error) > 0
        if one_sign(int(estimate.clusters.max(initial=0))) >= 1 - level:
            return math.inf
        single = float(stdtrit(estimate.degrees.max(initial=0), (1 + level) / 2))
        if not columns.any():  # no pair has any spread
            return single
        rank = smallest_count(level, self.draws + 1.0, added=1)
        if rank == 0:
            return math.inf
        return max(float(np.sqrt(self._largest[len(self._largest) - rank])), single)

    @cached_property
    def _largest(self) -> Floats:
        """Return the largest squared t of each resample over the columns with spread, in increasing order."""
        columns = np.nan_to_num(means(self._observed).error) > 0
        sums, sizes = self._observed.sums[:, columns], self._observed.sizes[:, columns]
        statistic = _resampled_squared_t(sums, sizes)
        size = max(1, min(BLOCK, CELLS // sums.shape[1]))

        def block(generator: np.random.Generator, count: int) -> Floats:
            return np.asarray(statistic(weights(generator, count, len(sums))).max(axis=1))

        return np.sort(np.concatenate(list(each_block(self.draws, self.seed, block, block=size))))

    def _p_values(self) -> Floats:
        sums = self._observed.sums
        stepped = np.full(sums.shape[1], np.nan)
        clusters = (~np.isnan(sums)).sum(axis=0).astype(np.float64)
        columns = np.flatnonzero((clusters > 1) & ~too_few_groups(self._observed))
        if not len(columns):
            return stepped
        unsorted = _squared_t(np.nan_to_num(sums[:, columns]), clusters[columns])
        observed = unsorted(np.ones((1, len(sums))))[0]
        order = np.argsort(-observed, kind="stable")  # the largest first
        columns, observed = columns[order], observed[order]
        statistic = _squared_t(np.nan_to_num(sums[:, columns]), clusters[columns])
        needed = np.where(np.isinf(observed), np.inf, observed * (1 - 1000 * ROUNDING) - ROUNDING)
        steps, patterns = np.zeros(len(columns)), 0
        for block in self._patterns():
            t = statistic(block)
            largest = np.maximum.accumulate(t[:, ::-1], axis=1)[:, ::-1]
            steps += (largest >= needed).sum(axis=0)
            patterns += len(block)
        added = 0 if self._exact else 1
        stepped[columns] = np.maximum.accumulate((steps + added) / (patterns + added))
        return stepped

    def _patterns(self) -> Iterator[Floats]:
        """Return the sign patterns in blocks: those of the randomization test with the same seed."""
        rows, columns = self._observed.sums.shape
        size = max(1, CELLS // max(1, columns))
        if self._exact:
            blocks: Iterable[Floats] = [every_sign(rows)]
        else:
            blocks = each_block(self.draws, self.seed, lambda generator, count: signs(generator, count, rows))
        for block in blocks:
            for start in range(0, len(block), size):
                yield block[start : start + size]


def _squared_t(sums: Floats, clusters: Floats) -> Callable[[Floats], Floats]:
    """Return a function that gives the squared t of columns with flipped signs: patterns x columns."""
    with np.errstate(divide="ignore"):
        size = np.sqrt(clusters * (sums**2).sum(axis=0))
        scaled = np.divide(sums, size, out=np.zeros_like(sums), where=size > 0)

    def squared(patterns: Floats) -> Floats:
        explained = (patterns @ scaled) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (clusters - 1) * explained / (1 - explained)
        t[explained >= 1 - ROUNDING] = np.inf
        return np.asarray(t)

    return squared


def _resampled_squared_t(sums: Floats, sizes: Floats) -> Callable[[Floats], Floats]:
    """Return a function that gives the squared t of columns about their means in resamples: draws x columns.

    With r the residual sum of a cluster of n queries, S, N and G the sums of r, of n and the number of
    clusters in a resample, and e = r - n S / N, t^2 is S^2 (G - 1) / (G sum(e^2)); infinite where all e are 0
    and S is not.
    """
    totalled = np.nan_to_num(sums)
    residuals = totalled - sizes * (totalled.sum(axis=0) / sizes.sum(axis=0))
    present = (sizes > 0).astype(np.float64)
    whole = bool((sizes == 1).all())  # every query is a cluster
    tiny = ROUNDING * np.abs(totalled).max(axis=0, initial=0.0) ** 2

    def squared(counts: Floats) -> Floats:
        shift, squares = counts @ residuals, counts @ residuals**2
        with np.errstate(divide="ignore", invalid="ignore"):
            if whole:
                number = np.array(float(len(sums)))
                spread = squares - shift**2 / number
            else:
                number, mean = counts @ present, shift / (counts @ sizes)
                spread = squares - 2 * mean * (counts @ (residuals * sizes)) + mean**2 * (counts @ sizes**2)
            t = shift**2 * ((number - 1) / number) / spread
        flat = ~(spread > tiny)
        t[flat] = np.where(shift[flat] ** 2 > np.broadcast_to(tiny, t.shape)[flat], np.inf, 0.0)
        t[np.broadcast_to(number < 2, t.shape)] = np.inf
        return np.asarray(t)

    return squared


def max_t(differences: Floats, *, draws: int = 20_000, seed: int = 0, groups: Groups | None = None) -> MaxT:
    """Return adjusted p-values and intervals of many pairs of runs by the randomized max-t procedure.

    The signs of whole queries (or groups) are flipped in all columns at once, which preserves the dependence
    between pairs. Every observed |t| is compared with the largest |t| of flipped differences over the columns
    whose observed |t| is no larger (step-down), and p is made non-decreasing. This controls the family-wise
    error rate strongly where the differences of true nulls are jointly symmetric, as they are for
    exchangeable runs. All patterns are enumerated if there are at most `draws`. With the pairs of one
    baseline it is the randomization analog of Dunnett's procedure.

    Source: Romano and Wolf (2005), JASA 100(469); Westfall and Young (1993), Resampling-Based Multiple
    Testing.

    >>> found = max_t(np.array([[0.1, 0.0], [0.3, 0.1], [0.2, -0.1], [0.2, 0.1], [0.1, 0.0], [0.4, 0.2]]))
    >>> found.p.tolist()  # exact: 64 patterns
    [0.03125, 0.5]
    """
    return MaxT(totals(differences, groups), draws=draws, seed=seed)


def mean_ranks(values: Floats, *, rising: bool = True) -> Floats:
    """Return the mean rank of every system (column) over queries (rows); 1 is best, ties share ranks.

    >>> mean_ranks(np.array([[0.5, 0.4, 0.4], [0.9, 0.1, 0.3]])).tolist()
    [1.0, 2.75, 2.25]
    """
    from scipy.stats import rankdata

    ranks: Floats = rankdata(-values if rising else values, axis=1)
    return np.asarray(ranks.mean(axis=0))


def friedman(values: Floats) -> float:
    """Return the p-value of Friedman's test that all systems have the same ranks.

    The statistic is corrected for ties and compared with chi-squared with n_systems - 1 degrees of
    freedom. NaN where every query gives all systems the same value.

    Source: Friedman (1937), JASA 32(200).

    >>> round(friedman(np.array([[1.0, 2.0, 3.0]] * 4)), 5)  # the statistic is 8, exp(-8 / 2)
    0.01832
    """
    from scipy.stats import chi2, rankdata

    number, systems = values.shape
    ranks = rankdata(values, axis=1)
    spread = ((ranks - (systems + 1) / 2) ** 2).sum()
    if spread == 0:
        return math.nan
    between = ((ranks.sum(axis=0) - number * (systems + 1) / 2) ** 2).sum()
    return float(chi2.sf((systems - 1) * between / spread, systems - 1))


def critical_difference(systems: int, number: int, *, confidence: float = 0.95) -> float:
    """Return the critical difference of mean ranks at which two systems differ significantly (Nemenyi).

    CD = q sqrt(k (k + 1) / (6 n)) for k systems and n queries, where q is the quantile of the Studentized
    range of k means with infinite degrees of freedom, divided by sqrt(2). It controls the family-wise error
    rate of all pairs.

    Source: Demšar (2006), JMLR 7, section 3.2.2; Nemenyi (1963).

    >>> round(critical_difference(4, 14), 2)  # Demšar's example
    1.25
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(confidence, systems, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(systems * (systems + 1) / (6 * number))
