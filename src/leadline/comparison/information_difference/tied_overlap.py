"""Rank-biased overlap of two lists with tied documents, in the three variants of Corsi and Urbano (2024)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers


class TiedList(NamedTuple):
    """A ranked list with ties.

    Attributes
    ----------
    first, last : ndarray of int64, shape (n_documents,)
        First and last rank of the group of tied documents of every document, in the order of the list.
    """

    first: Integers
    last: Integers

    @classmethod
    def of(cls, entry: Codes | Integers) -> TiedList:
        """Create a list from the first rank of the group of each document.

        Examples
        --------
        >>> TiedList.of(np.array([1, 2, 2, 4])).last
        array([1, 3, 3, 4])
        """
        first = entry.astype(np.int64)
        starts = np.flatnonzero(np.diff(first, prepend=0))
        ends = np.append(starts, len(first))[1:]
        return cls(first, np.repeat(ends, ends - starts))

    @property
    def sizes(self) -> Integers:
        """Size of the group of every document."""
        return self.last - self.first + 1

    def squares(self) -> Floats:
        """Return the sum of the squared contributions of all documents at each depth."""
        depth = np.arange(1, len(self.first) + 1)
        within = depth - self.first + 1
        squares: Floats = self.first - 1 + within**2 / self.sizes
        return squares


class Overlaps(NamedTuple):
    """Rank-biased overlap of two lists: extrapolated, and its bounds over all continuations."""

    ext: float
    low: float
    high: float


def _seen(pairs: tuple[Integers, ...], depth: int, *, whole: bool) -> Floats:
    """Return the overlap of two lists at each depth up to `depth`.

    Parameters
    ----------
    pairs : tuple of ndarray
        First and last ranks in one list, then in the other, of every common document.
    depth : int
        Length of the longer list.
    whole : bool
        Whether a document counts fully from the first rank of its group on (variant w).
    """
    first, last, other_first, other_last = pairs
    enters = np.maximum(first, other_first)
    complete = enters if whole else np.maximum(last, other_last)
    overlap = np.cumsum(np.bincount(complete, minlength=depth + 1)[1 : depth + 1]).astype(np.float64)
    tied = enters < complete
    if not tied.any():
        return overlap
    keys, counts = np.unique(np.stack([column[tied] for column in pairs]), axis=1, return_counts=True)
    enters = np.maximum(keys[0], keys[2])
    spans = np.maximum(keys[1], keys[3]) - enters
    group = np.repeat(np.arange(len(spans)), spans)
    at = np.arange(len(group)) - np.repeat(np.cumsum(spans) - spans, spans) + enters[group]
    parts = [
        np.minimum((at - keys[low][group] + 1) / (keys[high] - keys[low] + 1)[group], 1.0)
        for low, high in ((0, 1), (2, 3))
    ]
    overlap += np.bincount(at, counts[group] * parts[0] * parts[1], minlength=depth + 1)[1 : depth + 1]
    return overlap


def tied_overlap(
    shorter: TiedList,
    longer: TiedList,
    common: tuple[Integers, Integers],
    *,
    p: float,
    ties: str,
    bounded: bool = True,
) -> Overlaps:
    """Return the rank-biased overlap of two lists with ties.

    At depth d a document of a group with ranks t to b contributes c_d to its list: 0 before rank t, 1 from
    rank b on, and in between (d - t + 1) / (b - t + 1), the probability that it is among the first d when the
    ties are broken at random; in variant w it contributes 1 from rank t on. With X_d the sum of the products
    of the contributions of a document to both lists, agreement is 2 X_d / (sum of all contributions) in w,
    X_d / d in a, and X_d divided by the root of both sums of squared contributions in b.

    Parameters
    ----------
    shorter, longer : TiedList
        The lists, the shorter one not empty.
    common : tuple of ndarray
        Places of the common documents in the shorter and in the longer list.
    p : float
        Persistence, at most 1; with 1 all depths of the longer list have the same weight, and bounds are NaN.
    ties : {"w", "a", "b"}
        Variant.
    bounded : bool, default True
        Whether bounds are computed; NaN otherwise.

    Returns
    -------
    Overlaps

    References
    ----------
    Corsi and Urbano (2024), The treatment of ties in rank-biased overlap, SIGIR.

    Examples
    --------
    >>> tied, plain = TiedList.of(np.array([1, 1])), TiedList.of(np.array([1, 2]))
    >>> both = np.array([0, 1]), np.array([0, 1])
    >>> [round(tied_overlap(tied, plain, both, p=0.5, ties=name).ext, 4) for name in "wab"]
    [0.8333, 0.75, 0.8536]
    """
    s, length = len(shorter.first), len(longer.first)
    depth = np.arange(1, length + 1)
    pairs = (
        shorter.first[common[0]],
        shorter.last[common[0]],
        longer.first[common[1]],
        longer.last[common[1]],
    )
    seen = _seen(pairs, length, whole=ties == "w")
    whole = _sizes(shorter, longer, ties)
    at_end = seen[s - 1] / whole[s - 1]
    absent: Flags = np.ones(length, dtype=np.bool_)
    absent[common[1]] = False
    extrapolated, most = _unseen(longer, absent, s, whole=ties == "w")
    agreement = (seen + np.concatenate([np.zeros(s), at_end * extrapolated])) / whole
    final = (seen[-1] + (length - s) * at_end) / length
    if p == 1:
        return Overlaps(float(agreement.mean()), math.nan, math.nan)
    weight = (1 - p) * p ** (depth - 1.0)
    ext = float((weight * agreement).sum() + final * p**length)
    if not bounded:
        return Overlaps(ext, math.nan, math.nan)
    # An overlap of X at all further depths adds X (1 - p) / p times the rest of the series of -log(1 - p).
    rest = -math.log1p(-p) - float((p**depth / depth).sum())
    low = float((weight * seen / whole).sum()) + seen[-1] * rest * (1 - p) / p
    best = (seen + np.concatenate([np.zeros(s), most])) / whole
    complete = length + s - round(seen[-1])  # depth at which agreement can be complete
    after = np.arange(length + 1, complete + 1)
    tail = (2 * after - length - s + seen[-1]) / after
    high = float((weight * best).sum()) + float(((1 - p) * p ** (after - 1.0) * tail).sum()) + p**complete
    return Overlaps(ext, float(low), float(high))


def _sizes(shorter: TiedList, longer: TiedList, ties: str) -> Floats:
    """Return what the overlap is divided by at each depth; beyond its end the shorter list has no ties."""
    s, length = len(shorter.first), len(longer.first)
    beyond = np.arange(s + 1.0, length + 1.0)
    if ties == "a":
        return np.arange(1.0, length + 1.0)
    if ties == "w":
        return (np.concatenate([shorter.last, beyond]) + longer.last) / 2
    sizes: Floats = np.sqrt(np.concatenate([shorter.squares(), beyond])) * np.sqrt(longer.squares())
    return sizes


def _unseen(longer: TiedList, absent: Flags, s: int, *, whole: bool) -> tuple[Floats, Floats]:
    """Return what unseen documents of the shorter list add to the overlap beyond its end.

    The first array is d - s times the mean contribution to the longer list of its documents that the shorter
    one lacks, at depth d; the second the largest possible sum of d - s such contributions, in rank order.
    """
    depth = np.arange(s + 1, len(longer.first) + 1)
    first, last = longer.first[s:], longer.last[s:]  # of the group at each depth
    before = np.concatenate([[0], np.cumsum(absent)])
    above = before[first - 1].astype(np.float64)
    group = before[last] - above
    part = np.ones(len(depth)) if whole else (depth - first + 1) / (last - first + 1)
    extra = depth - s
    mean = (above + group * part) / (above + group)
    full = np.minimum(extra, above)
    return extra * mean, full + (np.minimum(extra, above + group) - full) * part
