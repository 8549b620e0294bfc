"""Count, mean and deviation of columns, and means over groups of queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import edges, holed, smooth

from leadline.data.arrays import Floats, Integers
from leadline.stats.intervals import BCa, Percentile, Student
from leadline.stats.intervals import Randomisation as Inverted
from leadline.stats.moments import FEWEST_GROUPS, means, moments, totals
from leadline.stats.paired_tests import Bootstrap, Randomisation, Sign, T
from leadline.stats.simultaneous import max_t


def test_they_equal_numpy_where_queries_are_missing() -> None:
    values = holed(smooth(40, 12))
    found = moments(values)
    assert found.number.tolist() == (~np.isnan(values)).sum(axis=0).tolist()
    np.testing.assert_allclose(found.mean, np.nanmean(values, axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.deviation, np.nanstd(values, axis=0, ddof=1), rtol=1e-13)
    np.testing.assert_allclose(found.error, found.deviation / np.sqrt(found.number), rtol=1e-15)


@pytest.mark.parametrize("value", [0.1, -0.7, 1 / 3, 1e-300, 1e9])
@pytest.mark.parametrize("queries", [2, 3, 7, 1000])
def test_equal_values_have_deviation_zero_whatever_their_sum_rounds_to(value: float, queries: int) -> None:
    assert moments(np.full((queries, 1), value)).deviation.tolist() == [0.0]


def test_a_small_spread_around_a_large_mean_is_no_rounding() -> None:
    found = moments(np.array([[1.0], [1.0 + 1e-9], [1.0 - 1e-9]]))
    assert found.deviation[0] == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "number", "mean", "deviation"),
    [
        ("no query", 0, np.nan, np.nan),
        ("all undefined", 0, np.nan, np.nan),
        ("one query", 1, 0.3, np.nan),
        ("one defined", 1, 0.3, np.nan),
        ("identical runs", 7, 0.0, 0.0),
    ],
)
def test_few_or_equal_values(name: str, number: int, mean: float, deviation: float) -> None:
    found = [float(part[0]) for part in moments(edges()[name])]
    np.testing.assert_array_equal(found, [number, mean, deviation])


def left_out(values: Floats, groups: Integers) -> tuple[float, float]:
    """Return the error of the mean by leaving out one group at a time, and the effective groups, by loops."""
    members = [values[groups == group] for group in sorted(set(groups.tolist()))]
    moved = 0.0
    for place in range(len(members)):
        rest = np.concatenate(members[:place] + members[place + 1 :])
        moved += (rest.mean() - values.mean()) ** 2
    sizes = [len(member) for member in members]
    number = len(members)
    return math.sqrt((number - 1) / number * moved), sum(sizes) ** 2 / sum(size**2 for size in sizes)


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 9)), min_size=6, max_size=40))
def test_errors_of_groups_are_those_of_leaving_each_out(rows: list[tuple[float, int]]) -> None:
    values, groups = np.array([value for value, _ in rows]), np.array([group for _, group in rows])
    found = means(totals(values[:, None], groups))
    if len(set(groups.tolist())) < 2:
        assert np.isnan(found.error[0])
        return
    error, effective = left_out(values, groups)
    assert found.effective[0] == pytest.approx(effective)
    assert found.mean[0] == pytest.approx(values.mean(), abs=1e-12)
    if found.effective[0] < FEWEST_GROUPS:
        assert np.isnan(found.error[0])
    else:
        assert found.error[0] == pytest.approx(error, rel=1e-6, abs=1e-12)
        assert found.deviation[0] == pytest.approx(error * math.sqrt(effective), rel=1e-6, abs=1e-12)


def test_groups_of_one_size_are_tested_by_their_means() -> None:
    values, groups = smooth(30, 4), np.arange(30) % 6
    of_groups = np.stack([values[groups == group].mean(axis=0) for group in range(6)])
    grouped, plain = means(totals(values, groups)), means(totals(of_groups))
    for one, other in zip(grouped, plain, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(T().p_values(values, groups=groups), T().p_values(of_groups))
    np.testing.assert_allclose(Student().limits(values, groups=groups), Student().limits(of_groups))


def test_below_five_effective_groups_nothing_is_told_apart() -> None:
    values = smooth(20, 2, mean=5.0)
    few, enough = np.minimum(np.arange(20), 7), np.arange(20) % 5  # 400/176 and 5
    for kind in (T(), Sign(), Randomisation(), Bootstrap(draws=99)):
        assert np.isnan(kind.p_values(values, groups=few)).all()
        assert not np.isnan(kind.p_values(values, groups=enough)).any()
    for interval in (Student(), Percentile(), BCa(), Inverted()):
        assert np.isnan(interval.limits(values, groups=few)).all()
        assert not np.isnan(interval.limits(values, groups=enough)).any()
    assert np.isnan(max_t(values, groups=few).p).all()


def test_groups_of_unequal_size_keep_the_size_of_the_test() -> None:
    # Zipf sizes, half of the variance between groups: .12 with one degree of freedom less than groups
    sizes = np.maximum(1, np.round(40 / np.arange(1, 21))).astype(int)
    groups, rng = np.repeat(np.arange(20), sizes), np.random.default_rng(8)
    values = rng.normal(size=(20, 2000))[groups] + rng.normal(size=(len(groups), 2000))
    assert (T().p_values(values, groups=groups) < 0.05).mean() < 0.075
