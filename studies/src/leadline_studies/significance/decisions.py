"""p-values and confidence limits of simulated sets, and proportions with Monte Carlo errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Parametric
from leadline.stats import INTERVALS, TESTS, Interval, PairedTest

Row = dict[str, Any]
LEVEL = 0.05
CHUNK = 500  # sets that share their draws; a new seed for each, so that luck in drawing averages out


class Extent(NamedTuple):
    """Numbers of simulations; the error of a proportion decreases with the square root."""

    pairs: int = 80
    sets: int = 25
    ratio_sets: int = 8
    splits: int = 20
    draws: int = 1_999
    sizes: tuple[int, ...] = (25, 50, 100)
    families: tuple[tuple[int, int, int], ...] = ((10, 25, 50), (10, 50, 100), (20, 50, 50), (40, 50, 40))
    seed: int = 0


def classes(edges: Sequence[float]) -> Iterator[tuple[str, float, float]]:
    """Return the name, the beginning and the end of each class, of which the last is open.

    >>> list(classes((0.0, 0.5)))
    [('0 to 0.5', 0.0, 0.5), ('0.5 or more', 0.5, inf)]
    """
    for low, high in pairwise((*edges, np.inf)):
        yield f"{low:g} to {high:g}" if high < np.inf else f"{low:g} or more", low, high


def paired_tests(draws: int) -> dict[str, PairedTest]:
    """Return every registered test by name, randomized ones with the given number of draws."""
    return {name: kind(**_draws(kind, draws)) for name, kind in TESTS.classes.items()}


def intervals(draws: int) -> dict[str, Interval]:
    """Return every registered interval by name, randomized ones with the given number of draws."""
    return {name: kind(**_draws(kind, draws)) for name, kind in INTERVALS.classes.items()}


def _draws(kind: type[Parametric], draws: int) -> Mapping[str, int]:
    return {"draws": draws} if hasattr(kind(), "draws") else {}


def chunks(columns: int) -> Iterator[tuple[int, slice]]:
    """Return the seed and the position of each chunk of columns."""
    for seed, start in enumerate(range(0, columns, CHUNK)):
        yield seed, slice(start, start + CHUNK)


def p_values(test: PairedTest, differences: Floats) -> Floats:
    """Return p of each column; 1 where undefined."""
    p = [test.p_values(differences[:, part], seed=seed) for seed, part in chunks(differences.shape[1])]
    return np.nan_to_num(np.concatenate(p), nan=1.0)


def limits(interval: Interval, values: Floats) -> tuple[Floats, Floats]:
    """Return the 95 % confidence limits of the mean of each column."""
    parts = [interval.limits(values[:, part], seed=seed) for seed, part in chunks(values.shape[1])]
    low, high = np.concatenate(parts, axis=1)
    return low, high


def rate(flags: NDArray[np.generic], source: Integers, name: str = "rate", error: str = "se") -> Row:
    """Return the mean over sets and its Monte Carlo standard error, by name."""
    return dict(zip((name, error), share(flags, source), strict=True))


def share(flags: NDArray[np.generic], source: Integers) -> tuple[float, float]:
    """Return the mean over sets, and its Monte Carlo standard error.

    >>> share(np.array([1, 0, 1, 1]), np.array([0, 0, 1, 1]))
    (0.75, 0.25)
    """
    if len(flags) == 0:
        return float("nan"), float("nan")
    _, group, sets = np.unique(source, return_inverse=True, return_counts=True)
    mean = float(flags.astype(np.float64).mean())
    if len(sets) < 2:
        return mean, float("nan")
    deviations = np.bincount(group, weights=flags.astype(np.float64) - mean)
    n_groups = len(sets)
    return mean, float(np.sqrt((deviations**2).sum() * n_groups / (n_groups - 1)) / len(flags))
