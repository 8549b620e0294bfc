"""Arrays that cannot be changed, and hash tables of ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.kernels import HUGE, reserved

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Small = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


def bytes_of(array: Bytes) -> memoryview:
    """Return a memoryview of an array of bytes."""
    return memoryview(array)  # type: ignore[arg-type]  # the stubs of NumPy do not declare Buffer


def zeros(size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros in memory that is about to be filled.

    >>> zeros(2, np.int8).tolist(), len(zeros(HUGE + 1, np.int8))
    ([0, 0], 2097153)
    """
    needed = size * np.dtype(dtype).itemsize
    return np.zeros(size, dtype) if needed < HUGE else np.frombuffer(reserved(needed), dtype, size)


def freeze(*arrays: npt.NDArray[np.generic]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.setflags(write=False)


def are_small(grades: Floats) -> bool:
    """Return whether all grades are whole numbers of one byte.

    >>> are_small(np.array([1.0, -2.0])), are_small(np.array([0.5])), are_small(np.array([200.0]))
    (True, False, False)
    """
    return bool((np.abs(grades) < 128).all() and (grades == np.trunc(grades)).all())


def group_sums(rows: Floats, group: Integers, groups: int) -> Floats:
    """Return the sums of rows by group; rows of a group are side by side.

    >>> group_sums(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 2]), 3).tolist()
    [[1.0], [0.0], [6.0]]
    """
    total = np.zeros((groups, *rows.shape[1:]))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    if len(starts):
        total[group[starts]] = np.add.reduceat(rows, starts, axis=0)
    return total


def counts_above(query: Codes | Integers, score: Floats, flags: Flags) -> Floats:
    """Return the number of flagged rows with a higher score in the query of each row; ties count a half.

    >>> query, score = np.array([0, 0, 0, 1]), np.array([5.0, 3.0, 3.0, 1.0])
    >>> counts_above(query, score, np.array([True, False, True, True])).tolist()
    [0.5, 1.5, 1.5, 0.5]
    """
    order = np.lexsort((-score, query))
    ordered, of_query = score[order], query[order]
    changed = (of_query[1:] != of_query[:-1]) | (ordered[1:] != ordered[:-1])
    group = np.cumsum(np.append(False, changed))[: len(order)]
    count = np.bincount(group, flags[order])
    before = (np.cumsum(count) - count)[group]
    above = np.empty(len(order))
    above[order] = before - before[np.searchsorted(of_query, of_query)] + count[group] / 2
    return above


def sampling_keys(query: bytes, documents: Iterable[bytes], seed: int) -> Hashes:
    """Return the first 64 bits of SHA-256 of seed, query and document, separated by tabs.

    >>> sampling_keys(b"q1", [b"d1"], 0).tolist()
    [7932764680532128904]
    """
    prefix = b"%d\t%b\t" % (seed, query)
    digests = b"".join([sha256(prefix + document).digest() for document in documents])
    return np.frombuffer(digests, dtype=">u8")[::4].astype(np.uint64)


def key_ranks(keys: Hashes, query: Integers) -> Integers:
    """Return the 0-based rank of each row's key among the keys of its query, in increasing order.

    >>> key_ranks(np.array([5, 1, 3, 2], dtype=np.uint64), np.array([0, 0, 0, 1])).tolist()
    [2, 0, 1, 0]
    """
    order = np.lexsort((keys, query))
    sorted_query = query[order]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[order] = np.arange(len(keys)) - np.searchsorted(sorted_query, sorted_query)
    return ranks


def smallest_keys(keys: Hashes, query: Integers, count: int) -> Flags:
    """Return flags of the rows with one of the `count` smallest keys of their query.

    >>> smallest_keys(np.array([5, 1, 3, 2], dtype=np.uint64), np.array([0, 0, 0, 1]), 2).tolist()
    [False, True, True, True]
    """
    chosen: Flags = key_ranks(keys, query) < count
    return chosen


def sampled_documents(query: bytes, documents: Sequence[bytes], count: int, seed: int) -> list[bytes]:
    """Return the `count` documents with the smallest keys, sorted by id."""
    keys = sampling_keys(query, documents, seed)
    chosen = np.argsort(keys, kind="stable")[:count]
    return sorted(documents[index] for index in chosen.tolist())


def document_keys(documents: Iterable[bytes], seed: int) -> Hashes:
    """Return keys of documents that do not depend on a query, for `draw_documents`."""
    return sampling_keys(b"", documents, seed)


def draw_documents(query: bytes, keys: Hashes, count: int, *, among: Integers) -> Integers:
    """Draw `count` documents with equal probability from those with these indices, in drawing order.

    Query and keys determine a random order of all documents, and the first of `among` in it are drawn. A
    larger `count` therefore keeps the documents of a smaller one, and a smaller set `among` keeps those
    drawn that are still in it; each is included with probability count / size of `among`.

    >>> keys = document_keys([b"d1", b"d2", b"d3", b"d4"], 0)
    >>> two = draw_documents(b"q1", keys, 2, among=np.arange(4)).tolist()
    >>> draw_documents(b"q1", keys, 3, among=np.arange(4)).tolist()[:2] == two
    True
    """
    candidates = among if count else among[:0]
    mixed = shuffled(keys[candidates], query)
    chosen = np.arange(len(candidates))
    if 0 < count < len(candidates):
        chosen = np.argpartition(mixed, count - 1)[:count]
    chosen = chosen[np.argsort(mixed[chosen], kind="stable")]
    return candidates[chosen[:count]]


def shuffled(keys: Hashes, name: bytes) -> Hashes:
    """Return other keys, whose order is another for every name.

    >>> keys = document_keys([b"d1", b"d2", b"d3"], 0)
    >>> [np.argsort(shuffled(keys, name)).tolist() for name in (b"ann", b"cid")]
    [[2, 1, 0], [1, 0, 2]]
    """
    return _mix_bits(keys ^ sampling_keys(name, [b""], 0)[0])


def _mix_bits(keys: Hashes) -> Hashes:
    """Return keys with mixed bits (the finalizer of splitmix64), so that queries have unrelated orders."""
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def hashed_uniform(seed: int, *names: str) -> float:
    """Return a pseudo-random number in [0, 1) determined by seed and names.

    >>> first = hashed_uniform(0, "ann", "q1")
    >>> first == hashed_uniform(0, "ann", "q1"), first == hashed_uniform(1, "ann", "q1")
    (True, False)
    """
    # Each name but the last is preceded by its length, so that no two lists of names give the same text.
    *before, last = names
    text = f"{seed} {len(before)}" + "".join(f" {len(name)} {name}" for name in before) + f" {last}"
    found = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(found, "big") >> 11) / (1 << 53)


def digest(*columns: Iterable[bytes] | npt.NDArray[Any] | None) -> str:
    """Return the SHA-256 of columns of ids and of numbers, their lengths included; None is a missing column.

    >>> digest([b"a", b"bc"])[:8], digest([b"ab", b"c"])[:8], digest([b"a"], None)[:8]
    ('f1a7dd2c', 'b1a54749', 'e2bf277b')
    """
    found = sha256()
    for column in columns:
        if column is None:
            found.update(b"-")
        elif isinstance(column, np.ndarray):
            found.update(b"%d " % column.size)
            found.update(np.ascontiguousarray(column).tobytes())
        else:
            ids = list(column)
            lengths = np.array([len(name) for name in ids], dtype=np.int64)
            found.update(b"%d " % len(ids))
            found.update(lengths.tobytes())
            found.update(b"".join(ids))
    return found.hexdigest()
