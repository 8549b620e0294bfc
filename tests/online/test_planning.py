"""Users needed, power and detectable differences against statsmodels, and against each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

from leadline.errors import UsageError
from leadline.online.proportions import NORMAL, detectable, effect_size, users_for_difference, users_needed

RATES = st.floats(0.01, 0.6)
LIFTS = st.sampled_from([-0.3, -0.1, 0.05, 0.2, 0.5])
FRACTIONS = st.sampled_from([0.05, 0.3, 0.5])


def power(a: float, b: float, users: tuple[float, float]) -> float:
    """Return the power of a two-sided test of two proportions at 95 %."""
    shift = abs(effect_size(a, b)) / math.sqrt(1 / users[0] + 1 / users[1])
    critical = NORMAL.inv_cdf(0.975)
    return NORMAL.cdf(shift - critical) + NORMAL.cdf(-shift - critical)


@given(RATES, RATES)
def test_the_effect_size_is_that_of_statsmodels(a: float, b: float) -> None:
    assert effect_size(a, b) == pytest.approx(float(proportion_effectsize(b, a)), abs=1e-12)


@given(RATES, LIFTS, FRACTIONS)
def test_users_needed_are_those_of_statsmodels(rate: float, lift: float, fraction: float) -> None:
    a, b = users_needed(rate, lift, fraction=fraction)
    theirs = NormalIndPower().solve_power(
        abs(effect_size(rate, rate * (1 + lift))), alpha=0.05, power=0.8, ratio=fraction / (1 - fraction)
    )
    assert abs(a - float(theirs)) <= max(2, 1e-5 * a)
    assert abs(b - float(theirs) * fraction / (1 - fraction)) <= max(2, 1e-5 * b)


@given(RATES, LIFTS, FRACTIONS)
def test_so_many_users_have_the_power_asked_for(rate: float, lift: float, fraction: float) -> None:
    users = users_needed(rate, lift, fraction=fraction, power_wanted=0.9)
    assert power(rate, rate * (1 + lift), users) >= 0.9 - 1e-9
    fewer = (users[0] * 0.95, users[1] * 0.95)
    assert power(rate, rate * (1 + lift), fewer) < 0.9


@given(RATES, st.integers(100, 10**6))
def test_what_is_detectable_has_the_power_asked_for(rate: float, users: int) -> None:
    rise = detectable(rate, (users, users))
    if not math.isnan(rise):
        assert power(rate, rate + rise, (users, users)) == pytest.approx(0.8, abs=1e-4)


def test_the_rate_of_a_is_one_from_which_the_difference_is_possible() -> None:
    low, high = (
        0.108,
        0.603,
    )  # the interval of 3 clicks of 10 users; from 0.5 there is no way up or down by 0.6
    assert users_for_difference((low, high), 0.6) == users_for_difference((0.4, 0.4), 0.6)
    assert users_for_difference((0.45, 0.55), 0.6) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rate": 0, "lift": 0.1}, "the clickthrough rate must be above 0 and below 1"),
        ({"rate": 0.5, "lift": 0}, "a lift of 0"),
        ({"rate": 0.5, "lift": 1.5}, "a lift of 1.5"),
        ({"rate": 0.5, "lift": 1e-17}, "a lift of 1e-17"),
        ({"rate": 0.3, "lift": 2.3333334}, r"into 1\.00000002"),
        ({"rate": 0.5, "lift": 0.1, "fraction": 1}, "`--fraction` must be"),
        ({"rate": 0.5, "lift": 0.1, "power_wanted": 1}, "power must be"),
        ({"rate": 0.5, "lift": 0.1, "power_wanted": 0.02}, r"power must be above 0\.05 \(1 - confidence\)"),
        (
            {"rate": 0.5, "lift": 0.1, "power_wanted": 0.0123, "confidence": 0.9875},
            r"power must be above 0\.0125 \(1",
        ),
    ],
    ids=str,
)
def test_plans_that_cannot_be_are_refused(given: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        users_needed(**given)
