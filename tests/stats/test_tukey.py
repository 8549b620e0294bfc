"""Randomised Tukey HSD."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from samples import smooth, stepped
from scipy import stats

from leadline.data.arrays import Floats
from leadline.stats.paired_tests import Randomisation
from leadline.stats.simultaneous import tukey


def error(p: float, draws: int) -> float:
    """Return how far a share of draws may be off: five standard errors and the one that is added."""
    return float(5 * np.sqrt(p * (1 - p) / draws) + 2 / draws)


def differences(values: Floats) -> list[float]:
    """Return the differences of means of all pairs."""
    means = values.mean(axis=0)
    return [float(a - b) for place, a in enumerate(means) for b in means[place + 1 :]]


def spread(rows: list[tuple[float, ...]]) -> float:
    """Return the range of the means."""
    means = [float(sum(column)) / len(rows) for column in zip(*rows, strict=True)]
    return max(means) - min(means)


@pytest.mark.parametrize("make", [smooth, stepped])
@pytest.mark.parametrize("queries", [3, 6, 10])
def test_of_two_runs_it_is_the_randomisation_test(make: Callable[..., Floats], queries: int) -> None:
    values = make(queries, 2)
    expected = Randomisation().p(values[:, 0] - values[:, 1])
    found = tukey(values).p_values(differences(values))[0]
    assert found == pytest.approx(expected, abs=error(expected, 20_000))


@pytest.mark.parametrize("make", [smooth, stepped])
def test_of_three_runs_and_queries_it_comes_near_all_shuffles(make: Callable[..., Floats]) -> None:
    values = make(3, 3, seed=4)
    every = [spread(list(rows)) for rows in product(*(permutations(row) for row in values.tolist()))]
    assert len(every) == 6**3
    seen = differences(values)
    for one, found in zip(seen, tukey(values).p_values(seen), strict=True):
        expected = sum(drawn >= abs(one) - 1e-9 for drawn in every) / len(every)
        assert found == pytest.approx(expected, abs=error(expected, 20_000))


def test_of_many_runs_it_comes_near_a_plain_twin_with_other_draws() -> None:
    values = smooth(8, 6) + np.linspace(0, 0.25, 6)
    drawing = random.Random(7)
    drawn = [spread([tuple(drawing.sample(row, len(row))) for row in values.tolist()]) for _ in range(4_000)]
    seen = differences(values)
    for one, found in zip(seen, tukey(values).p_values(seen), strict=True):
        expected = sum(other >= abs(one) - 1e-9 for other in drawn) / len(drawn)
        assert found == pytest.approx(expected, abs=error(expected, 4_000) + error(expected, 20_000))


def test_shuffling_within_queries_keeps_the_pairing() -> None:
    generator = np.random.default_rng(3)
    hard = generator.uniform(0, 1, (40, 1))  # queries differ far more than runs do
    values = hard + np.array([0.0, 0.02, 0.05]) + generator.normal(0, 0.01, (40, 3))
    unpaired = stats.tukey_hsd(*values.T).pvalue
    paired = tukey(values, draws=5_000).p_values(differences(values))
    assert unpaired[0, 2] > 0.5
    assert paired.max() < 0.001


def test_it_is_more_careful_than_the_randomisation_test_of_a_pair() -> None:
    values = smooth(30, 8)
    seen = tukey(values, draws=4_000).p_values(differences(values))
    pairs = [values[:, a] - values[:, b] for a in range(8) for b in range(a + 1, 8)]
    alone = Randomisation(draws=4_000).p_values(np.column_stack(pairs))
    assert (seen >= alone - 0.02).all()
    assert seen.mean() > 1.5 * alone.mean()


def test_p_is_never_zero_and_falls_with_the_difference() -> None:
    ranges = tukey(smooth(20, 4), draws=999)
    found = ranges.p_values(np.linspace(0, 2, 50))
    assert found[0] == 1.0
    assert found[-1] == 1 / 1000
    assert (np.diff(found) <= 0).all()
    assert ranges.p_values([-0.1]).tolist() == ranges.p_values([0.1]).tolist()
    assert np.isnan(ranges.p_values([math.nan])).all()


def test_ties_by_rounding_count_as_equal() -> None:
    whole = np.round(stepped(12, 5) * 10)
    tenths = whole / 10
    found = tukey(tenths, draws=3_000).p_values(differences(tenths))
    assert found.tolist() == tukey(whole, draws=3_000).p_values(differences(whole)).tolist()


@pytest.mark.parametrize("make", [smooth, stepped])
@pytest.mark.parametrize("draws", [19, 20, 30, 99, 100, 999, 4_000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_a_difference_is_beyond_the_reach_exactly_when_its_p_is_small_enough(
    make: Callable[..., Floats], draws: int, level: float
) -> None:
    values = make(10, 4)
    ranges = tukey(values, draws=draws)
    reach, alpha = ranges.half_width(level), 1 - level + 1e-12
    assert ranges.p_values([reach])[0] > alpha
    assert ranges.p_values([reach + 1e-9])[0] <= alpha


def test_too_few_shuffles_reach_nothing() -> None:
    assert tukey(smooth(10, 4), draws=18).half_width(0.95) == math.inf
    assert math.isfinite(tukey(smooth(10, 4), draws=19).half_width(0.95))


def test_without_a_rarer_permutation_nothing_is_reached() -> None:
    assert tukey(smooth(4, 2)).half_width(0.95) == math.inf  # 2 of 16 patterns have the largest range
    assert tukey(smooth(1, 2)).half_width(0.95) == math.inf
    assert math.isfinite(tukey(smooth(6, 2)).half_width(0.95))
    assert tukey(np.repeat(smooth(4), 2, axis=1)).half_width(0.95) == 0


def test_the_order_of_the_runs_changes_nothing() -> None:
    values = smooth(10, 4)
    assert tukey(values, draws=99).drawn.tolist() == tukey(values[:, ::-1], draws=99).drawn.tolist()


def test_identical_runs_have_p_one() -> None:
    values = np.repeat(smooth(10), 3, axis=1)
    assert tukey(values, draws=99).p_values(differences(values)).tolist() == [1.0] * 3


def test_one_query_cannot_tell_two_runs_apart() -> None:
    assert tukey(np.array([[0.1, 0.9]]), draws=99).p_values([0.8]).tolist() == [1.0]


def test_threads_change_nothing_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    values = smooth(50, 20)  # five hundred shuffles a block
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = tukey(values, draws=2_000).drawn.tolist()
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert tukey(values, draws=2_000).drawn.tolist() == alone
    assert tukey(values, draws=2_000, seed=1).drawn.tolist() != alone


def test_the_values_are_left_as_they_were() -> None:
    values = smooth(5, 3)
    before = values.copy()
    tukey(values, draws=50)
    np.testing.assert_array_equal(values, before)
