"""Shares of users against the plan: chi-square as SciPy has it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leadline.errors import UsageError
from leadline.online.proportions import sample_ratio_test


@given(st.integers(0, 5000), st.integers(1, 5000), st.sampled_from([0.05, 0.5, 0.7]))
def test_it_is_the_chi_square_of_scipy_or_exact_with_few_users(a: int, b: int, planned: float) -> None:
    expected = [(a + b) * (1 - planned), (a + b) * planned]
    theirs = stats.chisquare([a, b], expected)
    found = sample_ratio_test((a, b), planned)
    p = theirs.pvalue if min(expected) >= 5 else stats.binomtest(b, a + b, planned).pvalue
    assert found.chi_square == pytest.approx(float(theirs.statistic))
    assert found.p == pytest.approx(float(p), abs=1e-12)


def test_a_lost_share_of_users_is_suspect() -> None:
    assert not sample_ratio_test((10_000, 10_100), 0.5).suspect
    assert sample_ratio_test((10_000, 9_400), 0.5).suspect
    with pytest.raises(UsageError, match="`--planned` must be"):
        sample_ratio_test((1, 1), 0)
