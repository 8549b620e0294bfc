"""The interval of the t test."""

from __future__ import annotations

import numpy as np
import pytest
from samples import edges, holed, smooth
from scipy import stats

from leadline.errors import UsageError
from leadline.stats.intervals import Student
from leadline.stats.paired_tests import T


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("queries", [2, 3, 50])
def test_it_equals_scipy(level: float, queries: int) -> None:
    values = smooth(queries, 10)
    expected = stats.t.interval(level, queries - 1, loc=values.mean(axis=0), scale=stats.sem(values, axis=0))
    np.testing.assert_allclose(Student().limits(values, level=level), expected, rtol=1e-9)


def test_it_equals_the_interval_of_the_paired_test_of_scipy() -> None:
    first, second = smooth(40, seed=1)[:, 0], smooth(40, seed=2)[:, 0]
    expected = stats.ttest_rel(first, second).confidence_interval(0.9)
    assert Student().of(first - second, level=0.9) == pytest.approx(tuple(expected), rel=1e-9)


def test_missing_queries_are_left_out() -> None:
    values = holed(smooth(30, 5))
    low, high = Student().limits(values)
    for place in range(5):
        column = values[:, place]
        alone = Student().of(column[~np.isnan(column)])
        assert (low[place], high[place]) == pytest.approx(alone, rel=1e-12)


def test_the_level_one_minus_p_ends_at_zero() -> None:
    values = smooth(25, mean=0.1)[:, 0]
    limits = Student().of(values, level=1 - T().p(values))
    assert min(map(abs, limits)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_have_no_interval(name: str) -> None:
    assert np.isnan(Student().limits(edges()[name])).all()


def test_a_constant_has_an_interval_of_no_width() -> None:
    assert Student().of([0.1] * 7) == pytest.approx((0.1, 0.1), rel=1e-15)


@pytest.mark.parametrize("level", [0, 0.49, 1, 95, float("nan"), "0.95"])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match=r"level must be a fraction \(at least 0.5 and below 1\)"):
        Student().of([0.1, 0.2], level=level)
