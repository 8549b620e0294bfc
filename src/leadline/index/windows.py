"""Count where two terms stand near each other: ordered and unordered windows."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Codes, Integers
from leadline.index.reading import Index, Postings

KEPT = 4096  # pairs whose windows are kept between queries


def windows(index: Index, first: int, second: int, *, ordered: bool, width: int) -> Postings:
    """Give the documents in which two terms share a window, and the number of such windows.

    Ordered: positions of the first term with the second one at most `width` words after it (1: next to it).
    Unordered: positions where a smallest window of at most `width` words begins; it begins with one of the
    terms and ends with the next occurrence of the other. This is what one finds by going through both lists
    of positions and advancing the smaller position. A term with itself makes windows of neighbours.
    """
    made: dict[tuple[int, int, bool, int], Postings] = index.made.setdefault("windows", {})
    key = (first, second, ordered, width)
    if key not in made:
        if len(made) >= KEPT:
            made.clear()
        made[key] = _windows(index, *key)
    return made[key]


def _windows(index: Index, first: int, second: int, ordered: bool, width: int) -> Postings:
    left, right = index.postings(first), index.postings(second)
    common = np.intersect1d(left.document, right.document, assume_unique=True)
    reach = width if ordered else width - 1  # the largest distance of the two positions
    stride = int(index.length.max() if index.documents else 0) + 1
    stride = max(stride, _last(index, first), _last(index, second)) + reach + 1
    a, b = (_keys(index, term, common, stride) for term in (first, second))
    begins = a[_followed(a, b, reach)]
    if not ordered and first != second:
        begins = np.concatenate((begins, b[_followed(b, a, reach)]))
    documents, counts = np.unique(begins // stride, return_counts=True)
    return Postings(documents.astype(np.int32), counts.astype(np.int32))


def _last(index: Index, term: int) -> int:
    positions = index.positions(term)
    return int(positions.max()) + 1 if len(positions) else 0


def _keys(index: Index, term: int, documents: Codes, stride: int) -> Integers:
    """Give document x stride + position for every occurrence in some documents, rising."""
    document, counts = index.postings(term)
    inside = np.zeros(len(document), dtype=np.bool_)
    inside[np.searchsorted(document, documents)] = True
    positions = index.positions(term)[np.repeat(inside, counts)]
    return np.repeat(document[inside].astype(np.int64) * stride, counts[inside]) + positions


def _followed(keys: Integers, others: Integers, reach: int) -> Integers:
    """Give the places of keys whose next other key is at most `reach` away."""
    following = np.searchsorted(others, keys, side="right")
    near = following < len(others)
    near[near] = others[following[near]] - keys[near] <= reach
    return np.flatnonzero(near)
