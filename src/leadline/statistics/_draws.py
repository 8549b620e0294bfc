"""Random draws in blocks: each block has a generator of its own, so threads change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from leadline.arrays import Flags, Floats, Integers
from leadline.threads import in_order

Made = TypeVar("Made")
BLOCK = 2048  # draws; a block of signs or weights for some hundred queries fits the cache
COLUMNS = 512  # of pairs or runs handled together


def each_block(
    draws: int, seed: int, do: Callable[[np.random.Generator, int], Made], *, block: int = BLOCK
) -> Iterator[Made]:
    """Do something with the generator and the size of every block; results come in order."""
    sizes = [min(block, draws - start) for start in range(0, draws, block)]

    def one(place: int) -> Made:
        return do(np.random.default_rng([seed, place]), sizes[place])

    return in_order(one, range(len(sizes)))


def signs(generator: np.random.Generator, draws: int, queries: int) -> Floats:
    """Draw +1 or -1 for every query: draws x queries."""
    bits = np.frombuffer(generator.bytes(draws * (-(-queries // 8))), dtype=np.uint8)
    unpacked = np.unpackbits(bits.reshape(draws, -1), axis=1, count=queries)
    return np.asarray(unpacked * 2.0 - 1.0, dtype=np.float64)


def weights(generator: np.random.Generator, draws: int, queries: int) -> Floats:
    """Draw how often each query comes when as many are drawn with replacement: draws x queries."""
    chosen = generator.integers(0, queries, size=(draws, queries))
    chosen += np.arange(draws)[:, None] * queries
    counts = np.bincount(chosen.ravel(), minlength=draws * queries)
    return counts.reshape(draws, queries).astype(np.float64)


def every_sign(queries: int) -> Floats:
    """Return all patterns of +1 and -1 in which the first is +1: 2^(queries - 1) x queries."""
    numbers = np.arange(2 ** max(queries - 1, 0), dtype=np.int64)
    bits = (numbers[:, None] >> np.arange(queries)) & 1
    return np.roll(1.0 - 2.0 * bits, 1, axis=1)


def by_support(values: Floats) -> Iterator[tuple[Integers, Floats]]:
    """Give the columns that have the same queries together: which they are, and their queries alone.

    Many columns come in several parts, so that draws x columns fit the memory.
    """
    for part, rows in supports(values):
        yield part, values[np.ix_(rows, part)]


def supports(values: Floats) -> Iterator[tuple[Integers, Flags]]:
    """Return the columns that have the same queries together: which they are, and which the queries are."""
    known = ~np.isnan(values)
    if known.all():
        patterns = np.ones((len(values), 1), dtype=np.bool_)
        which = np.zeros(values.shape[1], dtype=np.int64)
    else:
        patterns, which = np.unique(known, axis=1, return_inverse=True)
    for place in range(patterns.shape[1]):
        columns = np.flatnonzero(which.ravel() == place)
        for part in in_parts(columns):
            yield part, patterns[:, place]


def in_parts(columns: Integers) -> Iterator[Integers]:
    """Give the places of columns in parts of some hundred."""
    for start in range(0, len(columns), COLUMNS):
        yield columns[start : start + COLUMNS]
