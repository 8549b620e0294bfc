"""Resampling: signs and resamples of units in blocks, and percentile intervals of a statistic of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.errors import UsageError
from leadline.kernels import parallel_map

Value = TypeVar("Value")
BLOCK = 2048  # draws; signs or weights for a few hundred queries fit into the CPU cache
COLUMNS = 512  # pairs or runs per block


def each_block(
    draws: int, seed: int, function: Callable[[np.random.Generator, int], Value], *, block: int = BLOCK
) -> Iterator[Value]:
    """Yield the results of a function of the generator and size of every block of draws, in order."""
    sizes = [min(block, draws - start) for start in range(0, draws, block)]

    def run_block(index: int) -> Value:
        return function(np.random.default_rng([seed, index]), sizes[index])

    return parallel_map(run_block, range(len(sizes)))


def signs(generator: np.random.Generator, draws: int, queries: int) -> Floats:
    """Return random signs, +1 or -1, per query: draws x queries."""
    bits = np.frombuffer(generator.bytes(draws * (-(-queries // 8))), dtype=np.uint8)
    unpacked = np.unpackbits(bits.reshape(draws, -1), axis=1, count=queries)
    return np.asarray(unpacked * 2.0 - 1.0, dtype=np.float64)


def drawn_rows(generator: np.random.Generator, draws: int, size: int) -> Integers:
    """Return resamples with replacement of rows 0 to size - 1: draws x size.

    The same in one call as in one for each draw.
    """
    return generator.integers(0, size, size=(draws, size))


def weights(generator: np.random.Generator, draws: int, queries: int) -> Floats:
    """Return how often each query is drawn in resamples with replacement: draws x queries."""
    chosen = drawn_rows(generator, draws, queries)
    chosen += np.arange(draws)[:, None] * queries
    counts = np.bincount(chosen.ravel(), minlength=draws * queries)
    return counts.reshape(draws, queries).astype(np.float64)


def every_sign(queries: int) -> Floats:
    """Return all patterns of +1 and -1 in which the first is +1: 2^(queries - 1) x queries."""
    numbers = np.arange(2 ** max(queries - 1, 0), dtype=np.int64)
    bits = (numbers[:, None] >> np.arange(queries)) & 1
    return np.roll(1.0 - 2.0 * bits, 1, axis=1)


def supports(values: Floats) -> Iterator[tuple[Integers, Flags]]:
    """Return sets of columns with the same queries: column indices and query indices.

    Many columns are split into parts, so that draws x columns fit into memory.
    """
    defined = ~np.isnan(values)
    if defined.all():
        patterns = np.ones((len(values), 1), dtype=np.bool_)
        which = np.zeros(values.shape[1], dtype=np.int64)
    else:
        patterns, which = np.unique(defined, axis=1, return_inverse=True)
    for index in range(patterns.shape[1]):
        columns = np.flatnonzero(which.ravel() == index)
        for part in in_parts(columns):
            yield part, patterns[:, index]


def in_parts(columns: Integers) -> Iterator[Integers]:
    """Yield column indices in parts of a few hundred."""
    for start in range(0, len(columns), COLUMNS):
        yield columns[start : start + COLUMNS]


def resamples(units: Sequence[str], *, draws: int, seed: int = 0) -> Integers:
    """Return how often each element is drawn in resamples of units: draws x elements.

    Elements of one unit, such as the systems of a team, are not independent and are drawn together.

    >>> resamples(["a", "a", "b"], draws=1).tolist()
    [[0, 0, 2]]
    """
    _, member = np.unique(np.asarray(units, dtype=object).astype(str), return_inverse=True)
    size = int(member.max(initial=-1)) + 1
    return np.asarray(weights(np.random.default_rng(seed), draws, size).astype(np.int64)[:, member])


def interval(values: Sequence[float] | Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of the defined values; NaN if there are none."""
    if not 0 < level < 1:
        raise UsageError(f"level must be above 0 and below 1, not {level!r}")
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_interval(
    statistic: Callable[[Integers], float],
    units: Sequence[str],
    *,
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the percentile interval of a statistic of the number of times that each element was drawn."""
    return interval([statistic(times) for times in resamples(units, draws=draws, seed=seed)], level)
