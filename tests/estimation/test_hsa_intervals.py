"""Redrawn samples of HSA: the statistic of given documents, and the distribution of independent draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline.data.arrays import Floats
from leadline.estimation import histogram as module
from leadline.estimation.histogram import (
    ROWS,
    hsa_intervals,
    redrawn,
    redrawn_counts,
    slopes_of_redraws,
    times_drawn,
)
from leadline.estimation.histogram_result import HistogramOptions, slope
from leadline.stats.moments import interval

DICE = np.random.default_rng(5)
RECIPES = [
    HistogramOptions(sample=20),
    HistogramOptions(sample=20, aggregate="query", half_counts=True),
    HistogramOptions(sample=20, aggregate="query"),
    HistogramOptions(sample=20, aggregate="query", weighted=True),
]


def histograms(queries: int, *, least: int = 1, most: int = 20, bins: int = 5) -> Floats:
    """Make histograms of few relevant and up to `most` other documents."""
    rising = np.arange(1.0, bins + 1) / np.arange(1.0, bins + 1).sum()
    counts = np.empty((queries, 2, bins))
    counts[:, 0] = DICE.multinomial(6, rising, queries)
    counts[:, 1] = [DICE.multinomial(DICE.integers(least, most + 1), rising[::-1]) for _ in range(queries)]
    return counts


def one_by_one(counts: Floats, recipe: HistogramOptions, draws: int, rng: Any, *, queries: bool) -> Floats:
    """Resample queries and then documents one by one, as the bootstrap is defined."""
    values = np.empty(draws)
    bins = counts.shape[2]
    documents = [np.repeat(np.arange(bins), row.astype(int)) for row in counts[:, 1]]
    for draw in range(draws):
        chosen = rng.integers(0, len(counts), len(counts)) if queries else np.arange(len(counts))
        tables = []
        for query in chosen.tolist():
            drawn = rng.choice(documents[query], len(documents[query]))
            tables.append((counts[query, 0], np.bincount(drawn, minlength=bins).astype(float)))
        values[draw] = statistic(tables, recipe)
    return values


def statistic(tables: list[tuple[Floats, Floats]], recipe: HistogramOptions) -> float:
    options: dict[str, Any] = {"half_counts": recipe.half_counts, "weighted": recipe.weighted}
    if recipe.aggregate == "pooled":
        first, second = (np.sum(column, axis=0) for column in zip(*tables, strict=True))
        return float(slope(first, second, **options))
    values = np.array([float(slope(first, second, **options)) for first, second in tables])
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


@pytest.mark.parametrize("recipe", RECIPES)
def test_slopes_of_redraws_are_slopes(recipe: HistogramOptions) -> None:
    counts = histograms(7, least=0, most=8)
    drawn = DICE.multinomial(6, [0.5, 0.3, 0.2, 0.0, 0.0], (30, 7)).astype(np.float32)
    drawn[0] = 0
    for query in range(7):
        found = slopes_of_redraws(counts[query, 0], drawn[:, query], recipe)
        for row in range(30):
            wanted = statistic([(counts[query, 0], drawn[row, query].astype(float))], recipe)
            assert found[row] == pytest.approx(wanted, rel=1e-11, abs=1e-11, nan_ok=True)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("cells", [module.CELLS, 3 * ROWS * 5])
def test_the_statistic_is_that_of_the_drawn_documents(
    recipe: HistogramOptions, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CELLS", cells)  # few: queries are taken three at a time, or fewer
    made: list[Floats] = []
    shifts: list[Any] = []

    def kept(*arguments: Any) -> Floats:
        made.append(redrawn_counts(*arguments))
        return made[-1]

    resize = np.resize

    def kept_shift(values: Any, shape: Any) -> Any:
        shifts.append(resize(values, shape))
        return shifts[-1]

    monkeypatch.setattr(module, "redrawn_counts", kept)
    monkeypatch.setattr(np, "resize", kept_shift)
    counts = histograms(8)
    both, samples = redrawn(counts, recipe, 40)
    assert len(made) == (1 if cells == module.CELLS and cells > 10**6 else -(-8 // 3))
    table, shift = np.concatenate(made), np.concatenate(shifts)
    chosen = np.sort(np.random.default_rng([recipe.seed, 1, 0]).integers(0, 8, (40, 8)), axis=1)
    for draw in range(40):
        seen: dict[int, int] = {}
        tables = []
        for query in chosen[draw].tolist():
            turn = seen[query] = seen.get(query, -1) + 1
            row = (draw + shift[query, turn]) % ROWS
            tables.append((counts[query, 0], table[query, row].astype(float)))
        assert both[draw] == pytest.approx(statistic(tables, recipe), rel=1e-9, nan_ok=True)
        tables = [
            (counts[query, 0], table[query, (draw + shift[query, 0]) % ROWS].astype(float))
            for query in range(8)
        ]
        assert samples[draw] == pytest.approx(statistic(tables, recipe), rel=1e-9, nan_ok=True)


def test_a_redrawn_histogram_counts_the_documents_of_the_table() -> None:
    counts = np.array([[3.0, 1.0, 2.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0], [300.0, 0.0, 100.0]])
    found = redrawn_counts(counts, np.random.default_rng(4), (1, 2))
    order = np.random.default_rng(4).permuted(np.array([[0, 0, 0, 1, 2, 2], [1] * 6]), axis=1)
    times = times_drawn(6, (1, 2))
    for query in (0, 1):
        for row in range(0, ROWS, 97):
            documents = np.repeat(order[query], times[row])  # one by one
            assert found[query, row].tolist() == np.bincount(documents, minlength=3).tolist()
    assert not found[2].any()
    assert set(found[3].sum(axis=1).tolist()) == {400.0}
    assert not found[3, :, 1].any()
    assert found[3, :, 0].mean() == pytest.approx(300, abs=1.5)


def test_all_redraws_of_a_small_sample_are_equally_likely() -> None:
    times = times_drawn(3, (9,))
    seen = np.bincount(times @ np.array([16, 4, 1]), minlength=64)
    expected = {48: 1, 12: 1, 3: 1, 36: 3, 33: 3, 24: 3, 9: 3, 18: 3, 6: 3, 21: 6}  # of 27
    assert sum(seen[list(expected)]) == ROWS
    square = sum((seen[code] - ROWS * n / 27) ** 2 / (ROWS * n / 27) for code, n in expected.items())
    assert square < 27.9  # 99.9 % of chi-square with 9 degrees of freedom


@pytest.mark.parametrize("recipe", RECIPES[:2])
@pytest.mark.parametrize("queries", [True, False])
def test_resamples_have_the_distribution_of_independent_draws(
    recipe: HistogramOptions, queries: bool
) -> None:
    counts = histograms(12)
    wanted = one_by_one(counts, recipe, 2000, np.random.default_rng(1), queries=queries)
    found = np.concatenate([redrawn(counts, recipe, 1000, block)[not queries] for block in range(2)])
    assert np.isfinite(found).all()
    assert found.mean() == pytest.approx(wanted.mean(), abs=5 * wanted.std() / 1000**0.5)
    assert found.std() == pytest.approx(wanted.std(), rel=0.08)
    everything = np.sort(np.concatenate([found, wanted]))
    steps = [np.searchsorted(np.sort(values), everything, side="right") / 2000 for values in (found, wanted)]
    assert np.abs(steps[0] - steps[1]).max() < 1.95 * (2 / 2000) ** 0.5  # Kolmogorov-Smirnov, 0.1 %


def test_limits_vary_with_the_seed_as_those_of_independent_draws() -> None:
    counts = histograms(12, least=20)
    drawn = [
        interval(one_by_one(counts, RECIPES[0], 300, np.random.default_rng(seed), queries=False))
        for seed in range(20)
    ]
    found = [hsa_intervals(counts, RECIPES[0]._replace(seed=seed), 300)[2:] for seed in range(100)]
    assert np.mean(found, axis=0) == pytest.approx(np.mean(drawn, axis=0), abs=0.05)
    assert (np.std(found, axis=0) < 1.6 * np.std(drawn, axis=0)).all()


def test_intervals_are_undefined_without_anything_to_resample() -> None:
    counts = histograms(3)
    assert np.isnan(hsa_intervals(counts, RECIPES[0], 0)).all()
    assert np.isnan(hsa_intervals(np.zeros((3, 2, 5)), RECIPES[0], 10)).all()
    whole = hsa_intervals(counts, RECIPES[0]._replace(sample=None), 100)
    assert np.isfinite(whole[:2]).all()
    assert np.isnan(whole[2:]).all()
    single = hsa_intervals(np.concatenate([counts[:1], np.zeros((2, 2, 5))]), RECIPES[1], 100)
    assert np.isnan(single[:2]).all()
    assert np.isfinite(single[2:]).all()
    assert np.isnan(hsa_intervals(counts[:1], RECIPES[0]._replace(sample=None), 10)).all()


def test_more_resamples_than_rows_are_drawn_in_independent_blocks() -> None:
    counts = histograms(6)
    first = [redrawn(counts, RECIPES[0], 5, block)[1].tolist() for block in range(2)]
    assert first[0] != first[1]
    some = hsa_intervals(counts, RECIPES[0], 3000)
    assert some.low < some.sampling_low < some.sampling_high < some.high
