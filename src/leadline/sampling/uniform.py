"""Draw documents of a collection for a query, each with the same probability, and the same ones next time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from leadline.arrays import Flags, Hashes, Integers
from leadline.sampling.hashed import keys_of


def document_keys(documents: Iterable[bytes], seed: int) -> Hashes:
    """Hash every document once; `drawn` makes of it what each query needs."""
    return keys_of(b"", documents, seed)


def drawn(query: bytes, keys: Hashes, count: int, *, among: Flags) -> Integers:
    """Give the places of `count` documents of those among which to draw, in the order of the draw.

    The order of all documents is a random one that the query and the keys decide. A draw takes the first of
    `among` in it, so more draws, or fewer documents among which to draw, keep what was drawn and still
    stands: the probability of each is count / number of them.

    >>> keys = document_keys([b"d1", b"d2", b"d3", b"d4"], 0)
    >>> few = drawn(b"q1", keys, 2, among=np.ones(4, dtype=bool)).tolist()
    >>> drawn(b"q1", keys, 3, among=np.ones(4, dtype=bool)).tolist()[:2] == few
    True
    """
    places = np.flatnonzero(among) if count else np.empty(0, dtype=np.int64)
    mixed = _mixed(keys[places] ^ keys_of(query, [b""], 0)[0])
    chosen = np.arange(len(places))
    if 0 < count < len(places):
        chosen = np.argpartition(mixed, count - 1)[:count]
    first = chosen[np.argsort(mixed[chosen], kind="stable")]
    return places[first[:count]]


def _mixed(keys: Hashes) -> Hashes:
    """Mix the bits of keys, so that any other query gives any other order (the end of splitmix64)."""
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
