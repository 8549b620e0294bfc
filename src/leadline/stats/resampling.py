"""Random draws in blocks, bootstrap over teams, and population means given a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.threads import in_order
from leadline.errors import UsageError

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


def draws_of_teams(teams: Sequence[str], *, samples: int, seed: int = 0) -> Iterator[Integers]:
    """Give, draw by draw, how often each system is in: its team's number of draws with replacement.

    Systems of one team are not independent, so that single-system intervals are too narrow.

    >>> next(draws_of_teams(["a", "a", "b"], samples=1)).tolist()
    [0, 0, 2]
    """
    _, member = np.unique(np.asarray(teams, dtype=object).astype(str), return_inverse=True)
    size = int(member.max(initial=-1)) + 1
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        drawn = np.bincount(rng.integers(0, size, size), minlength=size)
        yield drawn[member]


def interval(values: Sequence[float] | Floats, level: float = 0.95) -> tuple[float, float]:
    """Give the percentile interval of the defined values; NaN without any."""
    if not 0 < level < 1:
        raise UsageError(f"level={level}; expected between 0 and 1")
    found = np.asarray(values, dtype=np.float64)
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan"), float("nan")
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def team_interval(
    statistic: Callable[[Integers], float],
    teams: Sequence[str],
    *,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Give the interval of a statistic of the number of times that each system was drawn."""
    drawn = draws_of_teams(teams, samples=samples, seed=seed)
    return interval([statistic(times) for times in drawn], level)


def resampled_pairs(
    x: Floats, y: Floats, draws: int, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return draws of the means of runs by two measures, noisier and as noisy as those of the population.

    The first two are means of resamples of the queries. Their spread over runs holds the error of the sample
    twice, of the queries seen and of those drawn again, so that their correlations are too low on average.

    The other two are simulated from the distribution of the population's means given those of the sample,
    in an empirical Bayes model: the two true means of a run, centred over runs, have covariance T, the means
    seen are these plus an error of covariance E. E is estimated from the residuals of queries, T is what the
    means seen have less E, its negative eigenvalues set to 0. With K = T (T + E)^-1, m the means seen, a mu
    drawn from the model and e an error resampled from the queries, all runs and both measures together, a
    draw is K (m - mu - e) + mu (Matheron's rule). Their correlations tend to be too high.

    Parameters
    ----------
    x, y : ndarray, shape (queries, runs)
        Values of the same queries and runs by each measure; where a measure has only means, they stand in
        every row and have no error.
    draws : int
        Number of draws.
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of four ndarrays, shape (draws, runs)
        Resampled means by x and y, simulated means by x and y (centred over runs).

    References
    ----------
    Efron and Tibshirani (1993), chapter 13; for the model Morris (1983), JASA 78(381).

    """
    queries, runs = x.shape
    both = np.stack([x, y])
    centred = both - both.mean(axis=2, keepdims=True)
    seen = centred.mean(axis=1)
    residuals = centred - seen[:, None]
    error = np.einsum("aqr,bqr->ab", residuals, residuals) / (queries * (queries - 1) * (runs - 1))
    total = seen @ seen.T / (runs - 1)
    values, vectors = np.linalg.eigh(total - error)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    true = root @ root.T
    shrink = true @ np.linalg.pinv(true + error, hermitian=True)
    times = weights(generator, draws, queries) / queries
    errors = (times @ residuals) * np.sqrt(queries / (queries - 1))
    model = np.einsum("ab,bdr->adr", root, generator.normal(size=errors.shape))
    model -= model.mean(axis=2, keepdims=True)
    simulated = np.einsum("ab,bdr->adr", shrink, seen[:, None] - model - errors) + model
    return times @ x, times @ y, simulated[0], simulated[1]
