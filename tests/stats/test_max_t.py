"""The randomised max-t procedure."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import holed, smooth, stepped

from conftest import examples
from leadline.data.arrays import Floats, Integers
from leadline.stats.moments import weights
from leadline.stats.paired_tests import Randomisation, T
from leadline.stats.simultaneous import max_t


def t_of(values: Floats) -> float:
    """Return |t| of a list, infinite where all values are equal but not 0."""
    mean, spread = values.mean(), values.std(ddof=1)
    if spread < 1e-12:
        return 0.0 if abs(mean) < 1e-12 else math.inf
    return float(abs(mean) / (spread / math.sqrt(len(values))))


def twin(differences: Floats) -> list[float]:
    """Return step-down p from all sign patterns, by loops and by the definition."""
    columns = range(differences.shape[1])
    seen = [t_of(differences[:, column]) for column in columns]
    patterns = [
        [t_of(np.array(signs) * differences[:, column]) for column in columns]
        for signs in product((1, -1), repeat=len(differences))
    ]

    def p_of(among: list[int], needed: float) -> float:
        reached = [max(row[column] for column in among) >= needed - 1e-9 for row in patterns]
        return sum(reached) / len(patterns)

    order = sorted(columns, key=lambda column: -seen[column])
    stepped_down, last = [0.0] * len(seen), 0.0
    for place, column in enumerate(order):
        last = max(last, p_of(order[place:], seen[column]))
        stepped_down[column] = last
    return stepped_down


def pairs_of(values: Floats) -> Floats:
    """Return the differences of all pairs of columns."""
    return np.column_stack([values[:, a] - values[:, b] for a, b in combinations(range(values.shape[1]), 2)])


@pytest.mark.parametrize("queries", [4, 7])
@pytest.mark.parametrize("seed", range(3))
def test_of_few_queries_it_is_its_slow_twin(queries: int, seed: int) -> None:
    for differences in (
        pairs_of(smooth(queries, 4, seed=seed)),
        stepped(queries, 4, seed=seed),
        smooth(queries, 4, seed=seed, mean=0.3),
    ):
        found = max_t(differences)
        np.testing.assert_allclose(found.p, twin(differences), rtol=1e-12)


@pytest.mark.parametrize("queries", [6, 40])
def test_of_one_pair_it_is_the_randomisation_test(queries: int) -> None:
    differences = smooth(queries)
    found = max_t(differences, draws=3_000, seed=5).p
    assert found == pytest.approx(Randomisation(draws=3_000).p_values(differences, seed=5))


def test_it_comes_between_no_correction_and_bonferroni() -> None:
    differences = pairs_of(smooth(40, 6) + np.linspace(0, 0.2, 6))
    found = max_t(differences, draws=4_000)
    alone = Randomisation(draws=4_000).p_values(differences)
    assert (found.p >= alone - 0.01).all()
    assert (found.p <= np.minimum(1, alone * len(alone)) + 0.01).all()
    order = np.argsort(-np.abs([t_of(column) for column in differences.T]))
    assert (np.diff(found.p[order]) >= 0).all()


@examples(40)
@given(st.integers(0, 1000), st.sampled_from([0.8, 0.95]), st.sampled_from([6, 12, 30]))
def test_intervals_exclude_zero_exactly_where_p_is_below_alpha(seed: int, level: float, queries: int) -> None:
    make = smooth if seed % 2 else stepped
    values = make(queries, 4, seed=seed) + np.linspace(0, 0.4, 4)
    found = max_t(pairs_of(values), draws=399, seed=seed)
    low, high = found.limits(level)
    assert (((low > 0) | (high < 0)) == (found.p < 1 - level)).all()
    means = pairs_of(values).mean(axis=0)
    assert (low <= means + 1e-12).all()
    assert (means - 1e-12 <= high).all()


def test_the_reach_of_one_pair_is_near_that_of_t() -> None:
    found = max_t(smooth(60), draws=20_000)
    assert found.critical_value(0.95) == pytest.approx(2.0, abs=0.08)
    assert max_t(smooth(60, 50), draws=2_000).critical_value(0.95) > 3
    assert max_t(smooth(60, 3), draws=18).critical_value(0.95) == math.inf
    assert max_t(smooth(4, 3)).critical_value(0.95) == math.inf


def largest_t(differences: Floats, groups: Integers, counts: Floats) -> float:
    """Return the largest |t| of a resample of groups about the observed means, by loops."""
    largest = 0.0
    for column in differences.T:
        mean = np.nanmean(column)
        drawn = [
            column[(groups == group) & ~np.isnan(column)] - mean
            for group, count in enumerate(counts.tolist())
            for _ in range(int(count))
        ]
        drawn = [values for values in drawn if len(values)]
        if len(drawn) < 2:
            return math.inf
        queries = sum(len(values) for values in drawn)
        middle = sum(values.sum() for values in drawn) / queries
        squares = sum((values - middle).sum() ** 2 for values in drawn)
        if squares < 1e-20:
            largest = max(largest, 0.0 if abs(middle) < 1e-10 else math.inf)
        else:
            error = math.sqrt(len(drawn) / (len(drawn) - 1) * squares) / queries
            largest = max(largest, abs(middle) / error)
    return largest


@pytest.mark.parametrize("kind", ["queries", "missing", "groups"])
def test_the_reach_is_the_quantile_of_the_largest_t_of_resamples(kind: str) -> None:
    differences = smooth(16, 3, seed=4)
    groups = np.arange(16) // 2 if kind == "groups" else np.arange(16)
    if kind == "groups":
        groups[0] = 7  # sizes 1, 2, ..., 3
    if kind == "missing":
        differences[[0, 3], [1, 2]] = np.nan
    found = max_t(differences, draws=398, seed=2, groups=groups if kind == "groups" else None)
    drawn = weights(np.random.default_rng([2, 0]), 398, groups.max() + 1)
    largest = sorted((largest_t(differences, groups, row) for row in drawn), reverse=True)
    assert found.critical_value(0.95) == pytest.approx(largest[18])  # (1 + 19) / 399


def test_with_groups_their_sums_are_flipped() -> None:
    differences = smooth(12, 3)
    groups = np.repeat(np.arange(6), 2)
    sums = differences[::2] + differences[1::2]
    np.testing.assert_allclose(max_t(differences, groups=groups).p, max_t(sums).p)
    low, high = max_t(differences, groups=groups).limits(0.8)
    other = max_t(sums / 2).limits(0.8)
    np.testing.assert_allclose([low, high], other, rtol=1e-9)


def test_missing_queries_equal_and_empty_columns() -> None:
    differences = np.column_stack(
        [np.full(8, 0.1), np.zeros(8), np.full(8, np.nan), holed(smooth(8))[:, 0], smooth(8, seed=3)[:, 0]]
    )
    found = max_t(differences)
    assert found.p[0] == 2 / 2**8
    assert found.p[1] == 1.0
    assert math.isnan(found.p[2])
    low, high = found.limits(0.95)
    assert (low[0], high[0]) == pytest.approx((0.1, 0.1))
    assert (low[1], high[1]) == (0.0, 0.0)
    assert np.isnan([low[2], high[2]]).all()
    assert np.isnan(max_t(np.full((3, 2), np.nan)).p).all()


def test_the_family_error_and_the_simultaneous_coverage_hold() -> None:
    errors = covered = 0
    times = 200
    for seed in range(times):
        values = np.random.default_rng(seed).normal(0, 0.2, (30, 6))
        found = max_t(pairs_of(values), draws=299, seed=seed)
        errors += bool((found.p <= 0.05).any())
        low, high = max_t(pairs_of(values + np.arange(6) / 10), draws=299, seed=seed).limits(0.95)
        truth = pairs_of(np.arange(6)[None] / 10)[0]
        covered += bool(((low <= truth) & (truth <= high)).all())
    deviation = math.sqrt(0.05 * 0.95 / times)
    assert errors / times < 0.05 + 3 * deviation
    assert 0.95 - 3 * deviation < covered / times


def test_threads_change_nothing_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = pairs_of(smooth(40, 5, mean=0.02))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = max_t(differences, draws=5_000).p.tolist()
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert max_t(differences, draws=5_000).p.tolist() == alone
    assert max_t(differences, draws=5_000, seed=1).p.tolist() != alone


def test_it_finds_more_than_holm_where_pairs_depend_on_each_other() -> None:
    differences = pairs_of(smooth(50, 12, seed=1) + np.linspace(0, 0.25, 12))
    p = np.sort(T().p_values(differences))
    holm = int((np.maximum.accumulate(p * np.arange(len(p), 0, -1)) <= 0.05).sum())
    assert (max_t(differences, draws=5_000).p <= 0.05).sum() >= holm
