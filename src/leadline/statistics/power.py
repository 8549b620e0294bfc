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


def power(effect: float, queries: int, *, level: float = 0.95) -> float:
    """Give the chance that the paired t test sees a standardised difference (mean / deviation).

    From the noncentral t distribution with n - 1 degrees of freedom and noncentrality effect * sqrt(n), both
    tails. 1 - `level` is the two-sided alpha. (Cohen 1988, chapter 2.)

    >>> round(power(0.5, 34), 3)
    0.808
    """
    from scipy.special import chdtr, nctdtr, stdtrit

    if queries < 2:
        raise UsageError(f"{queries} queries; expected 2 or more")
    checked_level(level)
    critical = stdtrit(queries - 1, (1 + level) / 2)
    shift = abs(effect) * math.sqrt(queries)
    upper = 1 - float(nctdtr(queries - 1, shift, critical))
    if math.isnan(upper):  # the series gives up at large shifts, where only the deviation matters
        upper = float(chdtr(queries - 1, (queries - 1) * min(shift / critical, 1e6) ** 2))
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
    deviation: float, queries: int, *, power_wanted: float = 0.8, level: float = 0.95
) -> float:
    """Give the least difference that so many queries show with this power, in units of the measure.

    `deviation` is that of the differences of queries; undefined for fewer than two queries.

    >>> round(detectable(0.2, 50), 4)
    0.0808
    """
    _check_power(power_wanted)
    if queries < 2 or not math.isfinite(deviation):
        return math.nan
    return float(np.float64(_detectable_effect(queries, power_wanted, level)) * deviation)


@lru_cache(maxsize=1024)  # the same for all pairs over as many queries
def _detectable_effect(queries: int, power_wanted: float, level: float) -> float:
    low, high = 0.0, 100.0
    while power(high, queries, level=level) < power_wanted:
        high *= 10
    while high - low > 1e-9 * max(1.0, high):
        middle = (low + high) / 2
        if power(middle, queries, level=level) < power_wanted:
            low = middle
        else:
            high = middle
    return high


def _check_power(power_wanted: float) -> None:
    if not 0 < power_wanted < 1:
        raise UsageError(f"power {power_wanted}; expected a share between 0 and 1, such as 0.8")
