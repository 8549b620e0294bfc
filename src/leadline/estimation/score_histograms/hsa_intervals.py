"""Bootstrap intervals of HSA over queries and over samples of documents."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.estimation.score_histograms.subsampling import slopes
from leadline.stats.resampling import drawn_rows, interval, weights

CELLS = 2_000_000  # maximum number of values of a block of resamples
ROWS = 1024  # redrawn samples in a table, and the maximum number of resamples that share it
PRODUCTS = 250_000  # of a product of matrices, few enough that libraries use no further thread
SMALL = 255  # largest sample whose redraws are shared by several queries


class HsaIntervals(NamedTuple):
    """Percentile intervals of HSA over queries and samples, and over samples alone; NaN if undefined."""

    low: float
    high: float
    sampling_low: float
    sampling_high: float


def hsa_intervals(counts: Floats, recipe: HistogramOptions, draws: int) -> HsaIntervals:
    """Return the 95 % bootstrap percentile intervals of HSA.

    Histograms of whole queries are resampled; with a sample, the scores of non-relevant documents are
    resampled as well. The range used for normalisation is kept.
    """
    used = counts[counts.sum(axis=(1, 2)) > 0]
    if not len(used) or not draws:
        return HsaIntervals(*[math.nan] * 4)
    if recipe.sample is None:
        if len(used) < 2:
            return HsaIntervals(*[math.nan] * 4)
        rng = np.random.default_rng([recipe.seed, 1])
        size = max(1, CELLS // used.size)
        over_queries = np.concatenate(
            [_resampled(used, recipe, min(size, draws - start), rng) for start in range(0, draws, size)]
        )
        return HsaIntervals(*interval(over_queries), math.nan, math.nan)
    size = max(1, min(ROWS, CELLS // len(used)))
    blocks = [
        redrawn(used, recipe, min(size, draws - start), block)
        for block, start in enumerate(range(0, draws, size))
    ]
    over_both, over_samples = map(np.concatenate, zip(*blocks, strict=True))
    both = interval(over_both) if len(used) > 1 else (math.nan, math.nan)
    return HsaIntervals(*both, *interval(over_samples))


def _resampled(counts: Floats, recipe: HistogramOptions, draws: int, rng: np.random.Generator) -> Floats:
    """Return HSA of resamples of queries."""
    if recipe.aggregate == "query":
        return _means(slopes(counts, recipe)[drawn_rows(rng, draws, len(counts))])
    return slopes(np.tensordot(weights(rng, draws, len(counts)), counts, axes=1), recipe)


def _means(values: Floats) -> Floats:
    """Return the mean of the defined values of each row; NaN without any."""
    defined = ~np.isnan(values)
    return _divided(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1))


def _divided(total: Floats, count: Any) -> Floats:
    means: Floats = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return means


class ResampledQueries(NamedTuple):
    """Queries drawn with replacement, one entry for each query of each resample, ordered by both.

    Attributes
    ----------
    draw, query : ndarray of int64, shape (n_draws * n_queries,)
        Number of the resample and of the query.
    turn : ndarray of int64, shape (n_draws * n_queries,)
        Number of earlier occurrences of the query in the resample.
    """

    draw: Integers
    query: Integers
    turn: Integers

    @classmethod
    def drawn(cls, size: int, draws: int, rng: np.random.Generator) -> ResampledQueries:
        """Draw queries.

        >>> few = ResampledQueries.drawn(3, 2, np.random.default_rng(1))
        >>> few.query.tolist(), few.turn.tolist()
        ([1, 1, 2, 0, 0, 2], [0, 1, 0, 0, 1, 0])
        """
        query = np.sort(drawn_rows(rng, draws, size), axis=1).ravel()
        draw = np.repeat(np.arange(draws), size)
        code = draw * size + query
        first = np.diff(code, prepend=-1) > 0
        place = np.arange(len(code))
        return cls(draw, query, place - np.maximum.accumulate(np.where(first, place, 0)))


def redrawn(counts: Floats, recipe: HistogramOptions, draws: int, block: int = 0) -> tuple[Floats, Floats]:
    """Return HSA of resamples of queries and of their samples, and of resamples of the samples alone.

    In each resample, the sample of every query is drawn again with replacement, independently of those of
    other queries and of further occurrences of the query. A sample of n documents is redrawn `ROWS` times by
    the numbers of times that the first, second, ..., nth document is drawn. Queries with the same n take
    these numbers from one table, the documents of each query in a random order. Resample d takes row
    (d + s) mod `ROWS`, where the s are random and different for all queries and occurrences, so that the
    samples of one resample are independent.
    """
    rng = np.random.default_rng([recipe.seed, 1, block])
    size, bins = len(counts), counts.shape[2]
    chosen = ResampledQueries.drawn(size, draws, rng)
    most = int(chosen.turn.max()) + 1
    pooled = recipe.aggregate == "pooled"
    both, samples = np.zeros((2, draws, bins if pooled else 2))
    step = max(1, min(ROWS // most, CELLS // (ROWS * bins)))
    for low in range(0, size, step):
        part = counts[low : low + step]
        table = redrawn_counts(part[:, 1], rng, (recipe.seed, block, low))
        shift = np.resize(rng.permutation(ROWS), (len(part), most))
        if not pooled:
            values = np.stack(
                [slopes_of_redraws(row, drawn, recipe) for row, drawn in zip(part[:, 0], table, strict=True)]
            )
            table = np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=2)
        inside = slice(None) if step >= size else (chosen.query >= low) & (chosen.query < low + step)
        draw, query, turn = (column[inside] for column in chosen)
        rows = (query - low) * ROWS + (draw + shift[query - low, turn]) % ROWS
        taken = table.reshape(-1, table.shape[2]).take(rows, axis=0)
        both += np.stack([np.bincount(draw, column, draws) for column in taken.T], axis=1)
        for drawn, begin in zip(table, shift[:, 0].tolist(), strict=True):
            end = min(draws, ROWS - begin)
            samples[:end] += drawn[begin : begin + end]
            samples[end:] += drawn[: draws - end]
    if not pooled:
        return _divided(*both.T), _divided(*samples.T)
    times = np.bincount(chosen.draw * size + chosen.query, minlength=draws * size).reshape(draws, size)
    relevant = times @ counts[:, 0], np.broadcast_to(counts[:, 0].sum(axis=0), (draws, bins))
    over_both, over_samples = (
        slopes(np.stack(pair, axis=1), recipe) for pair in zip(relevant, (both, samples), strict=True)
    )
    return over_both, over_samples


def redrawn_counts(counts: Floats, rng: np.random.Generator, key: tuple[int, ...]) -> Any:
    """Return multinomial resamples of histograms, of the same size."""
    queries, bins = counts.shape
    table = np.zeros((queries, ROWS, bins), dtype=np.float32)
    totals = counts.sum(axis=1).astype(np.int64)
    for total in np.unique(totals[totals > 0]).tolist():
        chosen = np.flatnonzero(totals == total)
        if total > SMALL:
            for query in chosen.tolist():
                table[query] = rng.multinomial(total, counts[query] / total, ROWS)
            continue
        bin_of = np.repeat(np.tile(np.arange(bins), len(chosen)), counts[chosen].astype(np.int64).ravel())
        bin_of = rng.permuted(bin_of.reshape(len(chosen), total), axis=1)
        times = times_drawn(total, key).astype(np.float32)
        step = max(1, PRODUCTS // (total * bins))
        for query, order in zip(chosen.tolist(), bin_of, strict=True):
            inside = np.zeros((total, bins), dtype=np.float32)
            inside[np.arange(total), order] = 1.0
            for low in range(0, ROWS, step):
                np.matmul(times[low : low + step], inside, out=table[query, low : low + step])
    return table


@lru_cache(maxsize=128)  # at most 33 MB; the same for all runs
def times_drawn(total: int, key: tuple[int, ...]) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return how often each of `total` documents, at most `SMALL`, is drawn in `ROWS` resamples.

    >>> few = times_drawn(5, (0,))
    >>> few.shape, set(few.sum(axis=1).tolist())
    ((1024, 5), {5})
    """
    times = weights(np.random.default_rng([2, *key, total]), ROWS, total).astype(np.uint8)
    times.setflags(write=False)
    return times


def slopes_of_redraws(relevant: Floats, nonrelevant: Any, recipe: HistogramOptions) -> Floats:
    """Return the slopes of redrawn histograms of a query, as `slopes` does, with logarithms from a table."""
    if recipe.weighted:
        pairs = np.broadcast_arrays(relevant, nonrelevant.astype(np.float64))
        return slopes(np.stack(pairs, axis=-2), recipe)
    added = 0.5 if recipe.half_counts else 0.0
    drawn = nonrelevant.astype(np.intp)
    logs = np.log(np.maximum(np.arange(int(drawn.max(initial=0)) + 1) + added, 0.5))
    used = (relevant > 0) | (drawn > 0) if recipe.half_counts else (relevant > 0) & (drawn > 0)
    ratio = (np.log(np.maximum(relevant + added, 0.5)) - logs.take(drawn)) * used
    bins = len(relevant)
    centre = (np.arange(bins) + 0.5) / bins - 0.5
    size, moment, square = np.stack([np.ones(bins), centre, centre**2]) @ used.T.astype(np.float64)
    total, cross = np.stack([np.ones(bins), centre]) @ ratio.T
    values = np.divide(
        size * cross - moment * total,
        size * square - moment**2,
        out=np.full(len(size), np.nan),
        where=size >= 2,
    )
    return np.asarray(values)
