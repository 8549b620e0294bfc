"""Power analysis, sample size, and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats.intervals import t_quantile
from leadline.stats.moments import EQUAL, moments


class Outcomes(NamedTuple):
    """Number of queries on which the first run is better, equal and worse, by column."""

    wins: Integers
    ties: Integers
    losses: Integers

    @property
    def identical(self) -> Flags:
        """Return the flags of the columns without any difference."""
        return np.asarray((self.wins + self.losses == 0) & (self.ties > 0))


def outcomes(differences: Floats) -> Outcomes:
    """Return the numbers of queries above, at and below 0 in each column; NaN is ignored.

    >>> [int(count[0]) for count in outcomes(np.array([[0.1], [0.0], [-0.2], [0.3]]))]
    [2, 1, 1]
    """
    defined = ~np.isnan(differences)
    return Outcomes(
        (differences > EQUAL).sum(axis=0),
        (defined & (np.abs(differences) <= EQUAL)).sum(axis=0),
        (differences < -EQUAL).sum(axis=0),
    )


def standardised(differences: Floats) -> Floats:
    """Return the standardized mean difference d_z: mean over standard deviation, per column.

    0 where all differences are 0; undefined for fewer than two queries and where all are equal but not 0.

    Source: Cohen (1988), section 2.3.5.

    >>> round(float(standardised(np.array([[0.1], [0.3], [-0.1], [0.2], [0.2]]))[0]), 4)
    0.9231
    """
    statistics = moments(differences)
    effect = np.full(len(statistics.mean), np.nan)
    np.divide(statistics.mean, statistics.deviation, out=effect, where=statistics.deviation > 0)
    effect[(statistics.deviation == 0) & (statistics.mean == 0)] = 0.0
    return effect


def standardised_limits(differences: Floats, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return confidence limits of the standardized mean difference d_z of each column.

    The noncentral t distributions whose tails beyond the observed t are (1 - `level`) / 2 give the limits of
    the noncentrality; divided by sqrt(n) they are those of d_z. Exact for normal differences. Undefined for
    fewer than two queries and where all differences are equal.

    Source: Steiger and Fouladi (1997), in Harlow et al., What If There Were No Significance Tests?

    >>> low, high = standardised_limits(np.array([[0.1], [0.3], [-0.1], [0.2], [0.2]]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (-0.184, 1.96)
    """
    from scipy.special import nctdtrinc

    statistics = moments(differences)
    low, high = np.full((2, len(statistics.mean)), np.nan)
    spread = np.flatnonzero(statistics.deviation > 0)
    number = statistics.number[spread]
    t = statistics.mean[spread] / statistics.error[spread]
    low[spread] = nctdtrinc(number - 1, (1 + level) / 2, t) / np.sqrt(number)
    high[spread] = nctdtrinc(number - 1, (1 - level) / 2, t) / np.sqrt(number)
    return low, high


NORMAL = NormalDist()
MOST = 10_000_000  # queries


def power(effect: float, queries: float, *, level: float = 0.95, one_sided: bool = False) -> float:
    """Return the power of the paired t-test for a standardized difference.

    From the noncentral t distribution with n - 1 degrees of freedom and noncentrality effect * sqrt(n). The
    significance level 1 - `level` is that of both tails or, if `one_sided`, of the tail of the effect.

    Source: Cohen (1988), chapter 2.

    >>> round(power(0.5, 34), 3), round(power(0.5, 27, one_sided=True), 3)
    (0.808, 0.812)
    """
    from scipy.special import chdtr, nctdtr, stdtrit

    critical = stdtrit(queries - 1, level if one_sided else (1 + level) / 2)
    shift = abs(effect) * math.sqrt(queries)
    upper = 1 - float(nctdtr(queries - 1, shift, critical))
    if math.isnan(upper):  # the series does not converge for large shifts
        upper = float(chdtr(queries - 1, (queries - 1) * min(shift / critical, 1e6) ** 2))
    if one_sided:
        return upper
    lower = float(nctdtr(queries - 1, shift, -critical)) if shift < 8 else 0.0
    return upper + (0.0 if math.isnan(lower) else lower)  # nor for negligible probabilities


def queries_needed(effect: float, *, power_wanted: float = 0.8, level: float = 0.95) -> int | None:
    """Return the smallest number of queries that detects a standardized difference with this power.

    None for a difference of 0, or if more than ten million queries would be required.

    >>> queries_needed(0.5)
    34
    """
    if not math.isfinite(effect) or effect == 0:
        return None
    alpha, beta = NORMAL.inv_cdf((1 + level) / 2), NORMAL.inv_cdf(power_wanted)
    ratio = min(abs((alpha + beta) / effect), float(MOST))
    about = ratio**2 + alpha**2 / 2  # starting value: normal approximation
    high = max(2, math.ceil(min(about, MOST)))
    while power(effect, high, level=level) < power_wanted:
        if high >= MOST:
            return None
        high += 1
    low = high - 3 if high > 4 and power(effect, high - 3, level=level) < power_wanted else 1
    return _first(low, high, lambda number: power(effect, number, level=level) >= power_wanted)


def _first(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """Return the smallest number that is enough, by bisection: `low` is not, `high` is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def half_width_of(deviation: float, queries: int, *, level: float = 0.95) -> float:
    """Return the half-width of Student's interval of a mean of values with this standard deviation.

    >>> round(half_width_of(0.2, 64), 4)
    0.05
    """
    return t_quantile(queries - 1, (1 + level) / 2) * deviation / math.sqrt(queries)


def queries_for_half_width(deviation: float, half_width: float, *, level: float = 0.95) -> int | None:
    """Return the smallest number of queries whose interval is at most this wide on each side.

    None if more than ten million queries would be required.

    >>> queries_for_half_width(0.2, 0.05), round(half_width_of(0.2, 63), 4)
    (64, 0.0504)
    """

    def enough(number: int) -> bool:
        return half_width_of(deviation, number, level=level) <= half_width

    return _first(1, MOST, enough) if enough(MOST) else None


def detectable(
    deviation: float,
    queries: float,
    *,
    power_wanted: float = 0.8,
    level: float = 0.95,
    one_sided: bool = False,
) -> float:
    """Return the smallest difference detectable with this power, in units of the measure.

    `deviation` is the standard deviation of the differences; undefined for fewer than two queries. `queries`
    may be a number of effective groups, with the deviation of these.

    >>> round(detectable(0.2, 50), 4)
    0.0808
    """
    if queries < 2 or not math.isfinite(deviation):
        return math.nan
    effect = _detectable_effect(queries, power_wanted, level, one_sided)
    return float(np.float64(effect) * deviation)


def upper_deviation(deviation: float, queries: float, *, level: float = 0.95) -> float:
    """Return the one-sided upper confidence limit of a standard deviation over queries.

    s sqrt((n - 1) / q), where q is the 1 - `level` quantile of chi-square with n - 1 degrees of freedom:
    exact for normal values. Planning with the deviation of a small sample itself underestimates the number of
    queries in about half of the cases. Undefined for fewer than two queries.

    Source: Browne (1995), Statistics in Medicine 14; for topic sets Sakai (2016), Information Retrieval 19.

    >>> round(upper_deviation(0.2, 50), 4)
    0.2403
    """
    from scipy.special import chdtri

    if queries < 2 or not math.isfinite(deviation):
        return math.nan
    return float(deviation * np.sqrt((queries - 1) / chdtri(queries - 1, level)))


@lru_cache(maxsize=1024)  # the same for all pairs over as many queries
def _detectable_effect(queries: float, power_wanted: float, level: float, one_sided: bool) -> float:
    low, high = 0.0, 100.0
    while power(high, queries, level=level, one_sided=one_sided) < power_wanted:
        high *= 10
    while high - low > 1e-9 * max(1.0, high):
        middle = (low + high) / 2
        if power(middle, queries, level=level, one_sided=one_sided) < power_wanted:
            low = middle
        else:
            high = middle
    return high
