"""Intervals of ratios of means, of differences of relative improvements, and Welch's test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from leadline.stats.paired_tests import T
from leadline.stats.ratios import effect_ratio_limits, improvement_difference_limits, studentised_ratio, welch

RANDOM = np.random.default_rng(5)


def test_welch_is_that_of_scipy() -> None:
    first, second = RANDOM.normal(1, 2, 30), RANDOM.normal(0.5, 1, 12)
    found = welch(first, second, level=0.9)
    expected = stats.ttest_ind(first, second, equal_var=False)
    limits = expected.confidence_interval(0.9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((limits.low, limits.high), rel=1e-9)
    assert found.difference == pytest.approx(first.mean() - second.mean())
    assert welch(np.ones(3), np.ones(4)).p == 1.0
    assert math.isnan(welch(np.ones(1), first).p)


def test_a_paired_ratio_at_a_limit_has_the_p_of_the_level() -> None:
    original = RANDOM.normal(0.1, 0.1, 40)
    effect = 0.8 * original + RANDOM.normal(0, 0.05, 40)
    for limit in effect_ratio_limits(effect, original, paired=True):
        assert T().p(effect - limit * original) == pytest.approx(0.05, abs=1e-9)


def test_an_independent_ratio_at_a_limit_has_a_t_of_the_level() -> None:
    original, effect = RANDOM.normal(0.2, 0.1, 20), RANDOM.normal(0.15, 0.1, 100)
    for limit in effect_ratio_limits(effect, original, paired=False):
        error = math.sqrt(effect.var(ddof=1) / 100 + limit**2 * original.var(ddof=1) / 20)
        t = abs(effect.mean() - limit * original.mean()) / error
        assert t == pytest.approx(float(stats.t.ppf(0.975, 19)), rel=1e-9)


@pytest.mark.parametrize("paired", [True, False])
def test_there_are_limits_of_a_ratio_exactly_where_the_original_effect_is_significant(
    *, paired: bool
) -> None:
    for mean in np.linspace(0, 0.2, 21):
        original = RANDOM.normal(mean, 0.2, 25)
        limits = effect_ratio_limits(RANDOM.normal(0.1, 0.2, 25), original, paired=paired)
        assert (T().p(original) < 0.05) == math.isfinite(limits[0]) == math.isfinite(limits[1])


def test_a_difference_of_improvements_is_linear_where_the_baselines_are_constant() -> None:
    base = np.full(10, 0.5)
    first, second = RANDOM.random((2, 10))
    low, high = improvement_difference_limits(((base, first), (base, second)), paired=True)
    expected = stats.ttest_rel(first / 0.5, second / 0.5).confidence_interval()
    assert (low, high) == pytest.approx((expected.low, expected.high))
    low, high = improvement_difference_limits(((base, first), (base, second)), paired=False)
    expected = stats.ttest_ind(first / 0.5, second / 0.5, equal_var=False).confidence_interval()
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_a_difference_of_improvements_has_no_limits_without_a_baseline() -> None:
    assert all(map(math.isnan, improvement_difference_limits(((np.zeros(3), np.ones(3)),) * 2, paired=True)))


def test_a_studentised_ratio_does_not_depend_on_the_unit() -> None:
    x, y = RANDOM.random((2, 30))
    first = studentised_ratio(x, y, draws=500)
    second = studentised_ratio(100 * x, 50 * y, draws=500)
    assert np.array(second) / 2 == pytest.approx(first)
    assert first[0] < x.mean() / y.mean() < first[1]


def test_a_studentised_ratio_has_no_upper_limit_where_almost_all_values_are_zero() -> None:
    x = np.zeros(20)
    x[0] = 1.0
    assert any(map(math.isnan, studentised_ratio(x, np.ones(20), draws=500)))
