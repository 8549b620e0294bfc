"""Correlation of two columns of numbers, where each observation may count several times."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats, Integers


def pearson(x: Floats, y: Floats, times: Integers | None = None) -> float:
    """Give Pearson's r; NaN for fewer than two observations or a constant column.

    `times` says how often each observation counts, as in a bootstrap.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    weight = np.ones(len(x)) if times is None else times.astype(np.float64)
    whole = weight.sum()
    if whole < 2:
        return float("nan")
    x = x - (weight * x).sum() / whole
    y = y - (weight * y).sum() / whole
    size = np.sqrt((weight * x * x).sum() * (weight * y * y).sum())
    if size <= 1e-300:
        return float("nan")
    return float(np.clip((weight * x * y).sum() / size, -1, 1))


def spearman(x: Floats, y: Floats, times: Integers | None = None) -> float:
    """Give Spearman's rho: Pearson's r of the ranks, equal values sharing the mean of their ranks."""
    return pearson(average_ranks(x, times), average_ranks(y, times), times)


def kendall(x: Floats, y: Floats, times: Integers | None = None) -> float:
    """Give Kendall's tau-b; NaN for a constant column. O(n^2), for as many systems as a campaign has.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).__round__(4)
    0.3333
    """
    weight = np.ones(len(x)) if times is None else times.astype(np.float64)
    pairs = np.outer(weight, weight)
    signs = [np.sign(values[:, None] - values) for values in (x, y)]
    size = np.sqrt((pairs * signs[0] ** 2).sum() * (pairs * signs[1] ** 2).sum())
    return float((pairs * signs[0] * signs[1]).sum() / size) if size > 0 else float("nan")


def tau_ap(x: Floats, y: Floats, times: Integers | None = None) -> float:
    """Give tau-AP of an order y against the true order x: Kendall's tau that minds errors at the top most.

    The mean, over all observations that have any above them in y, of the share of those above that are
    rightly so by x less the share that are wrongly so. Those tied in x count as neither; those tied in y
    are not above. Not symmetric; -1 to 1, NaN where nothing is above anything in y. O(n^2).

    Source: Yilmaz, Aslam and Robertson 2008, section 4, equation 3 (there without ties).

    >>> truth = np.array([4.0, 3.0, 2.0, 1.0])
    >>> swaps = np.array([3.0, 4.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0, 2.0])
    >>> [round(tau_ap(truth, swapped), 4) for swapped in swaps]  # the first two, the last two
    [0.3333, 0.7778]
    """
    weight = np.ones(len(x)) if times is None else times.astype(np.float64)
    above = (y[None, :] > y[:, None]) * weight
    size = above.sum(axis=1)
    used = (size > 0) & (weight > 0)
    if not used.any():
        return float("nan")
    right = (above * np.sign(x[None, :] - x[:, None])).sum(axis=1)
    return float((weight[used] * right[used] / size[used]).sum() / weight[used].sum())


def average_ranks(values: Floats, times: Integers | None = None) -> Floats:
    """Give ranks from 1, equal values the mean of theirs; an observation that counts n times is n equal ones.

    >>> average_ranks(np.array([5.0, 1.0, 5.0]))
    array([2.5, 1. , 2.5])
    """
    weight = np.ones(len(values)) if times is None else times.astype(np.float64)
    _, group = np.unique(values, return_inverse=True)
    sizes = np.bincount(group, weight)
    ranks: Floats = (np.cumsum(sizes) - sizes + (sizes + 1) / 2)[group]
    return ranks
