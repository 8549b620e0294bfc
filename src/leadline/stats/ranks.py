"""Ranks of runs by their means: pairwise t tests of all runs, intervals of ranks, bootstrap distributions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats.moments import ROUNDING, Groups, Totals, each_block, effective_groups, totals, weights
from leadline.stats.paired_tests import T

CANCELLED = (
    1e-6  # variances of differences below this share of the two variances are computed from differences
)
CELLS = 400_000  # array elements per block of resamples, which fit into the CPU cache


def mid_ranks(values: Floats, *, slack: float = 0.0) -> Floats:
    """Return the ranks of values in each row, 1 for the largest; ties share their mean rank.

    >>> mid_ranks(np.array([0.2, 0.5, 0.2, 0.4])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    rows = np.atleast_2d(values)
    order, first, last = _tied(rows, slack)
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks.reshape(values.shape)


def _tied(rows: Floats, slack: float) -> tuple[Integers, Integers, Integers]:
    """Return the order of each row, the largest first, and for every place the ends of its group of ties."""
    keys = np.where(np.isnan(rows), np.inf, -rows) if np.isnan(rows).any() else -rows
    order = np.argsort(keys, axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    size = rows.shape[1]
    places = np.broadcast_to(np.arange(size), rows.shape)
    with np.errstate(invalid="ignore"):  # of infinite keys, which are tied
        apart = ~(np.diff(ordered, axis=1) <= slack) & ~np.isinf(ordered[:, :-1])
    if apart.all():
        return order, places, places
    starts = np.zeros(rows.shape, dtype=np.int64)
    starts[:, 1:] = np.where(apart, places[:, 1:], 0)
    ends = np.full(rows.shape, size - 1, dtype=np.int64)
    ends[:, :-1] = np.where(apart, places[:, :-1], size - 1)
    first = np.maximum.accumulate(starts, axis=1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return order, first, last


def paired_t(values: Floats) -> Floats:
    """Return the two-sided p-values of paired t-tests of all pairs of columns.

    The variance of a difference is that of both columns less twice their covariance, for all pairs at once;
    where little is left, the differences are computed. Columns whose differences are all equal are compared
    by the sign test, as by `T`.

    >>> values = np.array([[0.5, 0.4], [0.9, 0.6], [0.3, 0.4], [0.6, 0.4], [0.7, 0.5]])
    >>> paired_t(values).round(4).tolist()  # T().p([0.1, 0.3, -0.1, 0.2, 0.2])
    [0.1079]
    """
    from scipy.special import stdtr

    queries, runs = values.shape
    first, second = np.triu_indices(runs, k=1)
    if queries < 2:
        return T().p_values(values[:, first] - values[:, second])
    means = values.mean(axis=0)
    centred = values - means
    covariance = centred.T @ centred / (queries - 1)
    variance = np.diagonal(covariance)
    sums = variance[first] + variance[second]
    spread = sums - 2 * covariance[first, second]
    close = spread <= CANCELLED * sums
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (means[first] - means[second]) / np.sqrt(np.where(close, 1.0, spread) / queries)
    p = np.asarray(2 * stdtr(queries - 1.0, -np.abs(t)))
    exact = np.flatnonzero(close)
    size = max(1, CELLS // queries)
    for start in range(0, len(exact), size):
        some = exact[start : start + size]
        p[some] = T().p_values(values[:, first[some]] - values[:, second[some]])
    return p


class RankLimits(NamedTuple):
    """Lowest and highest rank of every run."""

    low: Integers
    high: Integers


def rank_limits(better: Flags) -> RankLimits:
    """Return intervals of the ranks of all runs by inverted pairwise tests.

    The rank of a run is at least 1 + the number of runs that are significantly better, and at most n less the
    number that are significantly worse. If the tests of all pairs make no error with probability 1 - alpha,
    all intervals contain the true ranks with at least this probability.

    Source: Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks, Review of Economic Studies 91(1);
    Al Mohamad, Goeman and van Zwet (2022), Simultaneous confidence intervals for ranks, Biometrics 78(1).

    The first run is better than the third, and nothing else is known:

    >>> rank_limits(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool))
    RankLimits(low=array([1, 1, 2]), high=array([2, 3, 3]))
    """
    return RankLimits(1 + better.sum(axis=0), len(better) - better.sum(axis=1))


def groups_from_best(order: Integers, better: Flags) -> Integers:
    """Return the number of the group of every run, 1 for the best.

    A group is the best run that is in no group yet, and those of the rest that it is not significantly better
    than. Two runs of a group may differ significantly from each other.

    >>> better = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    >>> groups_from_best(np.array([0, 1, 2]), better).tolist()
    [1, 1, 2]
    """
    group = np.zeros(len(order), dtype=np.int64)
    number = 0
    for run in order.tolist():
        if group[run] == 0:
            number += 1
            alike = (group == 0) & ~better[run]
            group[alike] = number
    return group


class RankDistribution(NamedTuple):
    """Distribution of the ranks of runs over resamples of the queries.

    `counts` are by twice the rank less 2, as mean ranks of ties are halves. `best` is the share of resamples
    of shrunken means in which a run is the best; k tied runs have 1 / k each. `kept` is the share of the
    differences between the means that shrinking kept (`share_kept`).
    """

    counts: Integers
    best: Floats
    kept: float

    @property
    def expected(self) -> Floats:
        """Return the mean rank of every run."""
        half_ranks = np.arange(self.counts.shape[1]) / 2 + 1
        return np.asarray(self.counts @ half_ranks / self.counts.sum(axis=1))

    def limits(self, level: float = 0.95) -> Floats:
        """Return percentile limits of the rank of every run, runs x 2.

        The lower limit is the smallest rank that at least a share (1 - level) / 2 of the resamples do not
        exceed, the upper one the smallest that at least (1 + level) / 2 do not exceed.
        """
        cumulative = self.counts.cumsum(axis=1)
        total = cumulative[:, -1:]
        shares = [(1 - level) / 2, (1 + level) / 2]
        places = [(cumulative < share * total * (1 - ROUNDING)).sum(axis=1) for share in shares]
        return np.stack(places, axis=1) / 2 + 1


def share_kept(observed: Totals, *, level: float = 0.95) -> float:
    """Return the share of the differences between the means of runs that shrinking keeps, from 0 to 1.

    With F the mean square of runs over that of runs and queries (of the analysis of variance without
    replication), the share of the variance between the means that is not sampling error is estimated by
    1 - 1 / F. This is its lower confidence limit, 1 - f / F with f the `level` quantile of F: 0 if the test
    that all means are equal does not reject. The error of a mean is that of the jackknife over queries (or
    groups), as in `means`.

    >>> share_kept(totals(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])))
    0.0
    >>> round(share_kept(totals(np.array([[9.0, 0.0], [8.0, 1.0], [9.0, 0.0]]))), 3)  # F = 156.25, f = 18.51
    0.882
    """
    from scipy.special import fdtri

    queries = observed.sizes.sum(axis=0)
    some = queries > 0
    present, sums, sizes = observed.sizes[:, some], np.nan_to_num(observed.sums[:, some]), queries[some]
    runs, clusters = len(sizes), float((present > 0).sum(axis=0).min()) if some.any() else 0.0
    if runs < 2 or clusters < 2:
        return 1.0
    mean = sums.sum(axis=0) / sizes
    moved = (sums - present * mean) / (sizes - present)
    moved -= moved.mean(axis=1, keepdims=True)
    error = (clusters - 1) / clusters * float((moved**2).sum()) / (runs - 1)
    between = float(mean.var(ddof=1))
    if between * ROUNDING >= error:  # no error but by rounding
        return 1.0
    units = float(effective_groups(observed)[some].min())
    needed = float(fdtri(runs - 1, (runs - 1) * (units - 1), level))
    return max(0.0, 1 - needed * error / between) if between > 0 else 0.0


def bootstrap_ranks(
    values: Floats, *, draws: int = 10_000, seed: int = 0, groups: Groups | None = None, level: float = 0.95
) -> RankDistribution:
    """Return the distribution of the ranks of runs over resamples of the queries with replacement.

    One query favors each run: in 1 of 4 resamples a run has both queries, and in 2 the runs are tied.

    >>> found = bootstrap_ranks(np.array([[1.0, 0.0], [0.0, 1.0]]), draws=20_000)
    >>> (found.counts / 20_000).round(2).tolist(), found.best.round(2).tolist()
    ([[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]], [0.5, 0.5])
    """
    observed = totals(values, groups)
    used = observed.sizes.any(axis=1)
    observed = observed._replace(sums=observed.sums[used], sizes=observed.sizes[used])
    complete = bool((observed.sizes == observed.sizes[:, :1]).all())
    sums, sizes = np.nan_to_num(observed.sums), observed.sizes
    clusters, runs = sums.shape
    slack = ROUNDING * float(np.abs(sums).max(initial=0.0)) * (clusters if complete else 1)
    lead = sums.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1)
    kept = share_kept(observed, level=level)
    excess = (1 - kept) * (lead - lead.mean())
    base = (np.arange(runs) * (2 * runs - 1)).astype(np.int64)

    def block(generator: np.random.Generator, size: int) -> tuple[Integers, Floats]:
        drawn = weights(generator, size, clusters)
        means = drawn @ sums
        if not complete:
            with np.errstate(divide="ignore", invalid="ignore"):
                means /= drawn @ sizes
        order, first, last = _tied(means, slack)
        cells = base[order] + (first + last)
        counts = np.bincount(cells.ravel(), minlength=runs * (2 * runs - 1)).astype(np.int64)
        shrunk = means - (drawn @ sizes[:, :1] if complete else 1.0) * excess
        shrunk[np.isnan(shrunk)] = -np.inf
        top = shrunk >= shrunk.max(axis=1, keepdims=True) - slack
        return counts, np.asarray((top / top.sum(axis=1, keepdims=True)).sum(axis=0))

    size = max(1, min(2048, CELLS // max(runs, 1)))
    counts, best = np.zeros(runs * (2 * runs - 1), dtype=np.int64), np.zeros(runs)
    for some, shares in each_block(draws, seed, block, block=size):
        counts += some
        best += shares
    return RankDistribution(counts.reshape(runs, 2 * runs - 1), best / draws, kept)
