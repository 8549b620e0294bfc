"""Moments of columns with missing queries, and of clusters of queries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.errors import UsageError

# A spread below this fraction of the largest value is due to rounding.
ROUNDING = 1e-12


class Moments(NamedTuple):
    """Number of values, mean and standard deviation of each column."""

    number: Floats
    mean: Floats
    deviation: Floats

    @property
    def error(self) -> Floats:
        """Return the standard error of the mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.deviation / np.sqrt(self.number)


def moments(values: Floats) -> Moments:
    """Return number, mean and standard deviation (n - 1) of each column of queries x columns.

    NaN is ignored; the mean of no values and the deviation of fewer than two are NaN. A deviation due to
    rounding of equal values is exactly 0.

    >>> found = moments(np.array([[1.0, 0.1], [2.0, 0.1], [3.0, float("nan")]]))
    >>> found.number.tolist(), found.mean.tolist(), found.deviation.tolist()
    ([3.0, 2.0], [2.0, 0.1], [1.0, 0.0])
    """
    defined = ~np.isnan(values)
    count = defined.sum(axis=0).astype(np.float64)
    filled = np.where(defined, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=0) / np.where(count == 0, np.nan, count)
        squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
        deviation = np.sqrt(squares / np.where(count < 2, np.nan, count - 1))
    largest = np.abs(filled).max(axis=0, initial=0.0)
    deviation[deviation <= ROUNDING * largest] = 0.0
    return Moments(count, mean, deviation)


class Totals(NamedTuple):
    """Sum and number of the values of every cluster: clusters x columns; NaN and 0 for none.

    Without clusters every query is a cluster, and `sums` are the values themselves.
    """

    sums: Floats
    sizes: Floats
    grouped: bool

    def mirrored(self) -> Totals:
        """Return the totals of the negative values."""
        return self._replace(sums=-self.sums)


class Means(NamedTuple):
    """Means over queries, by column.

    Attributes
    ----------
    clusters : ndarray of float64
        Number of groups of queries; of queries without groups.
    mean : ndarray of float64
        Mean over queries.
    error : ndarray of float64
        Standard error of the mean.
    """

    clusters: Floats
    mean: Floats
    error: Floats


def totals(values: Floats, groups: Integers | None = None) -> Totals:
    """Return the totals of the values of each cluster.

    Parameters
    ----------
    values : ndarray, shape (queries, columns)
        NaN where a column does not have a query.
    groups : ndarray of int, shape (queries,), optional
        Cluster of every query; by default each query is one.

    Returns
    -------
    Totals
        In the order of rising codes.

    Examples
    --------
    >>> found = totals(np.array([[0.25], [0.5], [0.5]]), np.array([7, 3, 7]))
    >>> found.sums.tolist(), found.sizes.tolist()
    ([[0.5], [0.75]], [[1.0], [2.0]])

    """
    defined = ~np.isnan(values)
    if groups is None:
        return Totals(values, defined.astype(np.float64), grouped=False)
    codes = np.asarray(groups)
    if codes.shape != (len(values),) or not np.issubdtype(codes.dtype, np.integer):
        raise UsageError(
            f"groups of shape {codes.shape} and type {codes.dtype}; expected one integer for each of "
            f"{len(values)} queries"
        )
    different, cluster = np.unique(codes, return_inverse=True)
    sums = np.zeros((len(different), values.shape[1]))
    sizes = np.zeros_like(sums)
    np.add.at(sums, cluster, np.where(defined, values, 0.0))
    np.add.at(sizes, cluster, defined.astype(np.float64))
    sums[sizes == 0] = np.nan
    return Totals(sums, sizes, grouped=True)


def means(observed: Totals) -> Means:
    """Return means with standard errors that are robust to dependence within clusters.

    With e the residual sum of a cluster (its sum minus its size times the mean), G clusters and n queries,
    the squared error is G / (G - 1) sum(e^2) / n^2. Where every query is a cluster this is s^2 / n. An error
    due to rounding is exactly 0; NaN for fewer than two clusters.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73(1).

    Examples
    --------
    >>> found = means(totals(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1])))
    >>> found.mean.tolist(), found.error.tolist()  # residual sums -3 and 3: sqrt(2 * 18) / 3
    ([3.0], [2.0])
    """
    if not observed.grouped:
        plain = moments(observed.sums)
        return Means(plain.number, plain.mean, plain.error)
    defined = ~np.isnan(observed.sums)
    clusters, queries = defined.sum(axis=0).astype(np.float64), observed.sizes.sum(axis=0)
    filled = np.where(defined, observed.sums, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=0) / np.where(queries == 0, np.nan, queries)
        squares = np.where(defined, (filled - observed.sizes * mean) ** 2, 0.0).sum(axis=0)
        spread = np.sqrt(squares / np.where(clusters < 2, np.nan, clusters - 1))
    spread[spread <= ROUNDING * np.abs(filled).max(axis=0, initial=0.0)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return Means(clusters, mean, spread * np.sqrt(clusters) / queries)
