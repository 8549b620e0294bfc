"""The BCa bootstrap interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from samples import edges, holed, skewed, smooth, stepped
from scipy import stats

from leadline.data.arrays import Floats
from leadline.stats.intervals import BCa, resampled

LEVELS = (0.5, 0.8, 0.95, 0.999)


def of_scipy(values: Floats, level: float, draws: int) -> tuple[float, float]:
    """Let SciPy make its interval from our resamples; where they equal the mean, to the last bit."""
    mean = np.mean(values)
    means = resampled(values[:, None], draws, 0)[:, 0]
    means = np.where(np.abs(means - mean) < 1e-14, mean, means)
    ours = SimpleNamespace(bootstrap_distribution=means)
    found = stats.bootstrap(
        (values,), np.mean, n_resamples=0, bootstrap_result=ours, method="BCa", confidence_level=level
    )
    return tuple(found.confidence_interval)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("make", [smooth, skewed, stepped])
@pytest.mark.parametrize("queries", [5, 50])
def test_it_equals_scipy_on_the_same_resamples(
    level: float, make: Callable[..., Floats], queries: int
) -> None:
    values = make(queries)[:, 0]
    found = BCa(draws=2_999).of(values, level=level)
    assert found == pytest.approx(of_scipy(values, level, 2_999), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("make", [smooth, skewed])
def test_a_ratio_equals_scipy_on_the_same_resamples(level: float, make: Callable[..., Floats]) -> None:
    first, second = np.abs(make(40, 2)).T
    means = resampled(np.column_stack([first, second]), 1_999, 0)

    def ratio(one: Floats, other: Floats, axis: int) -> Floats:
        return np.asarray(one.mean(axis=axis) / other.mean(axis=axis))

    expected = stats.bootstrap(
        (first, second),
        ratio,
        paired=True,
        n_resamples=0,
        method="BCa",
        confidence_level=level,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=means[:, 0] / means[:, 1]),
    ).confidence_interval
    found = BCa(draws=1_999).ratio(first, second, level=level)
    assert found == pytest.approx(tuple(expected), rel=1e-12)


def twin(estimates: list[float], seen: float, left: list[float], level: float) -> list[float]:
    """Take the formulas of Efron and Tibshirani one number at a time."""
    normal = NormalDist()
    below = sum(one < seen for one in estimates) + sum(one == seen for one in estimates) / 2
    bias = normal.inv_cdf(below / len(estimates))
    middle = sum(left) / len(left)
    cubes = sum((middle - one) ** 3 for one in left)
    squares = sum((middle - one) ** 2 for one in left)
    acceleration = cubes / (6 * squares**1.5)
    ordered, limits = sorted(estimates), []
    for share in ((1 - level) / 2, (1 + level) / 2):
        reach = bias + normal.inv_cdf(share)
        place = normal.cdf(bias + reach / (1 - acceleration * reach)) * (len(ordered) - 1)
        low = int(place)
        limits.append(ordered[low] + (ordered[low + 1] - ordered[low]) * (place - low))
    return limits


def test_it_equals_its_slow_twin() -> None:
    values = skewed(12, 3)
    low, high = BCa(draws=999).limits(values, level=0.9)
    means = resampled(values, 999, 0)
    for place, column in enumerate(values.T):
        left = [float(np.delete(column, one).mean()) for one in range(12)]
        expected = twin(means[:, place].tolist(), float(column.mean()), left, 0.9)
        assert [low[place], high[place]] == pytest.approx(expected, rel=1e-9)


def test_of_few_queries_it_is_shifted_towards_the_long_tail() -> None:
    values = skewed(30)[:, 0]
    low, high = BCa().of(values)
    assert high - values.mean() > 1.2 * (values.mean() - low)


def test_ties_by_rounding_count_as_ties() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.1, 0.3, 0.2])  # the mean, 0.2, comes in many sums
    found = BCa().of(values)
    assert found == pytest.approx(np.array(BCa().of(values * 10)) / 10, rel=1e-12)


def test_columns_with_the_same_queries_share_resamples_and_others_stand_alone() -> None:
    values = holed(smooth(30, 6))
    values[:, 1] = values[:, 0] + 0.25
    low, high = BCa(draws=499).limits(values)
    assert (low[1], high[1]) == pytest.approx((low[0] + 0.25, high[0] + 0.25), rel=1e-12)
    for place, column in enumerate(values.T):
        alone = BCa(draws=499).of(column[~np.isnan(column)])
        assert (low[place], high[place]) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_have_no_interval(name: str) -> None:
    assert np.isnan(BCa(draws=99).limits(edges()[name])).all()


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3])
def test_a_constant_gives_itself_twice(value: float) -> None:
    assert BCa(draws=99).of([value] * 7) == pytest.approx((value, value), rel=1e-15)


def test_a_ratio_of_equal_lists_is_one() -> None:
    values = skewed(10)[:, 0]
    assert BCa(draws=99).ratio(values, values) == (1.0, 1.0)


def test_a_ratio_to_a_mean_of_zero_is_undefined() -> None:
    first = np.array([0.1, 0.2, 0.3])
    assert np.isnan(BCa(draws=499).ratio(first, np.array([0.0, 0.0, 0.4]))).all()
    assert np.isnan(BCa(draws=499).ratio(first, np.array([0.0, 0.0, 0.0]))).all()


def test_a_ratio_takes_the_queries_that_both_lists_have() -> None:
    first, second = skewed(12, 2).T
    holes = (np.where(np.arange(12) == 3, np.nan, first), np.where(np.arange(12) == 8, np.nan, second))
    both = np.delete(first, [3, 8]), np.delete(second, [3, 8])
    assert BCa(draws=299).ratio(*holes) == BCa(draws=299).ratio(*both)
    assert all(map(math.isnan, BCa().ratio(np.array([0.1]), np.array([0.2]))))


def test_the_seed_decides_and_threads_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    values = skewed(40)[:, 0]
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = BCa().of(values)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert BCa().of(values) == alone
    assert BCa().of(values, seed=1) != alone
    assert BCa().of(values, seed=1) == pytest.approx(alone, rel=0.05)
