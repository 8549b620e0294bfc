"""Histograms over [0, 1] and what is read off them: the overlap and the slope."""

from __future__ import annotations

import math

import numpy as np

from leadline.data.arrays import Floats, Integers


def edges(bins: int) -> Floats:
    """Give the edges k/bins as the nearest doubles: bin k holds k/bins <= x < (k+1)/bins, the last 1 too.

    >>> edges(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    found: Floats = np.arange(bins + 1) / bins
    return found


def bin_of(values: Floats, bins: int) -> Integers:
    """Give the bin of each value in [0, 1]; a rank i/bins falls where exact arithmetic puts it.

    >>> bin_of(np.array([0.0, 0.3, 29 / 50, 1.0]), 50).tolist()
    [0, 15, 29, 49]
    """
    limits = edges(bins)
    place = np.minimum((values * bins).astype(np.int64), bins - 1)  # right, or next to it
    place -= values < limits[place]
    place += (values >= limits[place + 1]) & (place < bins - 1)
    return place


def overlap(relevant: Floats, nonrelevant: Floats, *, base: float = math.e) -> Floats:
    """Give DO: the sum over bins that both histograms reach of log min(h_r, h_nr); 0 where there is none.

    Histograms are ... x bins. It grows with the number of documents. Krstovski et al. 2015, equation 1.

    >>> float(overlap(np.array([1.0, 2.0, 4.0]), np.array([9.0, 3.0, 0.0])).round(4))
    0.6931
    """
    low = np.minimum(relevant, nonrelevant)
    found: Floats = np.log(low, out=np.zeros_like(low), where=low > 0).sum(axis=-1) / math.log(base)
    return found


def slope(
    relevant: Floats,
    nonrelevant: Floats,
    *,
    half_counts: bool = False,
    weighted: bool = False,
    base: float = math.e,
) -> Floats:
    """Give HSA: the least-squares slope of log(h_r / h_nr) on the centres of the bins that both reach.

    Histograms are ... x bins. NaN for fewer than two such bins. `half_counts` adds 1/2 to both counts and
    takes every bin that either reaches; `weighted` weighs bins by h_r h_nr / (h_r + h_nr), the inverse
    variance of the log ratio. Krstovski et al. 2015, equation 2.

    >>> float(slope(np.array([1.0, 2.0, 4.0]), np.array([4.0, 2.0, 1.0])).round(4))  # 2 ln 4 over 2/3
    4.1589
    """
    more = 0.5 if half_counts else 0.0
    used = (relevant + nonrelevant > 0) if half_counts else (relevant > 0) & (nonrelevant > 0)
    first, second = np.where(used, relevant + more, 1.0), np.where(used, nonrelevant + more, 1.0)
    ratio = np.log(first) - np.log(second)
    weight = first * second / (first + second) if weighted else np.ones_like(ratio)
    weight = np.where(used, weight, 0.0)
    size = relevant.shape[-1]
    centre = (np.arange(size) + 0.5) / size
    whole = np.maximum(weight.sum(axis=-1, keepdims=True), 1e-300)
    away = centre - (weight * centre).sum(axis=-1, keepdims=True) / whole
    above = (weight * away * ratio).sum(axis=-1)
    below = (weight * away**2).sum(axis=-1)
    enough = used.sum(axis=-1) >= 2
    found: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=enough) / math.log(
        base
    )
    return found


def coarser(histogram: Floats, bins: int) -> Floats:
    """Give a histogram of fewer bins, whose number divides that of the finer one, exactly.

    >>> coarser(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [3.0, 7.0]
    """
    found: Floats = histogram.reshape(*histogram.shape[:-1], bins, -1).sum(axis=-1)
    return found
