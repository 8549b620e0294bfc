"""How large a difference is, apart from how sure it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.statistics.moments import moments

EQUAL = 1e-12  # values of a measure that differ by less are equal: sums of the same terms may round apart


class Outcomes(NamedTuple):
    """How many queries the first run wins, ties and loses, per column."""

    wins: Integers
    ties: Integers
    losses: Integers


def outcomes(differences: Floats) -> Outcomes:
    """Count the queries above, at and below 0 in each column; NaN counts nowhere.

    >>> [int(count[0]) for count in outcomes(np.array([[0.1], [0.0], [-0.2], [0.3]]))]
    [2, 1, 1]
    """
    known = ~np.isnan(differences)
    return Outcomes(
        (differences > EQUAL).sum(axis=0),
        (known & (np.abs(differences) <= EQUAL)).sum(axis=0),
        (differences < -EQUAL).sum(axis=0),
    )


def standardised(differences: Floats) -> Floats:
    """Give the mean difference in units of its standard deviation over queries, per column: d_z.

    0 where all differences are 0; undefined for fewer than two queries and where all are equal but not 0.
    (Cohen 1988, section 2.3.5.)

    >>> round(float(standardised(np.array([[0.1], [0.3], [-0.1], [0.2], [0.2]]))[0]), 4)
    0.9231
    """
    found = moments(differences)
    effect = np.full(len(found.mean), np.nan)
    np.divide(found.mean, found.deviation, out=effect, where=found.deviation > 0)
    effect[(found.deviation == 0) & (found.mean == 0)] = 0.0
    return effect


def standardised_limits(differences: Floats, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return confidence limits of the standardised mean difference d_z of each column.

    The noncentral t distributions whose tails beyond the observed t are (1 - `level`) / 2 give the limits of
    the noncentrality; divided by sqrt(n) they are those of d_z. Exact for normal differences. Undefined for
    fewer than two queries and where all differences are equal.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_queries, n_columns)
        NaN marks a query that a column does not have.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    low, high : ndarray of float64, shape (n_columns,)

    References
    ----------
    Steiger and Fouladi (1997), in Harlow et al., What If There Were No Significance Tests?

    Examples
    --------
    >>> low, high = standardised_limits(np.array([[0.1], [0.3], [-0.1], [0.2], [0.2]]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (-0.184, 1.96)

    """
    from scipy.special import nctdtrinc

    found = moments(differences)
    low, high = np.full((2, len(found.mean)), np.nan)
    spread = np.flatnonzero(found.deviation > 0)
    number = found.number[spread]
    t = found.mean[spread] / found.error[spread]
    low[spread] = nctdtrinc(number - 1, (1 + level) / 2, t) / np.sqrt(number)
    high[spread] = nctdtrinc(number - 1, (1 - level) / 2, t) / np.sqrt(number)
    return low, high


def hedges(differences: Floats) -> Floats:
    """Give `standardised` less its bias for few queries: d_z (1 - 3 / (4 (n - 1) - 1)).

    (Hedges 1981.)

    >>> round(float(hedges(np.array([[0.1], [0.3], [-0.1], [0.2], [0.2]]))[0]), 4)
    0.7385
    """
    count = moments(differences).number
    with np.errstate(divide="ignore"):
        return np.asarray(standardised(differences) * (1 - 3 / (4 * (count - 1) - 1)))


def superiority(differences: Floats) -> Floats:
    """Give the share of queries that the first run wins, ties counted half; undefined without queries.

    >>> float(superiority(np.array([[0.1], [0.0], [-0.2], [0.3]]))[0])
    0.625
    """
    wins, ties, losses = outcomes(differences)
    total = wins + ties + losses
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(total == 0, np.nan, (wins + ties / 2) / np.maximum(total, 1)))
