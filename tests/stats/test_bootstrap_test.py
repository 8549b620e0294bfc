"""The paired bootstrap test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import edges, holed, smooth, stepped

from leadline.stats.moments import BLOCK, weights
from leadline.stats.paired_tests import Bootstrap, T


def t_of(values: list[float]) -> float:
    """Return the absolute t of a list; of equal values 0 or infinite."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    if squares < 1e-20:
        return 0.0 if abs(mean) < 1e-10 else math.inf
    return abs(mean) / math.sqrt(squares / (len(values) - 1) / len(values))


def twin(values: list[float], draws: int, seed: int) -> float:
    """Resample one list at a time, with the weights that the test draws."""
    mean, more = sum(values) / len(values), 0
    for place, start in enumerate(range(0, draws, BLOCK)):
        generator = np.random.default_rng([seed, place])
        for row in weights(generator, min(BLOCK, draws - start), len(values)):
            drawn = [
                value - mean for value, times in zip(values, row, strict=True) for _ in range(int(times))
            ]
            more += t_of(drawn) >= t_of(values) * (1 - 1e-9)
    return (more + 1) / (draws + 1)


@pytest.mark.parametrize("queries", [2, 3, 8])
@pytest.mark.parametrize("seed", [0, 5])
def test_it_equals_its_slow_twin(queries: int, seed: int) -> None:
    for values in (smooth(queries)[:, 0], stepped(queries, seed=2)[:, 0]):
        found = Bootstrap(draws=2_500).p(values, seed=seed)
        assert found == pytest.approx(twin(values.tolist(), 2_500, seed), abs=1e-12)


def test_two_queries_by_hand() -> None:
    # t is 2 / 1; half of the resamples take one query twice, and their t is infinite
    assert Bootstrap(draws=20_000).p([1, 3]) == pytest.approx(0.5, abs=0.02)


def test_a_mean_of_zero_has_p_one() -> None:
    assert Bootstrap(draws=500).p([-1, 1]) == 1.0
    assert Bootstrap(draws=500).p([-0.25, 0.5, -0.25]) == 1.0


def test_it_is_near_the_t_test_when_there_are_many_queries() -> None:
    differences = smooth(300, 6, mean=0.015)
    found = Bootstrap(draws=4_000).p_values(differences)
    np.testing.assert_allclose(found, T().p_values(differences), atol=0.04)


def test_it_is_never_zero() -> None:
    assert Bootstrap(draws=999).p(smooth(50, mean=5.0)[:, 0]) == 1 / 1000


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_have_no_p(name: str) -> None:
    assert np.isnan(Bootstrap(draws=99).p_values(edges()[name])).all()


def test_identical_runs_have_p_one_and_constant_differences_that_of_the_sign_test() -> None:
    assert Bootstrap(draws=99).p([0.0] * 7) == 1.0
    for value in (0.1, -1 / 3, 1e-9):
        assert Bootstrap(draws=99).p([value] * 7) == 2 / 2**7


def test_with_groups_it_equals_its_slow_twin() -> None:
    values, groups = smooth(10)[:, 0], np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 5])  # 100/20 effective groups
    mean = values.mean()

    def t(taken: list[int]) -> float:
        residuals = [float((values[groups == group] - mean).sum()) for group in taken]
        sizes = [int((groups == group).sum()) for group in taken]
        middle = sum(residuals) / sum(sizes)
        squares = sum((one - size * middle) ** 2 for one, size in zip(residuals, sizes, strict=True))
        if squares < 1e-20:
            return 0.0 if abs(middle) < 1e-10 else math.copysign(math.inf, middle)
        return middle * sum(sizes) / math.sqrt(squares * len(taken) / (len(taken) - 1))

    squares = sum(float((values[groups == group] - mean).sum()) ** 2 for group in range(6))
    needed = float(mean * len(values) / math.sqrt(squares * 6 / 5))
    more = {"two-sided": 0, "greater": 0}
    for row in weights(np.random.default_rng([3, 0]), 1500, 6):
        drawn = t([group for group in range(6) for _ in range(int(row[group]))])
        more["two-sided"] += abs(drawn) >= abs(needed) * (1 - 1e-9)
        more["greater"] += drawn >= needed - 1e-9
    test = Bootstrap(draws=1500)
    found = test.p_values(values[:, None], seed=3, groups=groups)[0]
    assert found == pytest.approx((more["two-sided"] + 1) / 1501)
    above = test.p_values(values[:, None], seed=3, groups=groups, alternative="greater")[0]
    assert above == pytest.approx((more["greater"] + 1) / 1501)


@pytest.mark.parametrize("queries", [2, 3, 4])
def test_the_smallest_p_is_met_by_queries_that_are_far_from_zero(queries: int) -> None:
    test = Bootstrap(draws=20_000)
    found = test.p([1 + place / 100 for place in range(queries)])
    assert found >= test.smallest(queries) * 0.9
    assert test.smallest(0) == 1.0


def test_undefined_queries_are_left_out() -> None:
    differences, test = holed(smooth(20, 6)), Bootstrap(draws=500)
    expected = [test.p(column[~np.isnan(column)]) for column in differences.T]
    assert test.p_values(differences).tolist() == expected


def test_threads_change_nothing_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    differences, test = smooth(40, 3, mean=0.02), Bootstrap()
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = test.p_values(differences).tolist()
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert test.p_values(differences).tolist() == alone
    assert test.p_values(differences, seed=1).tolist() != alone
