"""How many queries are needed, and what can be seen with those there are."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from leadline.errors import UsageError
from leadline.statistics import checked_level

NORMAL = NormalDist()
MOST = 10_000_000  # queries; more is as good as never


def power(effect: float, queries: int, *, level: float = 0.95, one_sided: bool = False) -> float:
    """Give the chance that the paired t test sees a standardised difference (mean / deviation).

    From the noncentral t distribution with n - 1 degrees of freedom and noncentrality effect * sqrt(n), both
    tails. 1 - `level` is alpha, of both tails together or, `one_sided`, of the tail that the effect is in.
    (Cohen 1988, chapter 2.)

    >>> round(power(0.5, 34), 3), round(power(0.5, 27, one_sided=True), 3)
    (0.808, 0.812)
    """
    from scipy.special import chdtr, nctdtr, stdtrit

    if queries < 2:
        raise UsageError(f"{queries} queries; expected 2 or more")
    checked_level(level)
    critical = stdtrit(queries - 1, level if one_sided else (1 + level) / 2)
    shift = abs(effect) * math.sqrt(queries)
    upper = 1 - float(nctdtr(queries - 1, shift, critical))
    if math.isnan(upper):  # the series gives up at large shifts, where only the deviation matters
        upper = float(chdtr(queries - 1, (queries - 1) * min(shift / critical, 1e6) ** 2))
    if one_sided:
        return upper
    lower = float(nctdtr(queries - 1, shift, -critical)) if shift < 8 else 0.0
    return upper + (0.0 if math.isnan(lower) else lower)  # and at chances too small to matter


def queries_needed(effect: float, *, power_wanted: float = 0.8, level: float = 0.95) -> int | None:
    """Give the least number of queries that show a standardised difference with this power.

    None where it is 0, or would need more than ten million.

    >>> queries_needed(0.5)
    34
    """
    _check_power(power_wanted)
    checked_level(level)
    if not math.isfinite(effect) or effect == 0:
        return None
    alpha, beta = NORMAL.inv_cdf((1 + level) / 2), NORMAL.inv_cdf(power_wanted)
    ratio = min(abs((alpha + beta) / effect), float(MOST))
    about = ratio**2 + alpha**2 / 2  # as if the deviation were known
    high = max(2, math.ceil(min(about, MOST)))
    while power(effect, high, level=level) < power_wanted:
        if high >= MOST:
            return None
        high += 1
    low = high - 3 if high > 4 and power(effect, high - 3, level=level) < power_wanted else 1
    while high - low > 1:
        middle = (low + high) // 2
        if power(effect, middle, level=level) < power_wanted:
            low = middle
        else:
            high = middle
    return high


def detectable(
    deviation: float,
    queries: int,
    *,
    power_wanted: float = 0.8,
    level: float = 0.95,
    one_sided: bool = False,
) -> float:
    """Give the least difference that so many queries show with this power, in units of the measure.

    `deviation` is that of the differences of queries; undefined for fewer than two queries.

    >>> round(detectable(0.2, 50), 4)
    0.0808
    """
    _check_power(power_wanted)
    if queries < 2 or not math.isfinite(deviation):
        return math.nan
    effect = _detectable_effect(queries, power_wanted, level, one_sided)
    return float(np.float64(effect) * deviation)


def upper_deviation(deviation: float, queries: int, *, level: float = 0.95) -> float:
    """Return the one-sided upper confidence limit of a standard deviation over queries.

    s sqrt((n - 1) / q), where q is the 1 - `level` quantile of chi-square with n - 1 degrees of freedom:
    exact for normal values. Planning with the deviation of a small sample itself asks for too few queries in
    about every second case. Undefined for fewer than two queries.

    References
    ----------
    Browne (1995), Statistics in Medicine 14; for topic sets Sakai (2016), Information Retrieval 19.

    Examples
    --------
    >>> round(upper_deviation(0.2, 50), 4)
    0.2403

    """
    from scipy.special import chdtri

    checked_level(level)
    if queries < 2 or not math.isfinite(deviation):
        return math.nan
    return float(deviation * np.sqrt((queries - 1) / chdtri(queries - 1, level)))


@lru_cache(maxsize=1024)  # the same for all pairs over as many queries
def _detectable_effect(queries: int, power_wanted: float, level: float, one_sided: bool) -> float:
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


def _check_power(power_wanted: float) -> None:
    if not 0 < power_wanted < 1:
        raise UsageError(f"power {power_wanted}; expected a share between 0 and 1, such as 0.8")
