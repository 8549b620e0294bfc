"""Paired tests: t, Wilcoxon, sign, randomization, bootstrap; equivalence."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.registry import Aliases, choice, whole
from leadline.stats import Alternative, PairedTest
from leadline.stats.moments import (
    ROUNDING,
    Groups,
    Means,
    Totals,
    columns_with_totals,
    each_block,
    in_parts,
    means,
    sign_p,
    signs,
    totals,
    weights,
    without_spread,
)

NORMAL = NormalDist()


class T(PairedTest):
    """Paired t test.

    Undefined for fewer than two queries; 1 where all differences are 0. With groups of queries the standard
    error is that of the jackknife over groups, with one degree of freedom less than effective groups.

    >>> round(T().p([0.1, 0.3, -0.1, 0.2, 0.2]), 4)
    0.1079
    """

    title = "paired t-test"
    null = "the mean difference is 0"
    source = "Student 1908; for retrieval: Sanderson and Zobel 2005; groups: Bell and McCaffrey 2002"
    aliases: ClassVar[Aliases] = {
        name: {}
        for name in (
            "ttest",
            "paired_t",
            "paired_ttest",
            "paired_t_test",
            "students_t",
            "student",
            "student_t_test",
        )
    }

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return 0 for two or more queries; with one non-zero difference |t| is 1, however many are 0."""
        bounds = {0: 1.0, 1: 2 * NORMAL.cdf(-1)}
        return bounds.get(queries, 0.0) / (1 if alternative == "two-sided" or not queries else 2)

    def _p_of(self, observed: Totals, *, two_sided: bool, seed: int) -> Floats:  # noqa: ARG002  # draws nothing
        from scipy.special import stdtr

        estimate = means(observed)
        spread = estimate.error > 0
        t = np.divide(estimate.mean, estimate.error, out=np.full(len(spread), np.nan), where=spread)
        p: Floats = stdtr(estimate.degrees, -np.abs(t) if two_sided else -t)
        p *= 2 if two_sided else 1
        p[(estimate.error == 0) & (estimate.mean == 0)] = 1.0
        return p


DECIMALS = 12  # differences that agree to this many decimals are ties
EXACT = 200  # non-zero differences; above, the normal approximation is accurate


class Wilcoxon(PairedTest):
    """Wilcoxon's signed-rank test; its null hypothesis is symmetry about 0, not a zero mean.

    `zeros` is the treatment of differences of 0: `drop` excludes them (Wilcoxon), `pratt` ranks them first. 1
    where all differences are 0. Exact, also with ties, for up to 200 non-zero differences; beyond that a
    normal approximation with tie correction. Groups of queries are not supported.

    >>> Wilcoxon().p([0.1, 0.3, -0.15, 0.2, 0.25])  # rank sums 13 and 2: 6 of 32 patterns
    0.1875
    """

    title = "Wilcoxon signed-rank test"
    null = "the differences are symmetric around 0"
    source = "Wilcoxon 1945; Pratt 1959; exact with ties: Streitberg and Roehmel 1986"
    aliases: ClassVar[Aliases] = {"signed_rank": {}, "wilcoxon_test": {}, "wilcoxon_signed_rank": {}}
    clusters: ClassVar[bool] = False
    weighs: ClassVar[bool] = False

    zeros: str = choice("drop", "pratt")

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return the p of differences of one sign; beyond the exact range, a bound on the normal p."""
        if queries <= EXACT:
            return one_sign(queries, alternative)
        return (2 if alternative == "two-sided" else 1) * _normal(-(queries**0.5))

    def _p_of(self, observed: Totals, *, two_sided: bool, seed: int) -> Floats:  # noqa: ARG002  # draws nothing
        return np.array(
            [self._one(column, two_sided=two_sided) for column in observed.sums.T], dtype=np.float64
        )

    def _one(self, differences: Floats, *, two_sided: bool) -> float:
        nonzero = np.round(differences[~np.isnan(differences)], DECIMALS)
        if len(nonzero) == 0:
            return float("nan")
        if not nonzero.any():
            return 1.0
        if self.zeros == "drop":
            nonzero = nonzero[nonzero != 0]
        ranks = doubled_ranks(np.abs(nonzero))[nonzero != 0]
        above = int(ranks[nonzero[nonzero != 0] > 0].sum())
        statistic = min(above, int(ranks.sum()) - above) if two_sided else int(ranks.sum()) - above
        if len(ranks) <= EXACT:
            p = float(_distribution(np.sort(ranks).tobytes())[: statistic + 1].sum())
        else:  # z is the same for ranks and doubled ranks
            p = _normal((statistic - ranks.sum() / 2) / (np.sqrt((ranks**2).sum()) / 2))
        return min(1.0, 2 * p) if two_sided else p


def _normal(deviations: float) -> float:
    """Return the lower tail of the normal distribution; that of `statistics` underflows to 0 early."""
    from scipy.special import ndtr

    return float(ndtr(deviations))


def doubled_ranks(values: Floats) -> Integers:
    """Return twice the mid-ranks of values, which are integers also with ties.

    >>> doubled_ranks(np.array([0.5, 0.1, 0.5]))
    array([5, 2, 5])
    """
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((2 * last - counts + 1)[group.ravel()], dtype=np.int64)


@lru_cache(maxsize=64)  # columns without ties have the same ranks
def _distribution(ranks: bytes) -> Floats:
    """Return the distribution of the positive rank sum under random signs, by the shift algorithm."""
    distribution = np.array([1.0])
    for rank in np.frombuffer(ranks, dtype=np.int64).tolist():
        longer = np.zeros(len(distribution) + rank)
        longer[: len(distribution)] += distribution / 2
        longer[rank:] += distribution / 2
        distribution = longer
    return distribution


class Sign(PairedTest):
    """Exact sign test: binomial test of the numbers of positive and negative differences.

    Ties are excluded. 1 where all differences are 0. With groups the sign is that of a group's sum.

    >>> Sign().p([0.1, 0.3, -0.1, 0.2, 0.2])  # 4 of 5: 2 (1 + 5) / 32
    0.375
    """

    title = "sign test"
    null = "queries favor each run equally often (median difference 0)"
    source = "Arbuthnott 1710; Conover 1999, section 3.4; for retrieval: van Rijsbergen 1979, chapter 7"
    aliases: ClassVar[Aliases] = {"sign_test": {}, "binomial": {}}
    weighs: ClassVar[bool] = False  # counts queries

    def smallest(self, queries: int, alternative: str = "two-sided") -> float:
        """Return the p of differences of one sign."""
        return one_sign(queries, alternative)

    def _p_of(self, observed: Totals, *, two_sided: bool, seed: int) -> Floats:  # noqa: ARG002  # draws nothing
        return sign_p(observed, two_sided=two_sided)


def one_sign(queries: int, alternative: str = "two-sided") -> float:
    """Return p of the sign test where all differences have the same sign.

    >>> one_sign(5), one_sign(5, "greater"), one_sign(0)
    (0.0625, 0.03125, 1.0)
    """
    patterns = 2.0 ** min(queries, 1000)
    return min(1.0, (2 if alternative == "two-sided" else 1) / patterns)


def decided_by_sign(differences: Floats, groups: Groups | None = None) -> Flags:
    """Return, per column, whether p is that of the sign test: all differences equal and not 0.

    Without spread `T` and `Bootstrap` have no statistic; the p of every test is then that of `Sign`. At least
    two queries are required. With groups, the residual sums of the groups must all be 0.

    >>> decided_by_sign(np.array([[0.1, 0.1, 0.0], [0.1, 0.2, 0.0]])).tolist()
    [True, False, False]
    """
    return without_spread(totals(differences, groups))


class Randomisation(PairedTest):
    """Paired randomization (sign-flip) test of the mean difference.

    p is the proportion of sign patterns whose absolute mean is at least the observed one. If there are at
    most `draws` patterns all are enumerated, which is exact; else `draws` random patterns and the observed
    one are used, so that p is never 0. Equality is up to rounding. With groups of queries the signs of whole
    groups are flipped.

    >>> Randomisation().p([0.1, 0.3, -0.1, 0.2, 0.2])  # 6 of 32 patterns
    0.1875
    """

    title = "paired randomization test"
    null = "the two values of each query are exchangeable"
    source = "Fisher 1935; Smucker, Allan and Carterette 2007; add-one p: Phipson and Smyth 2010"
    aliases: ClassVar[Aliases] = {
        name: {}
        for name in (
            "sign_flip",
            "permutation",
            "permutation_test",
            "randomization",
            "randomization_test",
            "fisher",
        )
    }

    draws: int = whole(100_000, low=1)

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return the p of differences of one sign: the observed pattern and, two-sided, its mirror image."""
        exact = one_sign(queries, alternative)
        return exact if 2.0 ** min(queries, 63) <= self.draws else 1 / (self.draws + 1)

    def samples(self, differences: Floats, groups: Groups | None = None) -> bool:
        """Return whether the patterns of any column are drawn, because there are too many of them."""
        return not self._enumerated(np.nan_to_num(totals(differences, groups).sums)).all()

    def _enumerated(self, filled: Floats) -> Flags:
        return np.asarray(2.0 ** np.minimum((filled != 0).sum(axis=0), 63) <= self.draws)

    def _p_of(self, observed: Totals, *, two_sided: bool, seed: int) -> Floats:
        defined = ~np.isnan(observed.sums)
        filled = np.where(defined, observed.sums, 0.0)
        p = np.full(filled.shape[1], np.nan)
        exact = defined.any(axis=0) & self._enumerated(filled)
        for index in np.flatnonzero(exact).tolist():
            column = filled[:, index]
            p[index] = _exact(column[column != 0], two_sided=two_sided)
        for part in in_parts(np.flatnonzero(defined.any(axis=0) & ~exact)):
            more = _at_least(filled[:, part], self.draws, seed, two_sided=two_sided)
            p[part] = (more + 1) / (self.draws + 1)
        return p


def _thresholds(differences: Floats, *, two_sided: bool) -> Floats:
    """Return the sum that a pattern must reach, minus a tolerance for rounding."""
    tolerance: Floats = ROUNDING * np.abs(differences).sum(axis=0)
    sums = differences.sum(axis=0)
    return np.asarray((np.abs(sums) if two_sided else sums) - tolerance)


def _exact(differences: Floats, *, two_sided: bool) -> float:
    """Return the proportion of all sign patterns; for |sum| half of them suffice by symmetry."""
    sums = np.array([differences[:1].sum()])
    for difference in differences[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    needed = _thresholds(differences[:, None], two_sided=two_sided)[0]
    if two_sided:
        return float((np.abs(sums) >= needed).mean())
    return float(((sums >= needed).mean() + (-sums >= needed).mean()) / 2)


def _at_least(differences: Floats, draws: int, seed: int, *, two_sided: bool) -> Integers:
    """Return, per column, the number of drawn patterns whose (absolute) sum is at least the observed one."""
    needed = _thresholds(differences, two_sided=two_sided)

    def block(generator: np.random.Generator, size: int) -> Integers:
        sums = signs(generator, size, len(differences)) @ differences
        if two_sided:
            np.abs(sums, out=sums)
        return np.asarray((sums >= needed).sum(axis=0))

    return np.asarray(np.sum(list(each_block(draws, seed, block)), axis=0))


class Bootstrap(PairedTest):
    """Paired bootstrap t test of the centered differences.

    p is the proportion of resamples whose absolute t is at least the observed one, which is included so that
    p is never 0; a resample of equal differences has t 0 if their mean is 0 and infinite t otherwise.
    Undefined for fewer than two queries; 1 where all differences are 0. With groups of queries whole groups
    are resampled, and t has the standard error of Liang and Zeger (1986), in the sample and its resamples.

    >>> round(Bootstrap(draws=20_000).p([0.1, 0.3, -0.1, 0.2, 0.2]), 1)
    0.2
    """

    title = "paired bootstrap test"
    null = "the mean difference is 0"
    source = "Efron and Tibshirani 1993, algorithm 16.2; for retrieval: Sakai 2006"
    aliases: ClassVar[Aliases] = {"bootstrap_t": {}, "bootstrap_test": {}}

    draws: int = whole(10_000, low=1)

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return the expected p when only resamples without spread reach the observed t.

        Those have infinite t: k / n^n resamples of k queries that differ, and (1 - k/n)^n of n - k that do
        not; n is the total number of queries that minimises the two. An expectation, since resamples are
        random.
        """
        minimum = 1 / (self.draws + 1)
        if queries == 0:
            return 1.0
        if alternative != "two-sided":
            return minimum
        sizes = np.arange(max(queries, 2), 2 * queries + 10, dtype=np.float64)
        degenerate = (1 - queries / sizes) ** sizes + queries * sizes**-sizes
        return float(max(minimum, degenerate.min()))

    def _p_of(self, observed: Totals, *, two_sided: bool, seed: int) -> Floats:
        p = np.full(observed.sums.shape[1], np.nan)
        for columns, part in columns_with_totals(observed):
            p[columns] = self._together(part, seed, two_sided=two_sided)
        return p

    def _together(self, observed: Totals, seed: int, *, two_sided: bool) -> Floats:
        clusters, sample = len(observed.sums), means(observed)
        residuals = observed.sums - observed.sizes * sample.mean
        squares = residuals**2
        if observed.grouped:  # studentized as the resamples are, not by leaving groups out
            centred = _resampled(np.ones((1, clusters)), residuals, squares, observed)
            sample = sample._replace(error=np.where(sample.error > 0, centred.error[0], sample.error))
        tolerance = ROUNDING * np.abs(observed.sums).max(axis=0, initial=0.0)

        def t_of(estimate: Means) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                t = estimate.mean / estimate.error
            error = estimate.error * np.sqrt(clusters)
            t[(error <= tolerance) & (np.abs(estimate.mean) <= tolerance)] = 0.0
            return np.abs(t) if two_sided else t

        needed = t_of(sample)
        needed = np.where(needed > 0, needed * (1 - ROUNDING), needed * (1 + ROUNDING))

        def block(generator: np.random.Generator, draws: int) -> Integers:
            counts = weights(generator, draws, clusters)
            drawn = _resampled(counts, residuals, squares, observed)
            return np.asarray((t_of(drawn) >= needed).sum(axis=0))

        more = np.sum(list(each_block(self.draws, seed, block)), axis=0)
        p = (more + 1) / (self.draws + 1)
        return np.where(sample.error > 0, p, np.where(np.abs(sample.mean) <= tolerance, 1.0, np.nan))


def _resampled(counts: Floats, residuals: Floats, squares: Floats, observed: Totals) -> Means:
    """Return the means and errors of resamples: draws x columns."""
    clusters = float(len(residuals))
    sums, queries = counts @ residuals, np.array(clusters)
    crossed, sizes = sums, np.array(clusters)
    if observed.grouped:
        queries = counts @ observed.sizes
        crossed, sizes = counts @ (residuals * observed.sizes), counts @ observed.sizes**2
    mean = sums / queries
    squared = np.maximum(counts @ squares - 2 * mean * crossed + mean**2 * sizes, 0.0)
    error = np.sqrt(squared * (clusters / (clusters - 1))) / queries
    return Means(np.array(clusters), mean, error, np.array(clusters))


def equivalence(differences: Floats, margin: float, groups: Groups | None = None) -> Floats:
    """Return p of two one-sided t tests (TOST) per column: small where the mean is within the margin.

    p is the larger of the two: that the mean is above -margin, and that it is below margin. Undefined for
    fewer than two queries; where all differences are equal each of the two is that of the sign test.

    Source: Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15(6); Lakens (2017), Social
    Psychological and Personality Science 8(4).

    >>> round(float(equivalence(np.array([[0.01], [-0.02], [0.00], [0.02]]), 0.05)[0]), 4)
    0.0057
    """
    above = T().p_values(differences + margin, alternative="greater", groups=groups)
    below = T().p_values(differences - margin, alternative="less", groups=groups)
    return np.asarray(np.maximum(above, below))
