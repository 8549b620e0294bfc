"""Values of queries for the tests of this package: smooth, skewed, in steps, and with holes."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Floats


def smooth(queries: int, columns: int = 1, *, seed: int = 0, mean: float = 0.05) -> Floats:
    """Return differences without ties."""
    return np.random.default_rng(seed).normal(mean, 0.2, (queries, columns))


def skewed(queries: int, columns: int = 1, *, seed: int = 0) -> Floats:
    """Return values with a long tail, all above 0."""
    return np.random.default_rng(seed).exponential(0.1, (queries, columns)) ** 1.5 + 0.01


def stepped(queries: int, columns: int = 1, *, seed: int = 0, steps: int = 5) -> Floats:
    """Return differences in tenths, with many ties and zeros."""
    drawn = np.random.default_rng(seed).integers(-steps, steps + 1, (queries, columns))
    return np.asarray(drawn / 10)


def holed(values: Floats, *, share: float = 0.3, seed: int = 0) -> Floats:
    """Make some values NaN."""
    holes = np.random.default_rng(seed).random(values.shape) < share
    return np.where(holes, np.nan, values)


def edges() -> dict[str, Floats]:
    """Return the columns at which formulas break, each by its name."""
    nan = float("nan")
    return {
        name: np.array([values], dtype=np.float64).reshape(-1, 1)
        for name, values in {
            "no query": [],
            "one query": [0.3],
            "all undefined": [nan, nan, nan],
            "one defined": [nan, 0.3, nan],
            "identical runs": [0.0] * 7,
            "constant": [0.1] * 7,
            "constant below": [-0.1] * 7,
        }.items()
    }
