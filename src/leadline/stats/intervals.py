"""Confidence intervals of a mean: Student's t (without SciPy), bootstrap, BCa, randomization test."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.registry import Aliases, whole
from leadline.data.table import ResultWarning
from leadline.stats import Interval, column
from leadline.stats.moments import (
    Groups,
    Totals,
    columns_with_totals,
    each_block,
    every_sign,
    means,
    signs,
    too_few_groups,
    totals,
    weights,
)
from leadline.stats.paired_tests import Randomisation as RandomisationTest

MANY = 1e3  # degrees of freedom from which the expansion about the normal quantile is used
TINY = 1e-300
# Percentage of simulated families of pairs whose 95 % intervals all held, by number of queries: lowest and
# highest of three collections (docs/comparing.md); for BCa and Percentile, of normal, skewed and mostly zero
# scores with 15 pairs, or of single pairs; for means of single runs, lowest and highest of measures on six
# collections (docs/statistics.md). And the number of queries from which it is not said.
COVERAGE = {
    "Bonferroni": {6: (60, 72), 10: (65, 84), 15: (71, 91)},
    "MaxT": {6: (76, 98), 10: (88, 97), 15: (93, 96)},
    "BCa": {6: (42, 59), 10: (48, 72), 15: (55, 85), 25: (70, 90), 50: (83, 95), 100: (91, 95)},
    "Percentile": {6: (47, 71), 10: (73, 75), 15: (77, 87), 25: (84, 91), 50: (90, 94), 100: (94, 96)},
    "single BCa": {6: (83, 94), 10: (86, 91), 15: (83, 92), 25: (84, 93), 50: (88, 94), 100: (92, 95)},
    "single Percentile": {6: (81, 94), 10: (86, 96), 15: (90, 92), 25: (90, 93), 50: (92, 94)},
    "mean Student": {10: (89, 94), 25: (92, 95)},
    "mean Randomisation": {10: (89, 95), 25: (92, 95)},
    "mean BCa": {10: (88, 96), 25: (91, 95)},
    "mean Percentile": {10: (85, 91), 25: (91, 94), 50: (92, 96)},
}
ENOUGH = {"Bonferroni": 25, "MaxT": 25, "single Percentile": 100}  # others 200
ENOUGH |= {"mean Student": 50, "mean Randomisation": 50, "mean BCa": 50, "mean Percentile": 100}
# What is approximate, of which the percentage is, and what was contained, by the kind before the name.
WORDS = {
    "": ("simultaneous CIs", "all 95 % CIs", "differences"),
    "single": ("CIs", "95 % CIs", "difference"),
    "mean": ("CIs", "95 % CIs", "mean"),
}


def approximate(name: str, units: float, number: str) -> list[ResultWarning]:
    """Return how often intervals of a name in `COVERAGE` hold, if from few effective queries or groups.

    `number` is the number of units in words. One query has no interval.
    """
    if not 2 <= units < ENOUGH.get(name, 200):
        return []
    figures = COVERAGE[name]
    least = max((few for few in figures if few <= units), default=min(figures))
    low, high = figures[least]
    what, held, truth = WORDS[name.partition(" ")[0] if " " in name else ""]
    page = "comparing" if name in {"Bonferroni", "MaxT"} else "statistics"
    words = (
        f"{what} are approximate with {number}. In simulations with {least} queries, {held} contained the "
        f"true {truth} in {low} to {high} % of cases (docs/{page}.md)"
    )
    return [ResultWarning("approximate_intervals", words, int(units))]


def t_quantiles(degrees: Floats, probability: float) -> Floats:
    """Return the quantiles of Student's t distribution for arrays of degrees of freedom.

    >>> t_quantiles(np.array([1.0, 4.0, np.inf]), 0.975).round(4)
    array([12.7062,  2.7764,  1.96  ])
    """
    values, place = np.unique(np.asarray(degrees, dtype=np.float64), return_inverse=True)
    found = np.array([t_quantile(one, probability) for one in values.tolist()])
    return np.asarray(found[place].reshape(np.shape(degrees)))


@lru_cache(maxsize=4096)
def t_quantile(degrees: float, probability: float) -> float:
    """Return a quantile of Student's t distribution, to about 12 digits.

    Newton's method on the distribution function, which is an incomplete beta function; for many degrees of
    freedom, the expansion about the normal quantile.

    Source: Abramowitz and Stegun (1964), 26.5.8, 26.7.1 and 26.7.5.

    >>> round(t_quantile(1.0, 0.75), 12)  # of the Cauchy distribution, tan(pi / 4)
    1.0
    """
    if not degrees > 0:
        return math.nan
    if probability < 0.5:
        return -t_quantile(degrees, 1.0 - probability)
    if probability == 0.5:
        return 0.0
    value = _expanded(degrees, NormalDist().inv_cdf(probability))
    if degrees >= MANY:
        return value
    if degrees < 3:  # the expansion is poor: begin with the exact quantile of two degrees or of one
        tail = 2.0 * probability - 1.0
        value = math.tan(0.5 * math.pi * tail) if degrees < 2 else tail * math.sqrt(2 / (1 - tail * tail))
    log_scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - 0.5 * math.log(degrees * math.pi)
    for _ in range(50):
        density = math.exp(log_scale - (degrees + 1) / 2 * math.log1p(value * value / degrees))
        step = (_upper_tail(value, degrees) - (1.0 - probability)) / density
        step = max(step, -0.5 * value)  # a step too long would change the sign
        value += step
        if abs(step) <= 1e-8 * value:  # the next step would be below 1e-15
            break
    return value


def _expanded(degrees: float, z: float) -> float:
    """Return the quantile as an expansion in 1 / degrees about the normal quantile z."""
    square = z * z
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z + z * sum(term / degrees**power for power, term in enumerate(terms, start=1))


def _upper_tail(t: float, degrees: float) -> float:
    """Return P(T > t) for t > 0: half the incomplete beta function I_x(degrees / 2, 1/2)."""
    x = degrees / (degrees + t * t)
    a, b = degrees / 2, 0.5
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    rest = t * t / (degrees + t * t)
    front = math.exp(a * math.log(x) + b * math.log(rest) - log_beta)
    if x < (a + 1) / (a + b + 2):
        return 0.5 * front * _fraction(x, a, b) / a
    return 0.5 * (1.0 - front * _fraction(rest, b, a) / b)


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method."""
    c = 1.0
    d = 1.0 / (1.0 - (a + b) * x / (a + 1) or TINY)
    value = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + term * d or TINY)
            c = 1.0 + term / c or TINY
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


class Student(Interval):
    """Mean plus and minus the t quantile times the standard error.

    With groups of queries the standard error is that of the jackknife over groups, and the t quantile has one
    degree of freedom less than effective groups. In simulations with queries drawn from six collections
    (benchmarks/simultaneous.py), 95 % intervals of the mean of a single run contained the true mean in 89 to
    94 % with 10 queries, 92 to 95 % with 25 and 93 to 96 % with 50 or 100: the lowest and the highest of 16
    combinations of collection and measure.

    >>> low, high = Student().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 4), round(high, 4)
    (-0.0483, 0.3283)
    """

    title = "t interval"
    source = "Student 1908; groups: Bell and McCaffrey 2002"
    aliases: ClassVar[Aliases] = {"t": {}}

    def limits(
        self,
        values: Floats,
        *,
        level: float = 0.95,
        seed: int = 0,  # noqa: ARG002  # draws nothing
        groups: Groups | None = None,
    ) -> tuple[Floats, Floats]:
        estimate = means(totals(values, groups))
        half_width = t_quantiles(estimate.degrees, (1 + level) / 2) * estimate.error
        return estimate.mean - half_width, estimate.mean + half_width


class Percentile(Interval):
    """Percentile bootstrap interval of `draws` resamples of the queries; too narrow for few queries.

    With groups of queries, whole groups are resampled. In the simulations described for `BCa`, 95 % intervals
    of one pair contained the true mean in 86 to 96 % with 10 queries, 90 to 93 % with 25 and 92 to 94 % with
    50. Those of 15 pairs contained all true differences in 73 to 75 %, 84 to 91 % and 90 to 94 %. In the
    simulations described for `Student`, intervals of the mean of a single run contained the true mean in 85
    to 91 % with 10 queries, 91 to 94 % with 25 and 92 to 96 % with 50 or 100.

    >>> low, high = Percentile().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 2), round(high, 2)
    (0.02, 0.24)
    """

    title = "percentile bootstrap interval"
    source = "Efron and Tibshirani 1993, chapter 13"

    draws: int = whole(9_999, low=99)

    def limits(
        self, values: Floats, *, level: float = 0.95, seed: int = 0, groups: Groups | None = None
    ) -> tuple[Floats, Floats]:
        low, high = np.full((2, values.shape[1]), np.nan)
        probabilities = [(1 - level) / 2, (1 + level) / 2]
        for columns, observed in columns_with_totals(totals(values, groups)):
            drawn = resampled_means(observed, self.draws, seed)
            low[columns], high[columns] = np.quantile(drawn, probabilities, axis=0)
        return low, high


NORMAL = NormalDist()


class BCa(Interval):
    """Bias-corrected and accelerated bootstrap interval from `draws` resamples of the queries.

    Columns with the same queries share their resamples, so that runs are compared on equal terms. Both limits
    of a column of equal values are that value. With groups of queries, whole groups are resampled and left
    out. The interval is too narrow for few queries. In simulations of normal, skewed and mostly zero
    differences, 95 % intervals of one pair contained the true mean in 86 to 91 % with 10 queries, 84 to 93 %
    with 25 and 88 to 94 % with 50. Those of 15 pairs with Bonferroni's correction contained all true
    differences in 48 to 72 %, 70 to 90 % and 83 to 95 %, and with 100 queries in 91 to 95 %. In the
    simulations described for `Student`, intervals of the mean of a single run contained the true mean in 88
    to 96 % with 10 queries, 91 to 95 % with 25 and 93 to 96 % with 50 or 100.

    >>> low, high = BCa().of([0.1, 0.3, -0.1, 0.2, 0.2])
    >>> round(low, 1), round(high, 1)
    (-0.0, 0.2)
    """

    title = "BCa bootstrap interval"
    source = "Efron 1987; Efron and Tibshirani 1993, section 14.3"
    aliases: ClassVar[Aliases] = {"bootstrap": {}}

    draws: int = whole(9_999, low=99)

    def limits(
        self, values: Floats, *, level: float = 0.95, seed: int = 0, groups: Groups | None = None
    ) -> tuple[Floats, Floats]:
        low, high = np.full((2, values.shape[1]), np.nan)
        for columns, observed in columns_with_totals(totals(values, groups)):
            drawn = resampled_means(observed, self.draws, seed)
            total, queries = observed.sums.sum(axis=0), observed.sizes.sum(axis=0)
            left_out = (total - observed.sums) / (queries - observed.sizes)
            low[columns], high[columns] = bca_limits(drawn, total / queries, left_out, level)
        return low, high

    def ratio(
        self, first: Floats, second: Floats, *, level: float = 0.95, seed: int = 0
    ) -> tuple[float, float]:
        """Return the limits of mean(first) / mean(second), two lists of values of the same queries.

        NaN where the second mean is 0 in a resample or leave-one-out mean, and for fewer than two queries.

        >>> low, high = BCa().ratio([0.2, 0.4, 0.5, 0.3], [0.1, 0.3, 0.5, 0.2])
        >>> round(low, 1), round(high, 1)
        (1.1, 1.6)
        """
        values = np.hstack([column(first), column(second)])
        values = values[~np.isnan(values).any(axis=1)]
        if len(values) < 2:
            return float("nan"), float("nan")
        means = resampled(values, self.draws, seed)
        left = (values.sum(axis=0) - values) / (len(values) - 1)
        if (means[:, 1] == 0).any() or (left[:, 1] == 0).any():
            return float("nan"), float("nan")
        observed = values[:, 0].mean() / values[:, 1].mean()
        low, high = bca_limits(
            means[:, :1] / means[:, 1:], np.array([observed]), left[:, :1] / left[:, 1:], level
        )
        return float(low[0]), float(high[0])


def resampled(values: Floats, draws: int, seed: int) -> Floats:
    """Return the means of resamples of the queries: draws x columns; values must not be NaN."""

    def block(generator: np.random.Generator, size: int) -> Floats:
        return np.asarray(weights(generator, size, len(values)) @ values / len(values))

    return np.concatenate(list(each_block(draws, seed, block)))


def resampled_means(observed: Totals, draws: int, seed: int) -> Floats:
    """Return the means of resamples of the clusters: draws x columns."""
    if not observed.grouped:
        return resampled(observed.sums, draws, seed)

    def block(generator: np.random.Generator, size: int) -> Floats:
        counts = weights(generator, size, len(observed.sums))
        return np.asarray((counts @ observed.sums) / (counts @ observed.sizes))

    return np.concatenate(list(each_block(draws, seed, block)))


def bca_limits(
    estimates: Floats, observed: Floats, leave_one_out: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return the BCa limits per column from bootstrap replicates, the estimate and jackknife values.

    With z0 the normal quantile of the proportion of replicates below the estimate (half of those equal), and
    a = sum(U^3) / (6 sum(U^2)^1.5) over U = mean of the jackknife values minus each, the limits are the
    quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) for the normal quantiles z of the level.
    """
    from scipy.special import ndtr, ndtri

    draws = len(estimates)
    tolerance = 1e-12 * np.maximum(np.abs(estimates).max(axis=0), np.abs(observed))
    below = (estimates < observed - tolerance).mean(axis=0)
    at_most = (estimates <= observed + tolerance).mean(axis=0)
    bias = ndtri(np.clip((below + at_most) / 2, 0.5 / draws, 1 - 0.5 / draws))
    deviations = leave_one_out.mean(axis=0) - leave_one_out
    spread = (deviations**2).sum(axis=0) ** 1.5
    skew = (deviations**3).sum(axis=0)
    acceleration = np.divide(skew, 6 * spread, out=np.zeros_like(skew), where=spread > 0)
    ordered = np.sort(estimates, axis=0)
    limits = []
    for probability in ((1 - level) / 2, (1 + level) / 2):
        z = bias + NORMAL.inv_cdf(probability)
        limits.append(_quantile(ordered, ndtr(bias + z / (1 - acceleration * z))))
    constant = np.ptp(estimates, axis=0) <= tolerance
    return np.where(constant, observed, limits[0]), np.where(constant, observed, limits[1])


def _quantile(ordered: Floats, probabilities: Floats) -> Floats:
    """Return a quantile of each sorted column, each at its own probability, linearly interpolated."""
    position = probabilities * (len(ordered) - 1)
    under = np.floor(position).astype(np.int64)
    above = np.minimum(under + 1, len(ordered) - 1)
    columns = np.arange(ordered.shape[1])
    low, high = ordered[under, columns], ordered[above, columns]
    return np.asarray(low + (high - low) * (position - under))


COLUMNS = 64  # per block: the extremes of all draws are kept in memory
SMALLEST = float(np.nextafter(0.0, 1.0))


class Randomisation(Interval):
    """Inverted sign-flip test: the means that the randomization test does not reject.

    A hypothetical mean is subtracted from every difference, and signs are flipped. If that mean is below the
    observed one, a pattern reaches the observed mean exactly when the hypothetical mean is no smaller than
    the lesser of two: the mean of the flipped differences and that of the others. The lower limit is
    therefore an order statistic of these lesser means over all patterns, or over `draws` of them, and the
    upper limit one of the greater means; no search is needed. With the same draws, seed and groups, 0 lies
    outside exactly where the test's p is below 1 - level. A limit is infinite where the queries (or groups)
    are too few to reject any mean. In the simulations described for `Student`, intervals of the mean of a
    single run contained the true mean in 89 to 95 % with 10 queries, 92 to 95 % with 25 and 93 to 96 % with
    50 or 100.

    >>> low, high = Randomisation().of([0.1, 0.3, -0.1, 0.2, 0.2, 0.3, 0.1, 0.4])
    >>> round(low, 4), round(high, 4)
    (0.05, 0.3)
    """

    title = "inverted randomization test"
    source = "Hartigan 1969; Fisher 1935"
    aliases: ClassVar[Aliases] = {
        "sign_flip": {},
        "permutation": {},
        "randomization": {},
        "inverted_randomization": {},
        "inverted_randomisation": {},
    }

    draws: int = whole(100_000, low=1)

    def limits(
        self, values: Floats, *, level: float = 0.95, seed: int = 0, groups: Groups | None = None
    ) -> tuple[Floats, Floats]:
        observed = totals(values, groups)
        observed = observed._replace(sums=np.where(too_few_groups(observed), np.nan, observed.sums))
        low, high = np.full((2, values.shape[1]), np.nan)
        clusters = (~np.isnan(observed.sums)).sum(axis=0)
        exact = 2.0 ** np.minimum(clusters, 63) <= self.draws
        for index in np.flatnonzero(exact & (clusters >= 2)).tolist():
            rows = ~np.isnan(observed.sums[:, index])
            part = Totals(observed.sums[rows, index, None], observed.sizes[rows, index, None], True)
            # the mirror image of every pattern has the same two means
            rank = smallest_count(level, 2.0 ** float(rows.sum()), added=0)
            means = np.sort(_two_means(every_sign(int(rows.sum())), part), axis=1)
            low[index], high[index] = _limits_at(means, -(-rank // 2))[:, 0]
        drawn = np.flatnonzero(~exact)
        for start in range(0, len(drawn), COLUMNS):
            columns = drawn[start : start + COLUMNS]
            part = Totals(np.nan_to_num(observed.sums[:, columns]), observed.sizes[:, columns], True)
            rank = smallest_count(level, self.draws + 1.0, added=1)
            low[columns], high[columns] = _limits_at(self._drawn(part, seed, rank), rank)
        p = RandomisationTest(draws=self.draws).p_values(values, seed=seed, groups=groups)
        return consistent_limits(low, high, np.asarray(p < 1 - level), observed.sums)

    def _drawn(self, observed: Totals, seed: int, rank: int) -> Floats:
        """Return the `rank` smallest lesser means (increasing) and largest greater means (decreasing)."""
        if rank == 0:
            return np.empty((2, 0, observed.sums.shape[1]))

        def block(generator: np.random.Generator, size: int) -> Floats:
            means = _two_means(signs(generator, size, len(observed.sums)), observed)
            return np.partition(means, rank - 1, axis=1)[:, :rank] if size > rank else means

        extremes = np.concatenate(list(each_block(self.draws, seed, block)), axis=1)
        return np.sort(extremes, axis=1)[:, :rank]


def _two_means(patterns: Floats, observed: Totals) -> Floats:
    """Return the smaller mean of each pattern's two parts, and the negative of the larger one."""
    total, queries = observed.sums.sum(axis=0), observed.sizes.sum(axis=0)
    sums, sizes = patterns @ observed.sums, patterns @ observed.sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        flipped, unflipped = (total - sums) / (queries - sizes), (total + sums) / (queries + sizes)
    means = np.stack([np.minimum(flipped, unflipped), -np.maximum(flipped, unflipped)])
    means[:, (queries - sizes == 0) | (queries + sizes == 0)] = -np.inf
    return means


def _limits_at(means: Floats, rank: int) -> Floats:
    """Return the lower and upper limits: the means of this rank; infinite at rank 0."""
    if rank == 0:
        return np.asarray(np.full((2, means.shape[2]), np.inf) * np.array([[-1.0], [1.0]]))
    return np.asarray(means[:, rank - 1] * np.array([[1.0], [-1.0]]))


def smallest_count(level: float, patterns: float, *, added: int) -> int:
    """Return the smallest count whose proportion of the patterns, with those added, is at least 1 - level."""
    alpha = 1 - level
    count = max(0, int(np.floor(alpha * patterns)) - added - 1)
    while (count + added) / patterns < alpha:
        count += 1
    return count


def consistent_limits(low: Floats, high: Floats, rejected: Flags, sums: Floats) -> tuple[Floats, Floats]:
    """Return limits that contain 0 exactly where the test does not reject 0.

    They may differ by rounding, or where the test of 0 has fewer patterns than the interval, since
    differences of 0 have no sign. Such a limit is moved to 0, or to the next floating-point number.
    """
    inside = (low <= 0) & (high >= 0)
    above = np.nansum(sums, axis=0) > 0
    return (
        np.where(rejected & inside & above, SMALLEST, np.where(~rejected & (low > 0), 0.0, low)),
        np.where(rejected & inside & ~above, -SMALLEST, np.where(~rejected & (high < 0), 0.0, high)),
    )
