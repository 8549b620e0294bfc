"""Intervals of HSA over queries and their samples."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.data.arrays import Floats
from leadline.estimation.histogram import hsa_interval, sampling_interval
from leadline.estimation.histogram_result import HistogramOptions, compute_hsa, slope
from leadline.stats.moments import interval

BINS = 5
RISING = np.arange(1.0, BINS + 1) / np.arange(1.0, BINS + 1).sum()
RECIPES = [HistogramOptions(sample=20), HistogramOptions(sample=20, aggregate="query", half_counts=True)]


def histograms(queries: int, dice: np.random.Generator, *, drawn: int = 20) -> Floats:
    """Make queries of unlike quality, and draw documents of each."""
    quality = dice.dirichlet(20 * RISING, queries)
    counts = np.empty((queries, 2, BINS))
    counts[:, 0] = [dice.multinomial(6, chances) for chances in quality]
    counts[:, 1] = [dice.multinomial(drawn, chances[::-1]) for chances in quality]
    return counts


@pytest.mark.parametrize("recipe", RECIPES)
def test_limits_are_quantiles_of_resampled_queries(recipe: HistogramOptions) -> None:
    counts = histograms(12, np.random.default_rng(5))
    dice, values = np.random.default_rng(1), []
    for _ in range(2000):
        tables = [counts[query] for query in dice.integers(0, 12, 12).tolist()]  # one by one
        if recipe.aggregate == "pooled":
            values.append(float(slope(*np.sum(tables, axis=0))))
        else:
            values.append(float(np.nanmean([slope(*table, half_counts=True) for table in tables])))
    low, high = hsa_interval(counts, recipe, 2000)
    width = high - low
    assert (low, high) == pytest.approx(interval(values), abs=0.08 * width)


@pytest.mark.parametrize("recipe", RECIPES)
def test_intervals_hold_for_other_queries_and_other_samples(recipe: HistogramOptions) -> None:
    dice = np.random.default_rng(7)
    truth = compute_hsa(histograms(20_000, dice), recipe)
    held = 0
    for seed in range(200):
        low, high = hsa_interval(histograms(40, dice), recipe._replace(seed=seed), 300)
        held += low <= truth <= high
    assert 0.90 <= held / 200 <= 0.985


def test_sampling_intervals_hold_for_other_samples_of_the_same_queries() -> None:
    dice = np.random.default_rng(11)
    relevant = np.array([dice.multinomial(30, RISING) for _ in range(30)])
    chances = dice.dirichlet(20 * RISING[::-1], 30)
    whole = np.stack([relevant, 1e6 * chances], axis=1)
    truth, held, widths = compute_hsa(whole, RECIPES[0]), 0, []
    for seed in range(300):
        drawn = np.array([dice.multinomial(20, chance) for chance in chances])
        recipe = RECIPES[0]._replace(seed=seed)
        low, high = sampling_interval(np.stack([relevant, drawn], axis=1).astype(float), recipe, 300)
        held += low <= truth <= high
        widths.append(high - low)
    assert 0.93 <= held / 300 <= 0.99
    assert np.std(widths) < 0.2 * np.mean(widths)


def test_intervals_are_undefined_without_anything_to_resample() -> None:
    counts = histograms(3, np.random.default_rng(2))
    assert np.isfinite(hsa_interval(counts, RECIPES[0], 100)).all()
    assert np.isnan(hsa_interval(counts, RECIPES[0], 0)).all()
    assert np.isnan(hsa_interval(np.zeros((3, 2, BINS)), RECIPES[0], 10)).all()
    assert np.isnan(sampling_interval(counts, HistogramOptions(), 100)).all()
    assert np.isfinite(sampling_interval(counts[:1], RECIPES[0], 100)).all()
    single = np.concatenate([counts[:1], np.zeros((2, 2, BINS))])
    assert np.isnan(hsa_interval(single, RECIPES[1], 100)).all()
