"""Correlation coefficients of two columns, with optional frequency weights, and intervals over queries.

Rank coefficients treat values that differ by rounding only as ties: means of the same values summed in
another order do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.stats.moments import ROUNDING, weights

SLOPES = (2.0, math.sqrt(2) / (math.sqrt(3) - math.sqrt(2)))  # bias proportional to variance; to its root
WIDENED = 1.15  # chosen by coverage on TREC 2019 Deep Learning


def pearson(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return Pearson's r; NaN for fewer than two observations or a constant column.

    `frequencies` are frequency weights, as in a bootstrap.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    return coefficient("pearson", x, y, frequencies)


def spearman(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return Spearman's rho: Pearson's r of the ranks, ties sharing their mean rank."""
    return coefficient("spearman", x, y, frequencies)


def permutation_p(x: Floats, y: Floats) -> float:
    """Return the exact two-sided p of Spearman's rho.

    The proportion of permutations of one column with |rho| as large or larger, ties included. Feasible for up
    to about nine observations.

    >>> permutation_p(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 8.0]))  # 2 of 6 orders
    0.3333333333333333
    """
    first, second = average_ranks(x), average_ranks(y)
    first = first - first.mean()
    second = second - second.mean()
    sums = np.zeros(1)
    left = np.ones((1, len(second)), dtype=np.bool_)
    for value in first:  # extend each partial order by each remaining observation
        row, column = np.nonzero(left)
        sums = sums[row] + value * second[column]
        left = left[row]
        left[np.arange(len(row)), column] = False
    needed = abs(float((first * second).sum())) - ROUNDING * len(first) ** 3
    return float((np.abs(sums) >= needed).mean())


def kendall(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return Kendall's tau-b; NaN for a constant column. Takes O(n^2) time.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).__round__(4)
    0.3333
    """
    return coefficient("kendall", x, y, frequencies)


def tau_ap(estimate: Floats, truth: Floats, frequencies: Integers | None = None) -> float:
    """Return tau-AP of an estimated ranking: Kendall's tau with more weight on errors near its top.

    For every system but the first of the estimate: the proportion of the systems ranked above it that are
    truly better; tau-AP is twice the mean proportion minus 1, from -1 to 1, and not symmetric. Pairs tied in
    the truth are ignored; a pair tied in the estimate counts half as above and half as correct. NaN where no
    pair remains. Takes O(n^2) time.

    Source: Yilmaz, Aslam and Robertson (2008), SIGIR. The treatment of ties is an extension.

    >>> tau_ap(np.array([4.0, 3.0, 2.0, 1.0]), np.array([3.0, 4.0, 2.0, 1.0])).__round__(4)  # 0, 1, 1
    0.3333
    >>> tau_ap(np.array([4.0, 3.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0, 2.0])).__round__(4)  # 1, 1, 2/3
    0.7778
    """
    return coefficient("tau_ap", truth, estimate, frequencies)


def tau_ap_b(x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return symmetric tau-AP of two rankings with ties, the coefficient of agreement of Urbano and Marrero.

    For every system with others above it in one ranking: the proportion of them that are above it in the
    other one too. The value is twice the mean proportion minus 1, averaged over both rankings in the role of
    the first. NaN if a ranking has one level only. Takes O(n^2) time.

    Source: Urbano and Marrero (2017), The treatment of ties in AP correlation, ICTIR.

    >>> tau_ap_b(np.array([2.0, 2.0, 1.0]), np.array([3.0, 2.0, 1.0]))  # by x 1; by y 0 and 1
    0.5
    """
    return coefficient("tau_ap_b", x, y, frequencies)


def coefficient(name: str, x: Floats, y: Floats, frequencies: Integers | None = None) -> float:
    """Return a coefficient of one pair of columns, the truth first; `name` is a key of `ROWS`."""
    weight = None if frequencies is None else frequencies[None].astype(np.float64)
    return float(ROWS[name](x[None], y[None], weight)[0])


def average_ranks(values: Floats, frequencies: Floats | Integers | None = None) -> Floats:
    """Return ranks from 1, ties sharing their mean; frequency n stands for n tied observations.

    Arrays with more dimensions are ranked along the last axis.

    >>> average_ranks(np.array([5.0, 1.0, 5.0]))
    array([2.5, 1. , 2.5])
    """
    weight = np.ones(values.shape) if frequencies is None else frequencies.astype(np.float64)
    group = np.broadcast_to(levels(values), weight.shape)
    *rows, number = group.shape
    first = number * np.arange(math.prod(rows)).reshape(*rows, 1)
    sizes = np.bincount((first + group).ravel(), weight.ravel(), minlength=group.size).reshape(group.shape)
    return np.asarray(np.take_along_axis(np.cumsum(sizes, -1) - sizes + (sizes + 1) / 2, group, -1))


def levels(values: Floats) -> Integers:
    """Return the 0-based rank of the distinct value of each element; rounding differences are ties.

    Arrays with more dimensions are ranked along the last axis.

    >>> levels(np.array([0.3, 0.1, 0.1 + 0.2]))
    array([1, 0, 1])
    """
    order = np.argsort(values, axis=-1, kind="stable")
    rising = np.take_along_axis(values, order, axis=-1)
    below, above = rising[..., :-1], rising[..., 1:]
    with np.errstate(invalid="ignore"):  # inf - inf
        near = above - below <= ROUNDING * np.maximum(np.abs(below), np.abs(above))
    apart = np.where(np.isfinite(below) & np.isfinite(above), ~near, below != above)
    steps = np.concatenate([np.zeros_like(order[..., :1]), np.cumsum(apart, axis=-1)], axis=-1)
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, steps, axis=-1)
    return ranks


def _pearson_rows(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    weight = np.ones(x.shape) if weight is None else weight
    x, y = _centred(x, weight), _centred(y, weight)
    size = np.sqrt((weight * x * x).sum(axis=1) * (weight * y * y).sum(axis=1))
    return _over((weight * x * y).sum(axis=1), size).clip(-1, 1)


def _centred(values: Floats, weight: Floats) -> Floats:
    """Return rows as shares of their largest absolute value, less their mean; 0 if equal but for rounding."""
    counted = weight > 0
    values = np.where(counted, values, 0.0)
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    values = values / np.where(largest > 0, largest, 1.0)
    total = np.maximum(weight.sum(axis=1, keepdims=True), 1.0)
    centred: Floats = counted * (values - (weight * values).sum(axis=1, keepdims=True) / total)
    return np.where(np.abs(centred).max(axis=1, keepdims=True, initial=0.0) > ROUNDING, centred, 0.0)


def _spearman_rows(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    return _pearson_rows(average_ranks(x, weight), average_ranks(y, weight), weight)


def _kendall_rows(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    first, second = np.triu_indices(x.shape[1], 1)
    signs = [
        np.sign(ranks[:, first] - ranks[:, second]).astype(np.int8)
        for ranks in (levels(x).astype(np.int32), levels(y).astype(np.int32))
    ]
    if weight is None:
        sizes = [np.count_nonzero(each, axis=1).astype(np.float64) for each in signs]
        return _over((signs[0] * signs[1]).sum(axis=1, dtype=np.float64), np.sqrt(sizes[0] * sizes[1]))
    pairs = weight[:, first] * weight[:, second]
    sizes = [(pairs * (each != 0)).sum(axis=1) for each in signs]
    return _over((pairs * (signs[0] * signs[1])).sum(axis=1), np.sqrt(sizes[0] * sizes[1]))


def _tau_ap_rows(truth: Floats, estimate: Floats, weight: Floats | None = None) -> Floats:
    weight = np.ones(truth.shape) if weight is None else weight
    true, estimated = levels(truth), levels(estimate)
    tied = 0.5 * (estimated[:, None, :] == estimated[:, :, None])
    above = (true[:, :, None] != true[:, None, :]) * ((estimated[:, None, :] > estimated[:, :, None]) + tied)
    right = np.where(tied > 0, 0.5, true[:, None, :] > true[:, :, None])
    return _mean_share((above * right) @ weight[:, :, None], above @ weight[:, :, None], weight)


def _tau_ap_b_rows(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    first, second = (ranks[:, None, :] > ranks[:, :, None] for ranks in (levels(x), levels(y)))
    if weight is None:
        counts = [np.count_nonzero(above, axis=2)[..., None] for above in (first & second, first, second)]
        weight = np.ones(x.shape)
    else:
        counts = [above @ weight[:, :, None] for above in (first & second, first, second)]
    means = [_mean_share(counts[0], count, weight) for count in counts[1:]]
    return np.asarray((means[0] + means[1]) / 2)


def _mean_share(part: Floats, whole: Floats, weight: Floats) -> Floats:
    """Return twice the mean share of each row, less 1, over the systems with others above them."""
    counted = weight * (whole[..., 0] > 0)
    shares = np.nansum(counted * _over(part, whole)[..., 0], axis=1)
    return 2 * _over(shares, counted.sum(axis=1)) - 1


def _over(part: Floats, whole: Floats | Integers) -> Floats:
    """Divide; 0 / 0 is NaN."""
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))


# The coefficients of each row of two tables, the truth first, with frequency weights. With weights of many
# rows, each table may have one row for all of them.
ROWS: dict[str, Callable[..., Floats]] = {
    "pearson": _pearson_rows,
    "spearman": _spearman_rows,
    "kendall": _kendall_rows,
    "tau_ap": _tau_ap_rows,
    "tau_ap_b": _tau_ap_b_rows,
}
BLOCK = 64  # rows


def reliability(values: Floats) -> float:
    """Return the proportion of the variance of the means of runs that is not sampling error of queries.

    This is Cronbach's alpha with queries as items: 1 minus the residual mean square divided by the mean
    square of runs; NaN for fewer than two queries or runs, or equal means.

    Source: Bodoff and Li (2007), Test theory for assessing IR test collections, SIGIR.

    >>> reliability(np.array([[0.0, 2.0], [0.0, 4.0]]))  # residual mean square 1, of runs 9
    0.8888888888888888
    """
    queries, runs = values.shape
    largest = float(np.abs(values).max(initial=0.0))
    if min(queries, runs) < 2 or largest == 0:
        return float("nan")
    centred = values / largest - (values / largest).mean(axis=1, keepdims=True)
    means = centred.mean(axis=0)
    between = queries * float((means**2).sum()) / (runs - 1)
    residual = float(((centred - means) ** 2).sum()) / ((queries - 1) * (runs - 1))
    return 1 - residual / between if np.abs(means).max() > ROUNDING else float("nan")


def over_queries(
    x: Floats,
    y: Floats,
    coefficients: Sequence[str],
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Floats:
    """Return approximate confidence limits, over a population of queries, of coefficients of means of runs.

    Means of a sample of queries contain sampling error, which changes a rank correlation on average: pairs of
    runs with nearly equal means are ordered at random. The means of a bootstrap resample contain this error
    twice, those of a resample of the resample three times. With m2 and m3 the mean coefficients of both, the
    coefficient without error is extrapolated to m2 + c (m2 - m3): c = 2 if the bias is proportional to the
    variance of the error, as of smooth statistics, and c = sqrt(2) / (sqrt(3) - sqrt(2)) if it is
    proportional to its standard deviation, as where many runs are nearly equal. The interval extends from
    one to the other, plus and minus 1.15 t s, where s is the standard deviation of the coefficients of the
    resamples and t the quantile of Student's distribution; the factor is for the error of the extrapolation.
    It is extended to contain the coefficient of the sample, and cut at -1 and 1. If the means are mostly
    error (`reliability`) the limits may be too low. The coverage is reported in docs/studies/significance.md.

    Source: Hall (1992), The Bootstrap and Edgeworth Expansion, section 1.4, for iterated bootstrap
    corrections.
    """
    from scipy.special import stdtrit

    queries = len(x)
    generator = np.random.default_rng([seed, 3])
    once = weights(generator, draws, queries)
    twice = generator.multinomial(queries, once / queries)

    def of(times: Floats) -> Floats:
        blocks = [times[start : start + BLOCK] / queries for start in range(0, len(times), BLOCK)]
        means = [(block @ x, block @ y) for block in blocks]
        columns = [np.concatenate([ROWS[name](*pair) for pair in means]) for name in coefficients]
        return np.stack(columns, axis=1)

    (whole,), first, second = of(np.ones((1, queries))), of(once), of(twice.astype(np.float64))
    limits = np.full((len(coefficients), 2), np.nan)
    for index, value in enumerate(whole.tolist()):
        resampled, again = (each[~np.isnan(each[:, index]), index] for each in (first, second))
        if math.isnan(value) or not len(resampled) or not len(again):
            continue
        mean = float(resampled.mean())
        extrapolated = [mean + slope * (mean - float(again.mean())) for slope in SLOPES]
        half = WIDENED * float(stdtrit(queries - 1, 0.5 + confidence / 2)) * float(resampled.std())
        ends = min(*extrapolated) - half, max(*extrapolated) + half
        limits[index] = max(min(ends[0], value), -1.0), min(max(ends[1], value), 1.0)
    return limits
