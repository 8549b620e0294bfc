"""The paired bootstrap test."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.naming import Spellings, whole
from leadline.statistics import PairedTest
from leadline.statistics._draws import by_support, each_block, weights
from leadline.statistics.moments import ROUNDING


class Bootstrap(PairedTest):
    """Paired bootstrap test: the t of resamples of the differences, after their mean is taken off.

    p is the share of resamples whose absolute t is at least the one seen, with the one seen added, so that it
    is never 0; a resample of equal differences has t 0 if their mean is 0 and else infinite. Undefined for
    fewer than two queries and where all differences are equal but not 0; 1 where all are 0.

    >>> round(Bootstrap(draws=20_000).p([0.1, 0.3, -0.1, 0.2, 0.2]), 1)
    0.2
    """

    title = "paired bootstrap test"
    null = "the mean difference is 0"
    source = "Efron and Tibshirani 1993, algorithm 16.2; for retrieval Sakai 2006"
    spellings: ClassVar[Spellings] = {"bootstrap_t": {}}

    draws: int = whole(10_000, low=1)

    def p_values(self, differences: Floats, *, seed: int = 0) -> Floats:
        """Give the two-sided p of each column."""
        found = np.full(differences.shape[1], np.nan)
        for columns, known in by_support(differences):
            if len(known) >= 2:
                found[columns] = self._together(known, seed)
        return found

    def smallest(self, queries: int) -> float:  # noqa: ARG002  # of the draws alone
        """Give the p when no resample reaches what was seen."""
        return 1 / (self.draws + 1)

    def _together(self, values: Floats, seed: int) -> Floats:
        size, mean = len(values), values.mean(axis=0)
        centred = values - mean
        squares = centred**2
        slack = ROUNDING * np.abs(values).max(axis=0, initial=0.0)

        def t_of(means: Floats, mean_squares: Floats) -> Floats:
            deviation = np.sqrt(np.maximum(mean_squares - means**2, 0.0) * size / (size - 1))
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.abs(means) / (deviation / np.sqrt(size))
            t[(deviation <= slack) & (np.abs(means) <= slack)] = 0.0
            return np.asarray(t)

        seen = t_of(mean, squares.mean(axis=0) + mean**2) * (1 - ROUNDING)

        def block(generator: np.random.Generator, draws: int) -> Integers:
            drawn = weights(generator, draws, size) / size
            return np.asarray((t_of(drawn @ centred, drawn @ squares) >= seen).sum(axis=0))

        more = np.sum(list(each_block(self.draws, seed, block)), axis=0)
        p = (more + 1) / (self.draws + 1)
        spread = np.ptp(values, axis=0) > slack
        return np.where(spread, p, np.where(np.abs(mean) <= slack, 1.0, np.nan))
