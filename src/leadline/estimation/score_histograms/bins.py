"""Histograms over [0, 1], their overlap and the slope of their log ratio."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Floats, Integers


def edges(bins: int) -> Floats:
    """Return the bin edges k/bins; bin k contains k/bins <= x < (k+1)/bins, the last bin also 1.

    >>> edges(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    limits: Floats = np.arange(bins + 1) / bins
    return limits


def bin_of(values: Floats, bins: int) -> Integers:
    """Return the bin of each value in [0, 1]; values i/bins are assigned as in exact arithmetic.

    >>> bin_of(np.array([0.0, 0.3, 29 / 50, 1.0]), 50).tolist()
    [0, 15, 29, 49]
    """
    limits = edges(bins)
    index = np.minimum((values * bins).astype(np.int64), bins - 1)  # right, or next to it
    index -= values < limits[index]
    index += (values >= limits[index + 1]) & (index < bins - 1)
    return index


def overlap(relevant: Floats, nonrelevant: Floats) -> Floats:
    """Return DO: the sum of log min(h_r, h_nr) over the bins that are non-empty in both histograms.

    References
    ----------
    Krstovski, Smith and Kurtz (2015), equation 1.

    >>> float(overlap(np.array([1.0, 2.0, 4.0]), np.array([9.0, 3.0, 0.0])).round(4))
    0.6931
    """
    low = np.minimum(relevant, nonrelevant)
    values: Floats = np.log(low, out=np.zeros_like(low), where=low > 0).sum(axis=-1)
    return values


def slope(
    relevant: Floats, nonrelevant: Floats, *, half_counts: bool = False, weighted: bool = False
) -> Floats:
    """Return HSA: the least-squares slope of log(h_r / h_nr) over the centres of bins non-empty in both.

    References
    ----------
    Krstovski, Smith and Kurtz (2015), equation 2.

    >>> float(slope(np.array([1.0, 2.0, 4.0]), np.array([4.0, 2.0, 1.0])).round(4))  # 2 ln 4 over 2/3
    4.1589
    """
    added = 0.5 if half_counts else 0.0
    used = (relevant + nonrelevant > 0) if half_counts else (relevant > 0) & (nonrelevant > 0)
    first, second = np.where(used, relevant + added, 1.0), np.where(used, nonrelevant + added, 1.0)
    ratio = np.log(first) - np.log(second)
    weight = first * second / (first + second) if weighted else np.ones_like(ratio)
    weight = np.where(used, weight, 0.0)
    size = relevant.shape[-1]
    centre = (np.arange(size) + 0.5) / size
    total = np.maximum(weight.sum(axis=-1, keepdims=True), 1e-300)
    centred = centre - (weight * centre).sum(axis=-1, keepdims=True) / total
    covariance = (weight * centred * ratio).sum(axis=-1)
    variance = (weight * centred**2).sum(axis=-1)
    enough = used.sum(axis=-1) >= 2
    slopes: Floats = np.divide(covariance, variance, out=np.full(np.shape(covariance), np.nan), where=enough)
    return slopes


def coarser(histogram: Floats, bins: int) -> Floats:
    """Return a histogram with fewer bins; their number must divide the number of bins.

    >>> coarser(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [3.0, 7.0]
    """
    merged: Floats = histogram.reshape(*histogram.shape[:-1], bins, -1).sum(axis=-1)
    return merged
