"""Moments of columns with missing queries, of clusters of queries, and resamples of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.kernels import parallel_map

# A spread below this fraction of the largest value is due to rounding.
EQUAL = 1e-12  # tolerance for rounding of sums of the same terms
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


def mean_of_defined(values: Floats) -> Floats:
    """Return the mean of the defined values of each row; NaN if there are none.

    >>> mean_of_defined(np.array([[1.0, 3.0], [2.0, np.nan]]))
    array([2., 2.])
    """
    defined = ~np.isnan(values)
    size = defined.sum(axis=1)
    total = np.where(defined, values, 0.0).sum(axis=1)
    means: Floats = np.divide(total, size, out=np.full(len(values), np.nan), where=size > 0)
    return means


class Weighted(NamedTuple):
    """Group of every query, and its weight in the means; each query may be a group."""

    codes: Integers
    weights: Floats

    @property
    def alone(self) -> bool:
        """Return whether each query is a group."""
        return len(np.unique(self.codes)) == len(self.codes)


Groups: TypeAlias = Integers | Weighted


class Totals(NamedTuple):
    """Sum and number of the values of every cluster: clusters x columns; NaN and 0 for none.

    Without clusters every query is a cluster, and `sums` are the values themselves. With weights, `sums` are
    of weighted values, and `sizes` are sums of weights.
    """

    sums: Floats
    sizes: Floats
    grouped: bool


class Means(NamedTuple):
    """Number of groups (or queries), mean, standard error and effective number of groups, by column.

    The effective number is (sum n)^2 / sum n^2 for groups of n queries or of weight n: the number of groups
    if all are of one size, less otherwise.
    """

    clusters: Floats
    mean: Floats
    error: Floats
    effective: Floats

    @property
    def degrees(self) -> Floats:
        """Return the degrees of freedom of the standard error, one less than effective groups."""
        return np.asarray(self.effective - 1)

    @property
    def deviation(self) -> Floats:
        """Return the standard deviation that matches the standard error: of effective groups."""
        return np.asarray(self.error * np.sqrt(self.effective))


def totals(values: Floats, groups: Groups | None = None) -> Totals:
    """Return the totals of the values of each cluster.

    >>> found = totals(np.array([[0.25], [0.5], [0.5]]), np.array([7, 3, 7]))
    >>> found.sums.tolist(), found.sizes.tolist()
    ([[0.5], [0.75]], [[1.0], [2.0]])

    A weight counts as that many queries with the same value:

    >>> found = totals(np.array([[0.25], [0.5]]), Weighted(np.array([0, 1]), np.array([1.0, 3.0])))
    >>> found.sums.tolist(), found.sizes.tolist()
    ([[0.25], [1.5]], [[1.0], [3.0]])
    """
    defined = ~np.isnan(values)
    if groups is None:
        return Totals(values, defined.astype(np.float64), grouped=False)
    given, weights = groups if isinstance(groups, Weighted) else (groups, np.ones(len(values)))
    different, cluster = np.unique(given, return_inverse=True)
    sums = np.zeros((len(different), values.shape[1]))
    sizes = np.zeros_like(sums)
    np.add.at(sums, cluster, np.where(defined, values, 0.0) * weights[:, None])
    np.add.at(sizes, cluster, defined * weights[:, None])
    sums[sizes == 0] = np.nan
    return Totals(sums, sizes, grouped=True)


FEWEST_GROUPS = 5  # effective groups below which nothing is tested


def effective_groups(observed: Totals) -> Floats:
    """Return the effective number of groups of each column, (sum n)^2 / sum n^2; of queries without groups.

    >>> effective_groups(totals(np.ones((4, 1)), np.array([0, 0, 0, 1]))).tolist()  # 16 / (9 + 1)
    [1.6]
    """
    queries, squares = observed.sizes.sum(axis=0), (observed.sizes**2).sum(axis=0)
    return np.asarray(np.divide(queries**2, squares, out=np.zeros_like(queries), where=squares > 0))


def too_few_groups(observed: Totals) -> Flags:
    """Return, per column, whether its queries are in fewer than five effective groups."""
    return np.asarray(observed.grouped & (effective_groups(observed) < FEWEST_GROUPS))


def means(observed: Totals) -> Means:
    """Return means over queries with standard errors that are robust to dependence within groups.

    The error is that of the jackknife over groups (CR3). With e the residual sum of a group (its sum minus
    its size times the mean), G groups and N queries in all, the mean without a group of n queries differs by
    e / (N - n) from the mean, and the squared error is (G - 1) / G sum(e^2 / (N - n)^2). Where all groups are
    of one size this is the squared error of the mean of their means; without groups it is s^2 / n. An error
    due to rounding is exactly 0; NaN for fewer than two queries, or five effective groups.

    Source: Bell and McCaffrey (2002), Survey Methodology 28(2); MacKinnon, Nielsen and Webb (2023), J.
    Econometrics 232(2).

    >>> values, groups = [1.0, -1.0, 1.0, -1.0, 2.0, -1.0, -1.0], np.array([0, 1, 2, 3, 4, 5, 5])
    >>> found = means(totals(np.array(values)[:, None], groups))
    >>> found.effective.round(3).tolist(), found.error.round(4).tolist()  # 49/9; 5/6 (8/36 + 4/25)
    ([5.444], [0.5644])
    """
    effective = effective_groups(observed)
    if not observed.grouped:
        plain = moments(observed.sums)
        return Means(plain.number, plain.mean, plain.error, effective)
    defined = ~np.isnan(observed.sums)
    clusters, queries = defined.sum(axis=0).astype(np.float64), observed.sizes.sum(axis=0)
    filled = np.where(defined, observed.sums, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=0) / np.where(queries == 0, np.nan, queries)
        residuals = np.where(defined, filled - observed.sizes * mean, 0.0)
        moved = residuals / (queries - observed.sizes)
        error = np.sqrt((clusters - 1) / clusters * (moved**2).sum(axis=0))
    rounding = ROUNDING * np.abs(filled).max(axis=0, initial=0.0)
    error[np.sqrt((residuals**2).sum(axis=0)) <= rounding * np.sqrt(clusters)] = 0.0
    error[too_few_groups(observed)] = np.nan
    return Means(clusters, mean, error, effective)


def sign_p(observed: Totals, *, two_sided: bool) -> Floats:
    """Return p of the sign test of each column; one-sided p is of the alternative "greater"."""
    from scipy.special import bdtr

    above = (observed.sums > EQUAL).sum(axis=0).astype(np.float64)
    below = (observed.sums < -EQUAL).sum(axis=0).astype(np.float64)
    fewer = np.minimum(above, below) if two_sided else below
    p = bdtr(fewer, (above + below).astype(np.int64), 0.5) * (2 if two_sided else 1)
    p = np.where(above + below == 0, 1.0, np.minimum(p, 1.0))
    return np.where(np.isnan(observed.sums).all(axis=0), np.nan, p)


def without_spread(observed: Totals) -> Flags:
    """Return, per column, whether the mean is not 0 and its standard error is."""
    estimate = means(observed)
    defined = ~np.isnan(observed.sums)
    moved = np.where(defined, np.abs(observed.sums) > EQUAL, True).all(axis=0)
    return np.asarray((estimate.clusters >= 2) & (estimate.error == 0) & moved)


Value = TypeVar("Value")
BLOCK = 2048  # draws; signs or weights for a few hundred queries fit into the CPU cache
COLUMNS = 512  # pairs or runs per block


def each_block(
    draws: int, seed: int, function: Callable[[np.random.Generator, int], Value], *, block: int = BLOCK
) -> Iterator[Value]:
    """Yield the results of a function of the generator and size of every block of draws, in order."""
    sizes = [min(block, draws - start) for start in range(0, draws, block)]

    def run_block(index: int) -> Value:
        return function(np.random.default_rng([seed, index]), sizes[index])

    return parallel_map(run_block, range(len(sizes)))


def signs(generator: np.random.Generator, draws: int, queries: int) -> Floats:
    """Return random signs, +1 or -1, per query: draws x queries."""
    bits = np.frombuffer(generator.bytes(draws * (-(-queries // 8))), dtype=np.uint8)
    unpacked = np.unpackbits(bits.reshape(draws, -1), axis=1, count=queries)
    return np.asarray(unpacked * 2.0 - 1.0, dtype=np.float64)


def drawn_rows(generator: np.random.Generator, draws: int, size: int) -> Integers:
    """Return resamples with replacement of rows 0 to size - 1: draws x size.

    The same in one call as in one for each draw.
    """
    return generator.integers(0, size, size=(draws, size))


def weights(generator: np.random.Generator, draws: int, queries: int) -> Floats:
    """Return how often each query is drawn in resamples with replacement: draws x queries."""
    chosen = drawn_rows(generator, draws, queries)
    chosen += np.arange(draws)[:, None] * queries
    counts = np.bincount(chosen.ravel(), minlength=draws * queries)
    return counts.reshape(draws, queries).astype(np.float64)


def every_sign(queries: int) -> Floats:
    """Return all patterns of +1 and -1 in which the first is +1: 2^(queries - 1) x queries."""
    numbers = np.arange(2 ** max(queries - 1, 0), dtype=np.int64)
    bits = (numbers[:, None] >> np.arange(queries)) & 1
    return np.roll(1.0 - 2.0 * bits, 1, axis=1)


def supports(values: Floats) -> Iterator[tuple[Integers, Flags]]:
    """Return sets of columns with the same queries: column indices and query indices.

    Many columns are split into parts, so that draws x columns fit into memory.
    """
    defined = ~np.isnan(values)
    if defined.all():
        patterns = np.ones((len(values), 1), dtype=np.bool_)
        which = np.zeros(values.shape[1], dtype=np.int64)
    else:
        patterns, which = np.unique(defined, axis=1, return_inverse=True)
    for index in range(patterns.shape[1]):
        columns = np.flatnonzero(which.ravel() == index)
        for part in in_parts(columns):
            yield part, patterns[:, index]


def columns_with_totals(observed: Totals) -> Iterator[tuple[Integers, Totals]]:
    """Yield sets of columns with the same clusters, if enough for limits: indices and their totals."""
    for columns, rows in supports(np.where(too_few_groups(observed), np.nan, observed.sums)):
        if rows.sum() >= 2:
            at = np.ix_(rows, columns)
            yield columns, Totals(observed.sums[at], observed.sizes[at], observed.grouped)


def in_parts(columns: Integers) -> Iterator[Integers]:
    """Yield column indices in parts of a few hundred."""
    for start in range(0, len(columns), COLUMNS):
        yield columns[start : start + COLUMNS]


def resamples(units: Sequence[str], *, draws: int, seed: int = 0) -> Integers:
    """Return how often each element is drawn in resamples of units: draws x elements.

    Elements of one unit, such as the systems of a team, are not independent and are drawn together.

    >>> resamples(["a", "a", "b"], draws=1).tolist()
    [[0, 0, 2]]
    """
    _, member = np.unique(np.asarray(units, dtype=object).astype(str), return_inverse=True)
    size = int(member.max(initial=-1)) + 1
    return np.asarray(weights(np.random.default_rng(seed), draws, size).astype(np.int64)[:, member])


def interval(values: Sequence[float] | Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of the defined values; NaN if there are none."""
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_interval(
    statistic: Callable[[Integers], float],
    units: Sequence[str],
    *,
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the percentile interval of a statistic of the number of times that each element was drawn."""
    return interval([statistic(times) for times in resamples(units, draws=draws, seed=seed)], level)
