"""Quantiles of Student's t distribution without SciPy, whose import takes longer than most commands."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from leadline.data.arrays import Floats

MANY = 1e3  # degrees of freedom from which the expansion about the normal quantile is used
TINY = 1e-300


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
