"""Mean ranks of systems over queries, Friedman's test, and the critical difference of Nemenyi."""

from __future__ import annotations

import math

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError


def mean_ranks(values: Floats, *, rising: bool = True) -> Floats:
    """Return the mean rank of every system (column) over queries (rows); 1 is best, ties share ranks.

    Parameters
    ----------
    values : array of float, shape (n_queries, n_systems)
        Values without NaN.
    rising : bool, default True
        Whether larger values are better.

    Examples
    --------
    >>> mean_ranks(np.array([[0.5, 0.4, 0.4], [0.9, 0.1, 0.3]])).tolist()
    [1.0, 2.75, 2.25]

    """
    from scipy.stats import rankdata

    ranks: Floats = rankdata(-values if rising else values, axis=1)
    return np.asarray(ranks.mean(axis=0))


def friedman(values: Floats) -> float:
    """Return the p-value of Friedman's test that all systems have the same ranks.

    The statistic is corrected for ties and compared with chi-squared with n_systems - 1 degrees of
    freedom. NaN where every query gives all systems the same value.

    References
    ----------
    Friedman (1937), JASA 32(200).

    Examples
    --------
    >>> round(friedman(np.array([[1.0, 2.0, 3.0]] * 4)), 5)  # the statistic is 8, exp(-8 / 2)
    0.01832

    """
    from scipy.stats import chi2, rankdata

    number, systems = values.shape
    ranks = rankdata(values, axis=1)
    spread = ((ranks - (systems + 1) / 2) ** 2).sum()
    if spread == 0:
        return math.nan
    between = ((ranks.sum(axis=0) - number * (systems + 1) / 2) ** 2).sum()
    return float(chi2.sf((systems - 1) * between / spread, systems - 1))


def critical_difference(systems: int, number: int, *, confidence: float = 0.95) -> float:
    """Return the difference of mean ranks from which on two systems differ significantly.

    The test is Nemenyi's: CD = q sqrt(k (k + 1) / (6 n)) for k systems and n queries, where q is the
    quantile of the Studentized range of k means with infinite degrees of freedom, divided by sqrt(2). It
    controls the family-wise error of all pairs.

    References
    ----------
    Demšar (2006), JMLR 7, section 3.2.2; Nemenyi (1963).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar's example
    1.25

    """
    from scipy.stats import studentized_range

    if systems < 2 or number < 1:
        raise UsageError(f"{systems} systems and {number} queries; expected two and one or more")
    quantile = float(studentized_range.ppf(confidence, systems, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(systems * (systems + 1) / (6 * number))
