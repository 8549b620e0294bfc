"""Correlation coefficients of two columns, with optional frequency weights.

Rank coefficients treat values that differ by rounding only as ties: means of the same values summed in
another order do.
"""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.stats.moments import ROUNDING


def pearson(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return Pearson's r; NaN for fewer than two observations or a constant column.

    `frequencies` are frequency weights, as in a bootstrap.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    weight = np.ones(len(x)) if frequencies is None else frequencies.astype(np.float64)
    total = weight.sum()
    if total < 2:
        return float("nan")
    x = x - (weight * x).sum() / total
    y = y - (weight * y).sum() / total
    size = np.sqrt((weight * x * x).sum() * (weight * y * y).sum())
    if size <= 1e-300:
        return float("nan")
    return float(np.clip((weight * x * y).sum() / size, -1, 1))


def spearman(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return Spearman's rho: Pearson's r of the ranks, ties sharing their mean rank."""
    return pearson(average_ranks(x, frequencies), average_ranks(y, frequencies), frequencies)


def permutation_p(x: Floats, y: Floats) -> float:
    """Return the exact two-sided p of Spearman's rho.

    The proportion of permutations of one column with |rho| as large or larger, ties included. Feasible for up
    to about nine observations.

    >>> permutation_p(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 8.0]))  # 2 of 6 orders
    0.3333333333333333
    """
    first, second = average_ranks(x), average_ranks(y)
    first = first - first.mean()
    second = second - second.mean()
    sums = np.zeros(1)
    left = np.ones((1, len(second)), dtype=np.bool_)
    for value in first:  # extend each partial order by each remaining observation
        row, column = np.nonzero(left)
        sums = sums[row] + value * second[column]
        left = left[row]
        left[np.arange(len(row)), column] = False
    needed = abs(float((first * second).sum())) - ROUNDING * len(first) ** 3
    return float((np.abs(sums) >= needed).mean())


def kendall(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return Kendall's tau-b; NaN for a constant column. Takes O(n^2) time.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).__round__(4)
    0.3333
    """
    weight = np.ones(len(x)) if frequencies is None else frequencies.astype(np.float64)
    pairs = np.outer(weight, weight)
    signs = [np.sign(rising[:, None] - rising) for rising in (levels(x), levels(y))]
    size = np.sqrt((pairs * signs[0] ** 2).sum() * (pairs * signs[1] ** 2).sum())
    return float((pairs * signs[0] * signs[1]).sum() / size) if size > 0 else float("nan")


def tau_ap(estimate: Floats, truth: Floats, frequencies: Integers | None = None) -> float:
    """Return tau-AP of an estimated ranking: Kendall's tau with more weight on errors near its top.

    For every system but the first of the estimate: the proportion of the systems ranked above it that are
    truly better; tau-AP is twice the mean proportion minus 1, from -1 to 1, and not symmetric. Pairs tied in
    the truth are ignored; a pair tied in the estimate counts half as above and half as correct. NaN where no
    pair remains. Takes O(n^2) time.

    References
    ----------
    Yilmaz, Aslam and Robertson (2008), SIGIR. The treatment of ties is an extension.

    Examples
    --------
    >>> tau_ap(np.array([4.0, 3.0, 2.0, 1.0]), np.array([3.0, 4.0, 2.0, 1.0])).__round__(4)  # 0, 1, 1
    0.3333
    >>> tau_ap(np.array([4.0, 3.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0, 2.0])).__round__(4)  # 1, 1, 2/3
    0.7778
    """
    weight = np.ones(len(estimate)) if frequencies is None else frequencies.astype(np.float64)
    estimated, true = levels(estimate), levels(truth)
    differing = weight * (true[:, None] != true)
    above = np.where(estimated > estimated[:, None], 1.0, 0.5 * (estimated == estimated[:, None]))
    right = np.where(estimated == estimated[:, None], 0.5, 1.0 * (true > true[:, None]))
    number_above = (differing * above).sum(axis=1)
    counted = (number_above > 0) & (weight > 0)
    if not counted.any():
        return float("nan")
    concordance = (differing * above * right).sum(axis=1)[counted] / number_above[counted]
    return float(2 * (weight[counted] * concordance).sum() / weight[counted].sum() - 1)


def average_ranks(values: Floats, frequencies: Integers | None = None) -> Floats:
    """Return ranks from 1, ties sharing their mean; frequency n stands for n tied observations.

    >>> average_ranks(np.array([5.0, 1.0, 5.0]))
    array([2.5, 1. , 2.5])
    """
    weight = np.ones(len(values)) if frequencies is None else frequencies.astype(np.float64)
    group = levels(values)
    sizes = np.bincount(group, weight)
    ranks: Floats = (np.cumsum(sizes) - sizes + (sizes + 1) / 2)[group]
    return ranks


def levels(values: Floats) -> Integers:
    """Return the 0-based rank of the distinct value of each element; rounding differences are ties.

    >>> levels(np.array([0.3, 0.1, 0.1 + 0.2]))
    array([1, 0, 1])
    """
    order = np.argsort(values, kind="stable")
    rising = values[order]
    below, above = rising[:-1], rising[1:]
    with np.errstate(invalid="ignore"):  # inf - inf
        near = above - below <= ROUNDING * np.maximum(np.abs(below), np.abs(above))
    differs = np.where(np.isfinite(below) & np.isfinite(above), ~near, below != above)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(differs)])[: len(values)]
    return ranks
