"""The paired randomisation test: the signs of the differences are flipped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.naming import Spellings, whole
from leadline.statistics import PairedTest
from leadline.statistics._draws import each_block, in_parts, signs
from leadline.statistics.moments import ROUNDING


class Randomisation(PairedTest):
    """Paired randomisation (sign-flip) test of the mean difference.

    p is the share of sign patterns whose absolute mean is at least the one seen. All patterns are gone
    through where they are no more than `draws`, which is exact; else `draws` of them are drawn and the one
    seen is added to them, so that p is never 0. Equal up to rounding counts as equal.

    >>> Randomisation().p([0.1, 0.3, -0.1, 0.2, 0.2])  # 6 of 32 patterns
    0.1875
    """

    title = "paired randomisation test"
    null = "each query's two values could as well be exchanged"
    source = "Fisher 1935; Smucker, Allan and Carterette 2007; add-one Phipson and Smyth 2010"
    spellings: ClassVar[Spellings] = {
        "sign_flip": {},
        "permutation": {},
        "randomization": {},
        "fisher": {},
    }

    draws: int = whole(100_000, low=1)

    def p_values(self, differences: Floats, *, seed: int = 0) -> Floats:
        """Give the two-sided p of each column; NaN for a column without queries."""
        known = ~np.isnan(differences)
        filled = np.where(known, differences, 0.0)
        sizes = (filled != 0).sum(axis=0)
        found = np.full(differences.shape[1], np.nan)
        exact = known.any(axis=0) & (2.0 ** np.minimum(sizes, 63) <= self.draws)
        for place in np.flatnonzero(exact).tolist():
            column = filled[:, place]
            found[place] = _exact(column[column != 0])
        for part in in_parts(np.flatnonzero(known.any(axis=0) & ~exact)):
            more = _at_least(filled[:, part], self.draws, seed)
            found[part] = (more + 1) / (self.draws + 1)
        return found

    def smallest(self, queries: int) -> float:
        """Give the p of differences of one sign: the pattern seen and its mirror image."""
        patterns = 2.0 ** min(queries, 63)
        return 2 / patterns if patterns <= self.draws else 1 / (self.draws + 1)


def _thresholds(differences: Floats) -> Floats:
    """Give the sum that a pattern must reach, less what rounding may take from it."""
    slack: Floats = ROUNDING * np.abs(differences).sum(axis=0)
    return np.asarray(np.abs(differences.sum(axis=0)) - slack)


def _exact(differences: Floats) -> float:
    """Give the share of all sign patterns; half of them are enough, the others mirror them."""
    sums = np.array([differences[:1].sum()])
    for one in differences[1:]:
        sums = np.concatenate([sums + one, sums - one])
    return float((np.abs(sums) >= _thresholds(differences[:, None])[0]).mean())


def _at_least(differences: Floats, draws: int, seed: int) -> Integers:
    """Count, per column, the drawn patterns whose absolute sum is at least the one seen."""
    needed = _thresholds(differences)

    def block(generator: np.random.Generator, size: int) -> Integers:
        sums = signs(generator, size, len(differences)) @ differences
        return np.asarray((np.abs(sums, out=sums) >= needed).sum(axis=0))

    return np.asarray(np.sum(list(each_block(draws, seed, block)), axis=0))
