"""Randomised Tukey HSD: all pairs of many runs at once, paired by query."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.statistics import checked_seed
from leadline.statistics._draws import each_block
from leadline.statistics.moments import ROUNDING

CELLS = 500_000  # of values in a block of shuffles


class Ranges(NamedTuple):
    """How far the best and the worst mean lie apart when runs do not matter, rising, from shuffles."""

    drawn: Floats
    slack: float

    def p_values(self, differences: ArrayLike) -> Floats:
        """Give p of differences of means, corrected for all pairs: add-one, never 0."""
        needed = np.abs(np.asarray(differences, dtype=np.float64)) - self.slack
        more = len(self.drawn) - np.searchsorted(self.drawn, needed, side="left")
        return np.where(np.isnan(needed), np.nan, (more + 1) / (len(self.drawn) + 1))

    def reach(self, level: float) -> float:
        """Give how far a difference reaches to both sides, for all pairs at once.

        A larger difference has p of at most 1 - level. Infinite where the shuffles are too few for that.
        """
        draws = len(self.drawn)
        most = math.floor((1 - level) * (draws + 1) + ROUNDING * draws)
        return float(self.drawn[draws - most]) if most else math.inf


def tukey(values: Floats, *, draws: int = 20_000, seed: int = 0) -> Ranges:
    """Shuffle, within every query, which run a value belongs to, and take the range of the means.

    `values` is queries x runs, without NaN. A pair of runs differs significantly at level alpha when the
    difference of its means is larger than all but a share alpha of the ranges. (Carterette 2012, section 4;
    SciPy's `tukey_hsd` takes the queries of two runs for independent.)

    >>> values = np.array([[0.1, 0.5], [0.2, 0.4], [0.3, 0.9], [0.1, 0.2]])
    >>> abs(tukey(values).p_values(0.325) - 2 / 16) < 0.01  # as flipping signs: 2 of 16 patterns
    np.True_
    """
    checked_seed(seed)
    if draws < 1:
        raise UsageError(f"{draws} draws; expected 1 or more")
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise UsageError(
            f"values of shape {values.shape}; expected queries x runs, two or more runs"
        )
    if np.isnan(values).any():
        raise UsageError("undefined values; expected a value of every query for every run")
    queries, runs = values.shape

    def block(generator: np.random.Generator, size: int) -> Floats:
        shuffled = np.repeat(values[None], size, axis=0)
        generator.permuted(shuffled, axis=2, out=shuffled)
        return np.asarray(np.ptp(shuffled.sum(axis=1), axis=1) / queries)

    size = max(1, CELLS // (queries * runs))
    drawn = np.sort(np.concatenate(list(each_block(draws, seed, block, block=size))))
    return Ranges(drawn, ROUNDING * float(np.abs(values).max(initial=0.0)))
