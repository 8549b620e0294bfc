"""The inverted randomisation test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import holed, smooth, stepped

from leadline.stats.intervals import Randomisation, Student
from leadline.stats.paired_tests import Randomisation as RandomisationTest


def searched(differences: list[float], level: float, draws: int, seed: int = 0) -> tuple[float, float]:
    """Search the ends of the hypothetical means that the test does not reject, by bisection."""
    values = np.array(differences)
    test, mean = RandomisationTest(draws=draws), float(np.mean(values))

    def end(far: float) -> float:
        inside, outside = mean, far
        for _ in range(60):
            middle = (inside + outside) / 2
            kept = test.p_values((values - middle)[:, None], seed=seed)[0] >= 1 - level
            inside, outside = (middle, outside) if kept else (inside, middle)
        return inside

    return end(values.min() - 1), end(values.max() + 1)


@pytest.mark.parametrize("queries", [6, 9, 14])
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("draws", [400, 100_000])
def test_it_ends_where_the_test_begins_to_reject(queries: int, level: float, draws: int) -> None:
    differences = smooth(queries, seed=queries)[:, 0].tolist()
    found = Randomisation(draws=draws).of(differences, level=level, seed=4)
    assert found == pytest.approx(searched(differences, level, draws, seed=4), abs=1e-9)


def test_by_hand() -> None:
    # 16 pairs of patterns; p is 0.2 or more from the fourth pair on. The lesser means of two parts, rising:
    # of nothing (minus infinity), of {1}, of {1, 2}, and 2 of {2}, {1, 3} and {1, 2, 3}
    low, high = Randomisation().of([1, 2, 3, 4, 5], level=0.8)
    assert (low, high) == (2.0, 4.0)


@given(
    st.lists(st.tuples(st.integers(-4, 6), st.integers(0, 5)), min_size=3, max_size=16),
    st.booleans(),
    st.sampled_from([0.8, 0.95]),
    st.sampled_from([99, 1000]),
)
def test_zero_is_outside_exactly_where_the_test_rejects(
    rows: list[tuple[int, int]], grouped: bool, level: float, draws: int
) -> None:
    values = np.array([[one / 10] for one, _ in rows])
    groups = np.array([group for _, group in rows]) if grouped else None
    p = RandomisationTest(draws=draws).p_values(values, seed=2, groups=groups)[0]
    low, high = Randomisation(draws=draws).limits(values, level=level, seed=2, groups=groups)
    if not math.isnan(low[0]):
        assert (low[0] > 0 or high[0] < 0) == (p < 1 - level)


def test_it_is_near_the_t_interval_where_there_are_many_queries() -> None:
    differences = smooth(200, 3)
    found = np.array(Randomisation(draws=10_000).limits(differences))
    np.testing.assert_allclose(found, np.array(Student().limits(differences)), atol=0.003)


def test_too_few_queries_have_no_end() -> None:
    assert Randomisation().of([0.1, 0.2, 0.3, 0.4, 0.6]) == (-math.inf, math.inf)
    found = Randomisation().of([0.1, 0.2, 0.3, 0.4, 0.6, 0.7])
    assert found == pytest.approx((0.1, 0.7))  # 2 of 64 patterns
    assert Randomisation(draws=10).of(smooth(30)[:, 0]) == (-math.inf, math.inf)


def test_columns_do_not_touch_each_other_and_undefined_queries_are_left_out() -> None:
    differences, interval = holed(smooth(30, 5)), Randomisation(draws=2_000)
    alone = [interval.limits(differences[:, [place]]) for place in range(5)]
    low, high = interval.limits(differences)
    np.testing.assert_allclose(low, [one[0][0] for one in alone], rtol=1e-12)
    np.testing.assert_allclose(high, [one[1][0] for one in alone], rtol=1e-12)
    few = holed(smooth(12, 6))
    expected = [Randomisation().of(column[~np.isnan(column)]) for column in few.T]
    np.testing.assert_allclose(np.array(Randomisation().limits(few)).T, expected, rtol=1e-12)


def test_more_columns_than_are_handled_together_change_nothing() -> None:
    differences, interval = stepped(30, 3), Randomisation(draws=500)
    low, _ = interval.limits(np.tile(differences, 50))
    np.testing.assert_allclose(low, interval.limits(differences)[0].tolist() * 50, rtol=1e-12)
