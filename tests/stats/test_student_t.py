"""The paired t test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import edges, holed, smooth, stepped
from scipy import stats

from leadline.errors import UsageError
from leadline.stats import Alternative
from leadline.stats.intervals import Student
from leadline.stats.moments import means, totals
from leadline.stats.paired_tests import T


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
def test_a_constant_difference_has_the_p_of_the_sign_test(value: float) -> None:
    assert T().p([value] * 7) == 2 / 2**7
    assert T().p([value] * 7, alternative="greater" if value > 0 else "less") == 1 / 2**7
    assert T().p([value] * 7, alternative="less" if value > 0 else "greater") == 1.0


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_one_sided_p_are_those_of_scipy(alternative: Alternative) -> None:
    differences = smooth(20, 6)
    expected = stats.ttest_1samp(differences, 0.0, alternative=alternative).pvalue
    np.testing.assert_allclose(T().p_values(differences, alternative=alternative), expected, rtol=1e-9)


def test_another_alternative_is_refused() -> None:
    with pytest.raises(UsageError, match="alternative 'smaller'; expected two-sided, less or"):
        T().p([0.1, 0.2], alternative="smaller")  # type: ignore[arg-type]


def clustered_twin(values: list[float], groups: list[int]) -> tuple[float, int]:
    """Return t and the number of clusters, by loops."""
    mean = sum(values) / len(values)
    names = sorted(set(groups))
    squares = 0.0
    for name in names:
        residual = sum(one - mean for one, group in zip(values, groups, strict=True) if group == name)
        squares += residual**2
    error = math.sqrt(len(names) / (len(names) - 1) * squares) / len(values)
    return mean / error, len(names)


@given(st.lists(st.tuples(st.floats(-1, 1).map(lambda x: round(x, 3)), st.integers(0, 4)), min_size=2))
def test_with_groups_it_is_the_cluster_robust_t(rows: list[tuple[float, int]]) -> None:
    values, groups = [one for one, _ in rows], [group for _, group in rows]
    p = T().p_values(np.array(values)[:, None], groups=np.array(groups))[0]
    if len(set(groups)) < 2:
        assert math.isnan(p)
        return
    found = means(totals(np.array(values)[:, None], np.array(groups)))
    if found.error[0] > 1e-9:
        t, number = clustered_twin(values, groups)
        assert p == pytest.approx(2 * stats.t.sf(abs(t), number - 1), rel=1e-6, abs=1e-12)


def test_with_groups_it_equals_statsmodels() -> None:
    models = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(2)
    groups = generator.integers(0, 12, 60)
    differences = generator.normal(0.03, 0.2, 60) + 0.1 * generator.normal(size=12)[groups]
    fitted = models.OLS(differences, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    p = T().p_values(differences[:, None], groups=groups)
    low, high = Student().limits(differences[:, None], groups=groups)
    assert p[0] == pytest.approx(fitted.pvalues[0], rel=1e-9)
    assert (low[0], high[0]) == pytest.approx(tuple(fitted.conf_int()[0]), rel=1e-9)


def test_each_query_a_group_is_no_group() -> None:
    differences = holed(smooth(20, 5))
    groups = np.random.default_rng(1).permutation(20) * 3
    np.testing.assert_allclose(T().p_values(differences, groups=groups), T().p_values(differences), rtol=1e-9)


def test_copies_of_queries_in_a_group_say_nothing_new() -> None:
    differences = smooth(15, 4)
    copied, groups = np.repeat(differences, 3, axis=0), np.repeat(np.arange(15), 3)
    np.testing.assert_allclose(T().p_values(copied, groups=groups), T().p_values(differences), rtol=1e-9)
    assert (T().p_values(copied) < T().p_values(differences)).all()


@pytest.mark.parametrize("groups", [np.zeros(3, dtype=int), np.zeros(4)])
def test_groups_of_another_shape_or_type_are_refused(groups: Any) -> None:
    with pytest.raises(UsageError, match="expected one integer for each of 4 queries"):
        T().p_values(smooth(4), groups=groups)
