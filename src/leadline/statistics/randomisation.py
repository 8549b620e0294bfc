"""The paired randomisation test: the signs of the differences are flipped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.naming import Spellings, whole
from leadline.statistics import Alternative, PairedTest
from leadline.statistics._draws import each_block, in_parts, signs
from leadline.statistics.clusters import Totals
from leadline.statistics.moments import ROUNDING
from leadline.statistics.sign import one_sign


class Randomisation(PairedTest):
    """Paired randomisation (sign-flip) test of the mean difference.

    p is the share of sign patterns whose absolute mean is at least the one seen. All patterns are gone
    through where they are no more than `draws`, which is exact; else `draws` of them are drawn and the one
    seen is added to them, so that p is never 0. Equal up to rounding counts as equal. With groups of queries
    the signs of whole groups are flipped.

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

    def smallest(self, queries: int, alternative: Alternative = "two-sided") -> float:
        """Return the p of differences of one sign: the pattern seen and, two-sided, its mirror image."""
        exact = one_sign(queries, alternative)
        return exact if 2.0 ** min(queries, 63) <= self.draws else 1 / (self.draws + 1)

    def _p_of(self, given: Totals, *, two_sided: bool, seed: int) -> Floats:
        known = ~np.isnan(given.sums)
        filled = np.where(known, given.sums, 0.0)
        sizes = (filled != 0).sum(axis=0)
        found = np.full(filled.shape[1], np.nan)
        exact = known.any(axis=0) & (2.0 ** np.minimum(sizes, 63) <= self.draws)
        for place in np.flatnonzero(exact).tolist():
            column = filled[:, place]
            found[place] = _exact(column[column != 0], two_sided=two_sided)
        for part in in_parts(np.flatnonzero(known.any(axis=0) & ~exact)):
            more = _at_least(filled[:, part], self.draws, seed, two_sided=two_sided)
            found[part] = (more + 1) / (self.draws + 1)
        return found


def _thresholds(differences: Floats, *, two_sided: bool) -> Floats:
    """Give the sum that a pattern must reach, less what rounding may take from it."""
    slack: Floats = ROUNDING * np.abs(differences).sum(axis=0)
    sums = differences.sum(axis=0)
    return np.asarray((np.abs(sums) if two_sided else sums) - slack)


def _exact(differences: Floats, *, two_sided: bool) -> float:
    """Return the share of all sign patterns; half of them are enough for |sum|, the others mirror them."""
    sums = np.array([differences[:1].sum()])
    for one in differences[1:]:
        sums = np.concatenate([sums + one, sums - one])
    needed = _thresholds(differences[:, None], two_sided=two_sided)[0]
    if two_sided:
        return float((np.abs(sums) >= needed).mean())
    return float(((sums >= needed).mean() + (-sums >= needed).mean()) / 2)


def _at_least(differences: Floats, draws: int, seed: int, *, two_sided: bool) -> Integers:
    """Count, per column, the drawn patterns whose (absolute) sum is at least the one seen."""
    needed = _thresholds(differences, two_sided=two_sided)

    def block(generator: np.random.Generator, size: int) -> Integers:
        sums = signs(generator, size, len(differences)) @ differences
        if two_sided:
            np.abs(sums, out=sums)
        return np.asarray((sums >= needed).sum(axis=0))

    return np.asarray(np.sum(list(each_block(draws, seed, block)), axis=0))
