"""How far HSA moves with other queries, and with other samples of non-relevant documents."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.histograms.bins import slope
from leadline.histograms.recipe import Recipe
from leadline.statistics.team_bootstrap import interval

CELLS = 2_000_000  # numbers of a block of draws


def slopes(counts: Floats, recipe: Recipe) -> Floats:
    """Give the slope of every histogram pair: ... x 2 x bins."""
    return slope(
        counts[..., 0, :], counts[..., 1, :], half_counts=recipe.half_counts, weighted=recipe.weighted,
        base=recipe.base,
    )  # fmt: skip


def hsa_of(counts: Floats, recipe: Recipe) -> float:
    """Give HSA of queries x 2 x bins: of the pooled histograms, or the mean of the queries that have one."""
    if recipe.aggregate == "pooled":
        return float(slopes(counts.sum(axis=0), recipe))
    found = slopes(counts, recipe)
    return float(np.mean(found[~np.isnan(found)])) if (~np.isnan(found)).any() else float("nan")


def hsa_interval(
    counts: Floats, recipe: Recipe, draws: int, *, queries: bool = True
) -> tuple[float, float]:
    """Give the 95 % interval of HSA over queries; with a sample, over queries and samples together.

    Without `queries` they are kept as they are, and only the sample is drawn again.

    Histograms of whole queries are drawn again; a sample's non-relevant histogram is drawn again from
    itself, score by score. The range that scores were normalised with is kept. NaN for fewer than two
    queries. Percentiles of `draws` draws.
    """
    used = counts[counts.sum(axis=(1, 2)) > 0]
    if len(used) < (2 if queries else 1) or not draws or (recipe.sample is None and not queries):
        return float("nan"), float("nan")
    dice = np.random.default_rng([recipe.seed, 1])
    size = max(1, CELLS // used.size)
    found = [
        _drawn(used, recipe, min(size, draws - start), dice, queries)
        for start in range(0, draws, size)
    ]
    return interval(np.concatenate(found))


def _drawn(
    counts: Floats, recipe: Recipe, draws: int, dice: np.random.Generator, queries: bool
) -> Floats:
    size = len(counts)
    chosen = (
        dice.integers(0, size, (draws, size)) if queries else np.tile(np.arange(size), (draws, 1))
    )
    if recipe.sample is not None:
        tables = counts[chosen]
        tables[:, :, 1] = resampled_counts(tables[:, :, 1], dice)
        if recipe.aggregate == "pooled":
            return slopes(tables.sum(axis=1), recipe)
        return _means(slopes(tables, recipe))
    if recipe.aggregate == "query":
        return _means(slopes(counts, recipe)[chosen])
    chosen += np.arange(draws)[:, None] * len(counts)
    times = np.bincount(chosen.ravel(), minlength=draws * len(counts)).reshape(draws, -1)
    return slopes(np.tensordot(times.astype(np.float64), counts, axes=1), recipe)


def resampled_counts(counts: Floats, dice: np.random.Generator) -> Floats:
    """Draw histograms again from themselves: as many scores, each bin by its share."""
    whole = counts.sum(axis=-1)
    shares = counts / np.maximum(whole, 1)[..., None]
    shares[whole == 0] = 1 / counts.shape[-1]
    return np.asarray(dice.multinomial(whole.astype(np.int64), shares), dtype=np.float64)


def _means(found: Floats) -> Floats:
    """Give the mean of every row over its numbers; NaN where it has none."""
    known = ~np.isnan(found)
    count = known.sum(axis=1)
    total = np.where(known, found, 0.0).sum(axis=1)
    means: Floats = np.divide(total, count, out=np.full(len(found), np.nan), where=count > 0)
    return means
