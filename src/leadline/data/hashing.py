"""Samples, orders and shares drawn by hash: they depend on a seed and on names only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b, sha256

import numpy as np

from leadline.data.arrays import Flags, Hashes, Integers


def keys_of(query: bytes, documents: Iterable[bytes], seed: int) -> Hashes:
    """Return the first 64 bits of SHA-256 of seed, query and document with tabs between, by document.

    >>> keys_of(b"q1", [b"d1"], 0).tolist()
    [7932764680532128904]
    """
    start = b"%d\t%b\t" % (seed, query)
    found = b"".join([sha256(start + document).digest() for document in documents])
    return np.frombuffer(found, dtype=">u8")[::4].astype(np.uint64)


def places_of(keys: Hashes, query: Integers) -> Integers:
    """Return the place of each row's key among the keys of its query, from 0.

    >>> places_of(np.array([5, 1, 3, 2], dtype=np.uint64), np.array([0, 0, 0, 1])).tolist()
    [2, 0, 1, 0]
    """
    order = np.lexsort((keys, query))
    ordered = query[order]
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return places


def smallest(keys: Hashes, query: Integers, count: int) -> Flags:
    """Return which rows have one of the `count` smallest keys of their query.

    >>> smallest(np.array([5, 1, 3, 2], dtype=np.uint64), np.array([0, 0, 0, 1]), 2).tolist()
    [False, True, True, True]
    """
    chosen: Flags = places_of(keys, query) < count
    return chosen


def sampled_documents(query: bytes, documents: Sequence[bytes], count: int, seed: int) -> list[bytes]:
    """Return the `count` documents of smallest key, in the order of their ids."""
    keys = keys_of(query, documents, seed)
    chosen = np.argsort(keys, kind="stable")[:count]
    return sorted(documents[place] for place in chosen.tolist())


def document_keys(documents: Iterable[bytes], seed: int) -> Hashes:
    """Hash every document once; `drawn` makes of it what each query needs."""
    return keys_of(b"", documents, seed)


def drawn(query: bytes, keys: Hashes, count: int, *, among: Flags) -> Integers:
    """Return the places of `count` documents of those among which to draw, in the order of the draw.

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


def draw(seed: int, *names: str) -> float:
    """Return a number from 0 up to 1 that looks random and is the same each time.

    >>> draw(0, "ann", "q1") == draw(0, "ann", "q1"), draw(0, "ann", "q1") == draw(1, "ann", "q1")
    (True, False)
    """
    return draws(seed, *names[:-1])(names[-1])


def draws(seed: int, *names: str) -> Callable[[str], float]:
    """Return the draws that differ in the last name only; many of them are quicker so.

    >>> draws(0, "ann")("q1") == draw(0, "ann", "q1")
    True
    """
    # The length stands before each name, so that no two lists of names read alike.
    first = f"{seed} {len(names)}" + "".join(f" {len(name)} {name}" for name in names) + " "
    begun = blake2b(first.encode("utf-8", "surrogatepass"), digest_size=8)

    def last(name: str) -> float:
        hashed = begun.copy()
        hashed.update(name.encode("utf-8", "surrogatepass"))
        return (int.from_bytes(hashed.digest(), "big") >> 11) / (1 << 53)

    return last
