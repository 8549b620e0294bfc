"""Ranks of means: tests of all pairs, intervals, groups, bootstrap, each beside a plain twin."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f as f_distribution

from leadline.data.arrays import Floats
from leadline.stats.moments import totals
from leadline.stats.paired_tests import T
from leadline.stats.ranks import (
    bootstrap_ranks,
    groups_from_best,
    mid_ranks,
    paired_t,
    rank_limits,
    share_kept,
)
from leadline.stats.simultaneous import Holm

numbers = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


def plain_ranks(means: list[float]) -> list[float]:
    """Return the rank of every value by counting those that are larger and those that are equal."""
    return [
        1
        + sum(other > one + 1e-9 for other in means)
        + (sum(abs(other - one) <= 1e-9 for other in means) - 1) / 2
        for one in means
    ]


@given(st.lists(numbers, min_size=1, max_size=9))
def test_ranks_count_the_larger_values_and_share_ties(values: list[float]) -> None:
    assert mid_ranks(np.array(values)).tolist() == plain_ranks(values)


def test_undefined_means_rank_last_together() -> None:
    assert mid_ranks(np.array([0.1, math.nan, 0.3, math.nan])).tolist() == [2.0, 3.5, 1.0, 3.5]


def test_means_that_differ_by_rounding_are_tied() -> None:
    assert mid_ranks(np.array([0.1 + 0.2, 0.3]), slack=1e-12).tolist() == [1.5, 1.5]
    assert mid_ranks(np.array([0.1 + 0.2, 0.3])).tolist() == [1.0, 2.0]


@given(st.integers(2, 12), st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_t_tests_of_all_pairs_are_those_of_the_differences(
    queries: int, runs: int, seed: int, stepped: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (queries, runs)) / 3.0 if stepped else rng.random((queries, runs))
    found = paired_t(values)
    pairs = list(itertools.combinations(range(runs), 2))
    expected = [T().p(values[:, first] - values[:, second]) for first, second in pairs]
    assert found.tolist() == pytest.approx(expected, rel=1e-7, nan_ok=True)


def test_runs_that_hardly_differ_are_tested_by_their_differences() -> None:
    base = np.linspace(0.1, 0.9, 20)
    noise = 1e-9 * np.array([1.0, 2.0, -1.0, 3.0] * 5)
    values = np.stack([base, base + noise, base + 1e-3], axis=1)
    expected = [T().p(-noise), T().p(np.full(20, -1e-3)), T().p(noise - 1e-3)]
    assert paired_t(values).tolist() == pytest.approx(expected, rel=1e-4)


def test_one_query_tests_nothing() -> None:
    assert np.isnan(paired_t(np.array([[0.1, 0.4]]))).all()


def test_intervals_and_groups_of_four_runs_worked_by_hand() -> None:
    # a and b are better than d, a is better than c: ranks a 1-2, b 1-3, c 2-4, d 3-4
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    low, high = rank_limits(better)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    # not different from a: b; of the rest c is best, and not different from d
    assert groups_from_best(np.arange(4), better).tolist() == [1, 1, 2, 2]


@given(st.integers(1, 7), st.integers(0, 10**6))
def test_intervals_and_groups_are_those_of_a_plain_count(runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    better = np.triu(rng.random((runs, runs)) < 0.4, 1)
    low, high = rank_limits(better)
    for run in range(runs):
        ahead = sum(bool(better[other, run]) for other in range(runs))
        behind = sum(bool(better[run, other]) for other in range(runs))
        assert (low[run], high[run]) == (1 + ahead, runs - behind)
    left, number = list(range(runs)), 0
    expected: dict[int, int] = {}
    while left:
        number += 1
        alike = [run for run in left if not better[left[0], run]]
        expected |= dict.fromkeys(alike, number)
        left = [run for run in left if run not in alike]
    assert groups_from_best(np.arange(runs), better).tolist() == [expected[run] for run in range(runs)]


def every_resample(rows: list[list[float]]) -> list[list[float]]:
    """Return the ranks in each of the n^n resamples of n queries."""
    size = len(rows)
    found = []
    for drawn in itertools.product(range(size), repeat=size):
        means = [sum(rows[query][run] for query in drawn) / size for run in range(len(rows[0]))]
        found.append(plain_ranks(means))
    return found


def shrunk(rows: list[list[float]]) -> list[list[float]]:
    """Shrink the means of runs by the lower limit of the share of their variance that is no error."""
    size, runs = len(rows), len(rows[0])
    means = [sum(row[run] for row in rows) / size for run in range(runs)]
    middle = sum(means) / runs
    of_query = [sum(row) / runs for row in rows]
    between = size * sum((mean - middle) ** 2 for mean in means) / (runs - 1)
    error = sum(
        (rows[query][run] - of_query[query] - means[run] + middle) ** 2
        for query in range(size)
        for run in range(runs)
    ) / ((runs - 1) * (size - 1))
    needed = f_distribution.ppf(0.95, runs - 1, (runs - 1) * (size - 1))
    keep = max(0.0, 1 - needed * error / between) if between else 0.0
    return [[row[run] - (1 - keep) * (means[run] - middle) for run in range(runs)] for row in rows]


@pytest.mark.parametrize("seed", range(4))
def test_bootstrap_ranks_come_near_those_of_all_resamples(seed: int) -> None:
    drawing = random.Random(seed)
    rows = [[drawing.choice([0.0, 0.5, 1.0]) for _ in range(3)] for _ in range(4)]
    everything, shrunken = every_resample(rows), every_resample(shrunk(rows))
    draws = 40_000
    found = bootstrap_ranks(np.array(rows), draws=draws, seed=seed)
    for run in range(3):
        counts = Counter(int(2 * ranks[run]) - 2 for ranks in everything)
        for place in range(5):
            share = counts[place] / len(everything)
            assert found.counts[run, place] / draws == pytest.approx(share, abs=0.015)
        best = sum((ranks[run] == min(ranks)) / ranks.count(min(ranks)) for ranks in shrunken) / len(shrunken)
        assert found.best[run] == pytest.approx(best, abs=0.015)
        expected = sum(ranks[run] for ranks in everything) / len(everything)
        assert found.expected[run] == pytest.approx(expected, abs=0.03)


def plain_limits(ranks: list[float], level: float) -> tuple[float, float]:
    """Return the smallest ranks that enough of the resamples do not exceed."""
    ordered = sorted(ranks)
    return tuple(  # type: ignore[return-value]
        next(one for one in ordered if sum(rank <= one for rank in ranks) >= share * len(ranks) - 1e-9)
        for share in ((1 - level) / 2, (1 + level) / 2)
    )


@given(
    st.lists(st.lists(st.integers(0, 8), min_size=9, max_size=9), min_size=1, max_size=1),
    st.sampled_from([0.5, 0.8, 0.95]),
)
def test_limits_are_quantiles_of_the_counts(rows: list[list[int]], level: float) -> None:
    from leadline.stats.ranks import RankDistribution

    counts = np.array(rows)
    if not counts.sum():
        counts[0, 0] = 1
    ranks = [1 + place / 2 for place in range(9) for _ in range(int(counts[0, place]))]
    limits = RankDistribution(counts, np.ones(1), 1.0).limits(level)
    assert tuple(limits[0].tolist()) == plain_limits(ranks, level)


@given(st.integers(2, 6), st.integers(2, 6), st.integers(0, 10**6))
def test_ranks_add_up_in_every_resample(queries: int, runs: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 3, (queries, runs)) / 2.0
    found = bootstrap_ranks(values, draws=50, seed=seed)
    assert found.counts.sum(axis=1).tolist() == [50] * runs
    assert found.expected.sum() == pytest.approx(runs * (runs + 1) / 2)
    assert found.best.sum() == pytest.approx(1.0)


def test_equal_runs_have_equal_distributions_and_halves_of_the_first_place() -> None:
    column = np.random.default_rng(0).random(30)
    found = bootstrap_ranks(np.stack([column, column, column - 1], axis=1), draws=200)
    assert found.best.tolist() == [0.5, 0.5, 0.0]
    assert found.expected.tolist() == [1.5, 1.5, 3.0]
    assert found.limits().tolist() == [[1.5, 1.5], [1.5, 1.5], [3.0, 3.0]]


def test_queries_of_a_group_are_drawn_together() -> None:
    # two groups of two queries each: as two queries of their sums
    values = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found = bootstrap_ranks(values, draws=20_000, groups=np.array([0, 0, 1, 1]))
    assert (found.counts[0] / 20_000).tolist() == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


def test_a_query_outside_the_mean_of_a_run_does_not_count_for_it() -> None:
    values = np.array([[0.6, 0.5], [0.6, 0.5], [math.nan, 1.0]])
    rng, held = np.random.default_rng(0), []
    for _ in range(4000):
        drawn = values[rng.integers(0, 3, 3)]
        sizes = (~np.isnan(drawn)).sum(axis=0)
        with np.errstate(invalid="ignore"):
            lead = np.nansum(drawn[:, 0]) / sizes[0] + 1 / 15 - np.nansum(drawn[:, 1]) / sizes[1]
        held.append(0.5 if abs(lead) < 1e-9 else float(lead > 0))
    found = bootstrap_ranks(values, draws=20_000)  # the means, 3/5 and 2/3, are shrunk to the same
    assert found.best[0] == pytest.approx(float(np.mean(held)), abs=0.03)


def test_runs_that_are_not_told_apart_are_equally_likely_the_best() -> None:
    rng = np.random.default_rng(0)
    close, apart = rng.normal(0, 1, (20, 4)), rng.normal(0, 1, (20, 4)) + np.array([3.0, 0.0, 0.0, 0.0])
    assert share_kept(totals(close)) == 0
    assert bootstrap_ranks(close, draws=2000).best.tolist() == pytest.approx([0.25] * 4, abs=0.1)
    assert bootstrap_ranks(apart, draws=2000).best[0] > 0.95
    assert share_kept(totals(apart), level=0.99) < share_kept(totals(apart), level=0.9)


def test_shares_of_groups_of_one_size_are_those_of_their_means() -> None:
    values, groups = np.random.default_rng(2).normal(0, 1, (30, 3)) + np.arange(3), np.arange(30) % 6
    of_groups = np.stack([values[groups == group].mean(axis=0) for group in range(6)])
    assert 0 < share_kept(totals(values, groups)) == pytest.approx(share_kept(totals(of_groups)))


def test_the_same_seed_gives_the_same_distribution() -> None:
    values = np.random.default_rng(0).random((10, 4))
    again = [bootstrap_ranks(values, draws=3000, seed=seed).counts.tolist() for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def simulated(values: Floats, redraws: int) -> float:
    """Return how often the intervals of Holm's tests hold all true ranks over redraws of the rows."""
    truth = values.mean(axis=0)
    pairs = np.triu_indices(values.shape[1], k=1)
    rng, held = np.random.default_rng(3), 0
    for _ in range(redraws):
        drawn = values[rng.integers(0, len(values), len(values))]
        means = drawn.mean(axis=0)
        better = np.zeros((values.shape[1],) * 2, dtype=bool)
        for first, second, p in zip(*pairs, Holm().corrected(paired_t(drawn)), strict=True):
            if p < 0.05:
                ahead = (first, second) if means[first] > means[second] else (second, first)
                better[ahead] = True
        low, high = rank_limits(better)
        ranks = [1 + int((truth > one + 1e-12).sum()) for one in truth]
        last = [len(truth) - int((truth < one - 1e-12).sum()) for one in truth]
        held += bool((low <= ranks).all() and (high >= last).all())
    return held / redraws


def test_the_intervals_hold_all_true_ranks_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, (40, 8)) + np.repeat([0.0, 0.3, 0.6, 1.2], 2)
    assert simulated(values, 150) >= 0.93
