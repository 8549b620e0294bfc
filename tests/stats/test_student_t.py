"""Quantiles of Student's t: closed forms, SciPy, and that they undo the distribution function."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import stdtrit

from leadline.stats.intervals import t_quantile, t_quantiles

SHARES = (0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 1 - 1e-6)


@pytest.mark.parametrize("share", SHARES)
def test_closed_forms_of_one_and_two_degrees_of_freedom(share: float) -> None:
    tail = 2 * share - 1
    assert t_quantile(1.0, share) == pytest.approx(math.tan(math.pi * tail / 2), rel=1e-10)
    assert t_quantile(2.0, share) == pytest.approx(tail * math.sqrt(2 / (1 - tail**2)), rel=1e-10)
    assert t_quantile(math.inf, share) == pytest.approx(stats.norm.ppf(share), rel=1e-12)


@pytest.mark.parametrize("share", SHARES)
def test_quantiles_are_those_of_scipy(share: float) -> None:
    degrees = [1.0, 1.5, 2.1, 3, 4, 7.3, 29, 49, 333.3, 999, 1000, 1001, 1e4, 1e6]
    found = t_quantiles(np.array(degrees), share)
    assert found == pytest.approx(stdtrit(degrees, share), rel=3e-11)  # SciPy before 1.17: to 2.2e-11
    assert t_quantiles(np.array(degrees), 1 - share) == pytest.approx(-found, rel=1e-9)


@given(st.floats(1, 2000), st.floats(0.51, 0.9999))
def test_the_distribution_function_of_a_quantile_is_its_probability(degrees: float, share: float) -> None:
    assert stats.t.cdf(t_quantile(degrees, share), degrees) == pytest.approx(share, abs=1e-12)


def test_no_quantile_without_degrees_of_freedom_and_the_median_is_zero() -> None:
    assert np.isnan(t_quantiles(np.array([0.0, -1.0, np.nan]), 0.975)).all()
    assert t_quantile(5.0, 0.5) == 0
    assert t_quantiles(np.array([[4.0, 9.0]]), 0.9).shape == (1, 2)
    assert t_quantiles(np.zeros(0), 0.9).shape == (0,)
