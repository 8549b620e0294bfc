"""Samples by hash: the same documents for everybody who asks with the same seed, without drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np

from leadline.arrays import Flags, Hashes, Integers


def keys_of(query: bytes, documents: Iterable[bytes], seed: int) -> Hashes:
    """Give the first 64 bits of SHA-256 of seed, query and document with tabs between, by document.

    >>> keys_of(b"q1", [b"d1"], 0).tolist()
    [7932764680532128904]
    """
    start = b"%d\t%b\t" % (seed, query)
    found = b"".join([sha256(start + document).digest() for document in documents])
    return np.frombuffer(found, dtype=">u8")[::4].astype(np.uint64)


def places_of(keys: Hashes, query: Integers) -> Integers:
    """Give the place of each row's key among the keys of its query, from 0.

    >>> places_of(np.array([5, 1, 3, 2], dtype=np.uint64), np.array([0, 0, 0, 1])).tolist()
    [2, 0, 1, 0]
    """
    order = np.lexsort((keys, query))
    ordered = query[order]
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return places


def smallest(keys: Hashes, query: Integers, count: int) -> Flags:
    """Say which rows have one of the `count` smallest keys of their query.

    >>> smallest(np.array([5, 1, 3, 2], dtype=np.uint64), np.array([0, 0, 0, 1]), 2).tolist()
    [False, True, True, True]
    """
    chosen: Flags = places_of(keys, query) < count
    return chosen


def sampled_documents(
    query: bytes, documents: Sequence[bytes], count: int, seed: int
) -> list[bytes]:
    """Give the `count` documents of smallest key, in the order of their ids."""
    keys = keys_of(query, documents, seed)
    chosen = np.argsort(keys, kind="stable")[:count]
    return sorted(documents[place] for place in chosen.tolist())
