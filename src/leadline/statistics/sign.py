"""The sign test, which also decides where all differences are equal."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Flags, Floats, Integers
from leadline.naming import Spellings
from leadline.statistics import PairedTest
from leadline.statistics.clusters import Totals, means, totals
from leadline.statistics.effects import EQUAL


class Sign(PairedTest):
    """Sign test: binomial test of the numbers of queries above and below 0, exact.

    Ties are left out. Where all differences are 0, p is 1. With groups the sign is that of a group's sum.

    >>> Sign().p([0.1, 0.3, -0.1, 0.2, 0.2])  # 4 of 5: 2 (1 + 5) / 32
    0.375
    """

    title = "sign test"
    null = "a query favours one run as often as the other (median difference 0)"
    source = (
        "Arbuthnott 1710; Conover 1999, section 3.4; for retrieval van Rijsbergen 1979, chapter 7"
    )
    spellings: ClassVar[Spellings] = {"sign_test": {}, "binomial": {}}

    def smallest(self, queries: int, alternative: str = "two-sided") -> float:
        """Return the p of differences of one sign."""
        return one_sign(queries, alternative)

    def _p_of(self, given: Totals, *, two_sided: bool, seed: int) -> Floats:  # noqa: ARG002  # draws nothing
        return sign_p(given, two_sided=two_sided)


def sign_p(given: Totals, *, two_sided: bool) -> Floats:
    """Return p of the sign test of each column; one-sided p is of the alternative "greater"."""
    from scipy.special import bdtr

    above = (given.sums > EQUAL).sum(axis=0).astype(np.float64)
    below = (given.sums < -EQUAL).sum(axis=0).astype(np.float64)
    fewer = np.minimum(above, below) if two_sided else below
    p = bdtr(fewer, (above + below).astype(np.int64), 0.5) * (2 if two_sided else 1)
    p = np.where(above + below == 0, 1.0, np.minimum(p, 1.0))
    return np.where(np.isnan(given.sums).all(axis=0), np.nan, p)


def one_sign(queries: int, alternative: str = "two-sided") -> float:
    """Return p of the sign test where all of some queries have the same sign.

    >>> one_sign(5), one_sign(5, "greater"), one_sign(0)
    (0.0625, 0.03125, 1.0)
    """
    patterns = 2.0 ** min(queries, 1000)
    return min(1.0, (2 if alternative == "two-sided" else 1) / patterns)


def decided_by_sign(differences: Floats, groups: Integers | None = None) -> Flags:
    """Return, per column, whether all differences are equal and not 0, so that the sign test decides.

    Without spread T and Bootstrap have no statistic; the p of every test is then that of `Sign`. At least two
    queries are needed. With groups it is the residual sums of groups that must all be 0.

    >>> decided_by_sign(np.array([[0.1, 0.1, 0.0], [0.1, 0.2, 0.0]])).tolist()
    [True, False, False]
    """
    return without_spread(totals(differences, groups))


def without_spread(given: Totals) -> Flags:
    """Return, per column, whether the mean is not 0 and its standard error is."""
    found = means(given)
    known = ~np.isnan(given.sums)
    moved = np.where(known, np.abs(given.sums) > EQUAL, True).all(axis=0)
    return np.asarray((found.clusters >= 2) & (found.error == 0) & moved)
