"""How many queries are needed, and what can be seen with those there are."""

from __future__ import annotations

import math

import numpy as np

from leadline.errors import UsageError

MOST = 10_000_000  # queries; more is as good as never


def power(effect: float, queries: int, *, level: float = 0.95) -> float:
    """Give the chance that the paired t test sees a standardised difference (mean / deviation).

    From the noncentral t distribution with n - 1 degrees of freedom and noncentrality effect * sqrt(n), both
    tails. 1 - `level` is the two-sided alpha. (Cohen 1988, chapter 2.)

    >>> round(power(0.5, 34), 3)
    0.808
    """
    from scipy.special import nctdtr, stdtrit

    if queries < 2:
        raise UsageError(f"{queries} queries; expected 2 or more")
    critical = stdtrit(queries - 1, (1 + level) / 2)
    shift = abs(effect) * math.sqrt(queries)
    if shift - critical > 30:  # where the series of the distribution gives up, the answer is plain
        return 1.0
    upper = 1 - float(nctdtr(queries - 1, shift, critical))
    lower = float(nctdtr(queries - 1, shift, -critical)) if shift < 5 else 0.0
    return upper + lower


def queries_needed(effect: float, *, power_wanted: float = 0.8, level: float = 0.95) -> int | None:
    """Give the least number of queries that show a standardised difference with this power.

    None where it is 0, or would need more than ten million.

    >>> queries_needed(0.5)
    34
    """
    if not math.isfinite(effect) or effect == 0:
        return None
    low, high = 1, 2
    while power(effect, high, level=level) < power_wanted:
        low, high = high, high * 2
        if high > MOST:
            return None
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
    if queries < 2 or not math.isfinite(deviation):
        return math.nan
    low, high = 0.0, 100.0
    while power(high, queries, level=level) < power_wanted:
        high *= 10
    while high - low > 1e-9 * max(1.0, high):
        middle = (low + high) / 2
        if power(middle, queries, level=level) < power_wanted:
            low = middle
        else:
            high = middle
    return float(np.float64(high) * deviation)
