"""Intervals of ratios of means, of differences of relative improvements, and of two independent means."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats
from leadline.stats.intervals import t_quantile
from leadline.stats.moments import each_block, moments, weights

NOTHING = (math.nan, math.nan)


def studentised_ratio(
    x: Floats, y: Floats, *, draws: int, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Return bootstrap limits of mean(x) / mean(y) for x >= 0 and y > 0 of the same queries.

    The logarithm of the ratio is studentized in every resample: its standard error is that of the mean of x /
    mean(x) - y / mean(y). The limits are exp(l - q s), with l and s of the sample and q the quantiles of
    (l* - l) / s* over the resamples. Limits are NaN where too many resamples have no positive x, and for
    fewer than two queries.

    Source: Efron and Tibshirani (1993), section 12.5 and 12.6.

    >>> squares = np.array([0.01, 0.04, 0.0, 0.09, 0.01, 0.0, 0.02, 0.03])
    >>> low, high = studentised_ratio(squares, np.ones(8), draws=2000)
    >>> bool(low < squares.mean() < high)
    True
    >>> studentised_ratio(np.zeros(8), np.ones(8), draws=2000)
    (nan, nan)
    """
    if len(x) < 2 or not x.any():
        return NOTHING
    table = np.stack([x, y, x * x, x * y, y * y], axis=1)

    def block(generator: np.random.Generator, size: int) -> Floats:
        return np.asarray(weights(generator, size, len(x)) @ table / len(x))

    value, error = _log_ratio(table.mean(axis=0)[None], len(x))
    if not error[0]:
        return NOTHING
    values, errors = _log_ratio(np.concatenate(list(each_block(draws, seed, block))), len(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (values - value) / errors
    t[np.isnan(t)] = 0.0  # equal queries, with the ratio of the sample
    t[np.isneginf(values)] = -np.inf  # no positive x
    tail = (1 - level) / 2
    low, high = (
        float(np.quantile(t, 1 - tail, method="higher")),
        float(np.quantile(t, tail, method="lower")),
    )
    with np.errstate(over="ignore"):
        limits = np.exp(value[0] - np.array([low, high]) * error[0])
    return (
        float(limits[0]) if math.isfinite(low) else math.nan,
        float(limits[1]) if math.isfinite(high) else math.nan,
    )


def _log_ratio(means: Floats, queries: int) -> tuple[Floats, Floats]:
    """Return log(mean x / mean y) and its standard error from means of x, y, x^2, xy and y^2."""
    x, y, xx, xy, yy = means.T
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(x / y)
        square = xx / (x * x) - 2 * xy / (x * y) + yy / (y * y)
    square[square <= 1e-24] = 0.0  # rounding of equal values
    return value, np.sqrt(square / queries)


def effect_ratio_limits(
    effect: Floats, original: Floats, *, paired: bool, level: float = 0.95
) -> tuple[float, float]:
    """Return Fieller's limits of mean(effect) / mean(original), of two lists of differences by query.

    They are the ratios r for which mean(effect) - r mean(original) is not significantly different from 0 by a
    t test: paired if both lists are of the same queries, otherwise Welch's, with the degrees of freedom at
    the observed ratio. This set is bounded only if the mean of `original` is significantly different from
    0; otherwise there are no limits (NaN).

    Source: Fieller (1954), Some problems in interval estimation, JRSS B 16(2).

    >>> original = np.array([0.1, 0.2, 0.15, 0.25, 0.3])
    >>> low, high = effect_ratio_limits(np.array([0.1, 0.1, 0.2, 0.2, 0.3]), original, paired=True)
    >>> round(low, 2), round(high, 2)
    (0.54, 1.33)
    >>> effect_ratio_limits(np.array([0.1, 0.2]), np.array([-0.1, 0.3]), paired=True)
    (nan, nan)
    """
    if min(len(effect), len(original)) < 2:
        return NOTHING
    above, below = float(effect.mean()), float(original.mean())
    if paired:
        (of_effect, both), (_, of_original) = (np.cov(effect, original) / len(original)).tolist()
        degrees = float(len(original) - 1)
    else:
        of_effect, of_original = _squared_error(effect), _squared_error(original)
        both = 0.0
        ratio = above / below if below else 0.0
        degrees = _degrees(of_effect, len(effect), ratio * ratio * of_original, len(original))
        degrees = min(degrees, len(original) - 1)  # bounded only where the t test of the original rejects
    t = t_quantile(degrees, (1 + level) / 2)
    a = below * below - t * t * of_original
    b = above * below - t * t * both
    c = above * above - t * t * of_effect
    if not a > 0:
        return NOTHING
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a


def improvement_difference_limits(
    samples: tuple[tuple[Floats, Floats], tuple[Floats, Floats]], *, paired: bool, level: float = 0.95
) -> tuple[float, float]:
    """Return limits of the difference of two relative improvements, (a - b) / b of means.

    By the delta method: the standard error is that of the mean of the linear terms (a - r b) / mean(b), with
    r = mean(a) / mean(b), whose differences are taken by query if paired. The quantile is Student's, with
    Welch's degrees of freedom if the samples are independent.

    >>> base, better = np.array([0.2, 0.4, 0.3]), np.array([0.3, 0.5, 0.4])
    >>> low, high = improvement_difference_limits(((base, better), (base, better)), paired=True)
    >>> low, high
    (0.0, 0.0)
    """
    if min(len(base) for base, _ in samples) < 2 or min(base.mean() for base, _ in samples) <= 0:
        return NOTHING
    ratios = [float(advanced.mean() / base.mean()) for base, advanced in samples]
    first, second = (
        (advanced - ratio * base) / base.mean()
        for ratio, (base, advanced) in zip(ratios, samples, strict=True)
    )
    value = ratios[0] - ratios[1]
    if paired:
        error, degrees = math.sqrt(_squared_error(first - second)), float(len(first) - 1)
    else:
        parts = _squared_error(first), _squared_error(second)
        error = math.sqrt(sum(parts))
        degrees = _degrees(parts[0], len(first), parts[1], len(second))
    half = t_quantile(degrees, (1 + level) / 2) * error
    return value - half, value + half


class IndependentMeans(NamedTuple):
    """Difference of two means of independent queries, with its confidence limits and p by Welch's t test."""

    difference: float
    low: float
    high: float
    p: float


def welch(first: Floats, second: Floats, *, level: float = 0.95) -> IndependentMeans:
    """Compare the means of two independent lists of values; variances may differ.

    Limits and p are NaN for fewer than two queries in a list; p is 1 for two lists of the same constant.

    Source: Welch (1947), Biometrika 34(1/2).

    >>> found = welch(np.array([0.2, 0.4, 0.6]), np.array([0.1, 0.2, 0.3, 0.2]))
    >>> round(found.difference, 3), round(found.p, 4)  # standard error 0.1225, 2.51 degrees of freedom
    (0.2, 0.2185)
    """
    from scipy.special import stdtr

    difference = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return IndependentMeans(difference, *NOTHING, math.nan)
    parts = _squared_error(first), _squared_error(second)
    error = math.sqrt(sum(parts))
    if not error:
        return IndependentMeans(difference, difference, difference, 0.0 if difference else 1.0)
    degrees = _degrees(parts[0], len(first), parts[1], len(second))
    half = t_quantile(degrees, (1 + level) / 2) * error
    p = 2 * float(stdtr(degrees, -abs(difference) / error))
    return IndependentMeans(difference, difference - half, difference + half, p)


def _squared_error(values: Floats) -> float:
    """Return the square of the standard error of the mean."""
    return float(moments(values[:, None]).error[0]) ** 2


def _degrees(first: float, size: int, second: float, other: int) -> float:
    """Return Welch's degrees of freedom of a sum of two squared errors."""
    below = first * first / (size - 1) + second * second / (other - 1)
    return (first + second) ** 2 / below if below else float(size + other - 2)
