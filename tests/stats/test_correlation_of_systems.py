"""Correlation with repeated observations, and teams drawn again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leadline.stats.correlation import (
    ROWS,
    kendall,
    levels,
    over_queries,
    pearson,
    reliability,
    spearman,
    tau_ap,
)
from leadline.stats.moments import bootstrap_interval, drawn_rows, interval, resamples, weights

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=3)


@given(rows=PAIRS)
@pytest.mark.parametrize(
    ("ours", "theirs"), [(pearson, stats.pearsonr), (spearman, stats.spearmanr), (kendall, stats.kendalltau)]
)
def test_coefficients_are_scipys_on_repeated_observations(
    ours: object, theirs: object, rows: list[tuple[int, int, int]]
) -> None:
    x, y, times = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    copies = times.astype(np.int64)
    long = np.repeat(x, copies), np.repeat(y, copies)
    found = ours(x, y, copies)  # type: ignore[operator]
    if len(set(long[0])) < 2 or len(set(long[1])) < 2:
        assert np.isnan(found)
        return
    assert found == pytest.approx(theirs(*long).statistic, abs=1e-12)  # type: ignore[operator]


def test_teams_are_drawn_whole() -> None:
    teams = ["a", "b", "a", "c", "b", "a"]
    for times in resamples(teams, draws=50, seed=3):
        assert times[0] == times[2] == times[5]
        assert times[1] == times[4]
        assert times[0] + times[1] + times[3] == 3


@pytest.mark.parametrize("size", [1, 2, 7, 300])
def test_rows_drawn_at_once_are_those_drawn_one_by_one_and_weights_count_them(size: int) -> None:
    at_once = drawn_rows(np.random.default_rng([5, 1]), 20, size)
    generator = np.random.default_rng([5, 1])
    one_by_one = [drawn_rows(generator, 1, size)[0] for _ in range(20)]
    np.testing.assert_array_equal(at_once, one_by_one)
    counts = [np.bincount(rows, minlength=size) for rows in one_by_one]
    np.testing.assert_array_equal(weights(np.random.default_rng([5, 1]), 20, size), counts)


def test_the_same_seed_draws_the_same() -> None:
    teams = list("abcdefgh")

    def mean(times: np.ndarray) -> float:
        return float(np.average(np.arange(8), weights=times))

    first, second = (bootstrap_interval(mean, teams, draws=200, seed=1) for _ in range(2))
    assert first == second
    assert first != bootstrap_interval(mean, teams, draws=200, seed=2)
    assert first[0] < 3.5 < first[1]


def test_an_interval_leaves_undefined_draws_out() -> None:
    assert interval([1.0, np.nan, 1.0]) == (1.0, 1.0)
    assert np.isnan(interval([np.nan])).all()


def slow_tau_ap(estimate: list[float], truth: list[float]) -> float:
    """Follow the definition down a ranking without ties."""
    order = sorted(range(len(truth)), key=lambda place: -estimate[place])
    shares = [
        sum(truth[above] > truth[order[place]] for above in order[:place]) / place
        for place in range(1, len(order))
    ]
    return 2 * sum(shares) / len(shares) - 1


@given(order=st.permutations(range(7)))
def test_tau_ap_follows_its_definition(order: list[int]) -> None:
    estimate = np.arange(7, 0, -1.0)
    truth = np.array(order, dtype=np.float64)
    assert tau_ap(estimate, truth) == pytest.approx(slow_tau_ap(estimate.tolist(), truth.tolist()))


def test_tau_ap_is_1_for_the_same_order_and_minus_1_for_its_reverse() -> None:
    truth = np.array([0.1, 0.5, 0.3, 0.9])
    assert tau_ap(truth * 7, truth) == 1
    assert tau_ap(-truth, truth) == -1


def test_a_mistake_near_the_top_costs_tau_ap_more_than_one_near_the_end() -> None:
    estimate = np.arange(5, 0, -1.0)
    top, end = np.array([4, 5, 3, 2, 1.0]), np.array([5, 4, 3, 1, 2.0])
    assert kendall(estimate, top) == kendall(estimate, end)
    assert tau_ap(estimate, top) < tau_ap(estimate, end)


@given(rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1))
def test_tau_ap_counts_copies_as_they_stand(rows: list[tuple[int, int, int]]) -> None:
    estimate, truth, times = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    copies = times.astype(np.int64)
    long = tau_ap(np.repeat(estimate, copies), np.repeat(truth, copies))
    assert tau_ap(estimate, truth, copies) == pytest.approx(long, nan_ok=True)


def test_tau_ap_says_nothing_where_all_are_equal_in_truth() -> None:
    assert np.isnan(tau_ap(np.array([1.0, 2.0]), np.array([3.0, 3.0])))
    assert tau_ap(np.array([2.0, 2.0]), np.array([1.0, 3.0])) == 0


@given(size=st.integers(2, 40), value=st.sampled_from([0.1, 1 / 3, 1e160, 1e-200, 0.0]))
def test_a_column_of_one_value_has_no_correlation(size: int, value: float) -> None:
    column, other = np.full(size, value), np.arange(float(size))
    for times in (None, np.arange(size)):
        for x, y in ((column, column), (column, other), (other, column)):
            assert np.isnan(pearson(x, y, times))
    assert np.isnan(pearson(np.append(column, 7.0), np.append(other, 9.0), np.append(np.ones(size, int), 0)))
    assert np.isnan(reliability(np.full((size, 3), value)))


@pytest.mark.parametrize("scale", [1e160, 1e-200])
def test_huge_and_tiny_values_have_the_correlation_of_their_shares(scale: float) -> None:
    x, y = np.random.default_rng(6).normal(size=(2, 12))
    assert pearson(scale * x, y / scale) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    table = np.random.default_rng(7).normal(size=(5, 4))
    assert reliability(scale * table) == pytest.approx(reliability(table))


def test_values_that_rounding_alone_parts_are_equal() -> None:
    means = np.array([0.1 + 0.2, 0.3, 0.5, 0.2])  # the first is larger by its last bit
    truth = np.array([2.0, 2.0, 3.0, 1.0])
    assert means[0] > means[1]
    assert kendall(means, truth) == spearman(means, truth) == 1.0
    assert tau_ap(means, truth) == 1.0
    assert levels(np.array([np.inf, 1.0, -np.inf, np.inf, 0.0, -0.0])).tolist() == [3, 2, 0, 3, 1, 1]


def test_small_values_are_told_apart_by_their_own_size() -> None:
    assert levels(np.array([1.0, 1e-20, 2e-20])).tolist() == [2, 0, 1]


@given(seed=st.integers(0, 1000), runs=st.integers(2, 12))
def test_coefficients_of_rows_are_those_of_each_row(seed: int, runs: int) -> None:
    generator = np.random.default_rng(seed)
    truth, estimate = generator.integers(0, 4, (2, 9, runs)) * 0.1  # ties
    truth[0], estimate[1] = 0.3, 0.1
    for name, one in (
        ("pearson", pearson),
        ("spearman", spearman),
        ("kendall", kendall),
        ("tau_ap", lambda x, y: tau_ap(y, x)),
    ):
        each = [one(x, y) for x, y in zip(truth, estimate, strict=True)]
        assert ROWS[name](truth, estimate) == pytest.approx(each, abs=1e-12, nan_ok=True)


def slow_limits(x: np.ndarray, y: np.ndarray, draws: int, seed: int, t: float) -> tuple[float, float]:
    """Follow the description of `over_queries` for Kendall's tau, query by query."""
    generator = np.random.default_rng([seed, 3])
    queries = len(x)
    chosen = generator.integers(0, queries, size=(draws, queries))
    once = [[list(row).count(query) for query in range(queries)] for row in chosen.tolist()]
    twice = [generator.multinomial(queries, np.array(times) / queries).tolist() for times in once]

    def tau(times: list[int]) -> float:
        copies = [query for query in range(queries) for _ in range(times[query])]
        return float(stats.kendalltau(x[copies].mean(axis=0).round(9), y[copies].mean(axis=0).round(9))[0])

    first, second = ([tau(times) for times in drawn] for drawn in (once, twice))
    m2, m3 = np.mean(first), np.mean(second)
    ends = m2 + 2 * (m2 - m3), m2 + np.sqrt(2) / (np.sqrt(3) - np.sqrt(2)) * (m2 - m3)
    half, value = 1.15 * t * np.std(first), tau([1] * queries)
    return max(min(min(ends) - half, value), -1), min(max(max(ends) + half, value), 1)


@pytest.mark.parametrize("seed", range(4))
def test_limits_over_queries_follow_their_description(seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.random((12, 6)) + np.linspace(0, 0.3, 6)
    y = x + generator.normal(0, 0.4, x.shape)
    found = over_queries(x, y, ["kendall"], draws=30, seed=seed)[0]
    assert found == pytest.approx(slow_limits(x, y, 30, seed, 2.2009851600))  # t of 11 degrees of freedom
    many = over_queries(x, y, ["tau_ap", "kendall"], draws=200, seed=seed)  # more than a block
    assert many[1] == pytest.approx(over_queries(x, y, ["kendall"], draws=200, seed=seed)[0])


def test_limits_over_queries_of_what_cannot_vary_or_is_undefined() -> None:
    x = np.random.default_rng(0).random((10, 5))
    assert over_queries(x, 2 * x, ["kendall", "pearson"], draws=20) == pytest.approx(np.ones((2, 2)))
    assert np.isnan(over_queries(x, np.ones_like(x), ["kendall", "tau_ap"], draws=20)[0]).all()


@pytest.mark.parametrize(("noise", "runs"), [(0.15, 12), (0.15, 40)])
def test_limits_over_queries_hold_the_correlation_of_the_population(noise: float, runs: int) -> None:
    # means of 30 queries are noisy, so that percentiles of resamples are far too low
    generator = np.random.default_rng(11)
    quality = np.linspace(0, 0.3, runs)
    x, y = (
        generator.normal(0.4, 0.25, (400, 1)) + quality + generator.normal(0, noise, (400, runs))
        for _ in range(2)
    )
    truth = kendall(x.mean(axis=0), y.mean(axis=0))
    held, percentiles, times = 0, 0, 60
    for seed in range(times):
        drawn = generator.integers(0, 400, 30)
        ((low, high),) = over_queries(x[drawn], y[drawn], ["kendall"], draws=100, seed=seed)
        held += int(low <= truth <= high)
        times_drawn = generator.multinomial(30, np.full(30, 1 / 30), size=100) / 30
        resampled = ROWS["kendall"](times_drawn @ x[drawn], times_drawn @ y[drawn])
        percentiles += int(np.quantile(resampled, 0.975) >= truth)
    assert held / times > 0.85
    assert percentiles / times < 0.5


@given(seed=st.integers(0, 1000), queries=st.integers(2, 9), runs=st.integers(2, 9))
def test_reliability_is_cronbachs_alpha(seed: int, queries: int, runs: int) -> None:
    values = np.random.default_rng(seed).random((queries, runs))
    items, total = values.var(axis=1, ddof=1).sum(), values.sum(axis=0).var(ddof=1)
    assert reliability(values) == pytest.approx(queries / (queries - 1) * (1 - items / total))


def test_reliability_of_one_query_or_of_equal_means_is_undefined() -> None:
    assert np.isnan(reliability(np.ones((1, 4))))
    assert np.isnan(reliability(np.ones((3, 4))))
