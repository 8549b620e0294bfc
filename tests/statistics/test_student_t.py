"""The paired t test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import edges, holed, smooth, stepped
from scipy import stats

from leadline.statistics.student_t import T


def test_by_hand_with_two_degrees_of_freedom() -> None:
    # mean 2, deviation 1: t = 2 sqrt(3); with 2 degrees of freedom p = 1 - t / sqrt(2 + t^2)
    assert T().p([1, 2, 3]) == pytest.approx(1 - math.sqrt(12 / 14), abs=1e-14)


@pytest.mark.parametrize("queries", [2, 3, 10, 50, 400])
def test_it_equals_scipy(queries: int) -> None:
    first, second = smooth(queries, 20, seed=1), smooth(queries, 20, seed=2, mean=0.0)
    found = T().p_values(first - second)
    np.testing.assert_allclose(found, stats.ttest_rel(first, second).pvalue, rtol=1e-9)


def test_it_equals_scipy_on_steps_and_where_queries_are_missing() -> None:
    differences = holed(stepped(30, 20))
    expected = stats.ttest_1samp(differences, 0.0, nan_policy="omit").pvalue
    np.testing.assert_allclose(T().p_values(differences), expected, rtol=1e-9)


def test_very_small_p_do_not_become_zero() -> None:
    differences = smooth(60, mean=10.0)
    expected = stats.ttest_1samp(differences[:, 0], 0.0).pvalue
    assert 0 < expected < 1e-60
    assert T().p_values(differences)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_have_no_p(name: str) -> None:
    assert np.isnan(T().p_values(edges()[name])).all()


def test_identical_runs_have_p_one() -> None:
    assert T().p_values(edges()["identical runs"]).tolist() == [1.0]


@pytest.mark.parametrize("value", [0.1, -0.1, 1 / 3, 1e-9, 12345.6])
def test_a_constant_difference_has_no_p(value: float) -> None:
    assert math.isnan(T().p([value] * 7))
