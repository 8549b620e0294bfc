"""Two shares of users: statsmodels and SciPy are the outside check, the definitions the slow twin."""

from __future__ import annotations

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import proportion

from leadline.errors import UsageError
from leadline.online.proportions import (
    Limits,
    Proportion,
    fisher_p,
    hybrid,
    is_small,
    lift,
    newcombe,
    pooled_z,
    proportion_of,
    two_sided,
    wilson,
)

SHARES = st.integers(1, 400).flatmap(
    lambda users: st.builds(Proportion, st.integers(0, users), st.just(users))
)


def test_the_pooled_z_is_worked_by_hand() -> None:
    # 10 of 100 and 20 of 100: p = 0.15, spread = sqrt(0.15 * 0.85 * 0.02) = 0.050498
    assert round(pooled_z(Proportion(10, 100), Proportion(20, 100)), 4) == round(0.1 / 0.0504975, 4)
    assert round(two_sided(1.959964), 4) == 0.05


@given(SHARES, SHARES)
def test_z_and_p_are_those_of_statsmodels(a: Proportion, b: Proportion) -> None:
    if not 0 < a.clicks + b.clicks < a.users + b.users:
        assert math.isnan(pooled_z(a, b))
        return
    z, p = proportion.proportions_ztest([b.clicks, a.clicks], [b.users, a.users])
    assert pooled_z(a, b) == pytest.approx(float(z), abs=1e-9)
    assert two_sided(pooled_z(a, b)) == pytest.approx(float(p), abs=1e-9)


@given(SHARES, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_that_of_statsmodels(one: Proportion, confidence: float) -> None:
    theirs = proportion.proportion_confint(one.clicks, one.users, 1 - confidence, "wilson")
    assert wilson(one, confidence) == pytest.approx(tuple(map(float, theirs)), abs=1e-9)


@given(SHARES, SHARES)
def test_newcombe_is_that_of_statsmodels(a: Proportion, b: Proportion) -> None:
    theirs = proportion.confint_proportions_2indep(
        b.clicks, b.users, a.clicks, a.users, method="newcomb", compare="diff"
    )
    assert newcombe(a, b) == pytest.approx(tuple(map(float, theirs)), abs=1e-9)


@given(SHARES, SHARES)
def test_at_the_limits_of_the_lift_the_difference_may_just_be_zero(a: Proportion, b: Proportion) -> None:
    value, *ends = lift(a, b)
    expected = (a.clicks + b.clicks) / (a.users + b.users) * min(a.users, b.users)
    if not a.clicks or expected < 5 - 1e-9:
        assert all(map(math.isnan, ends))
    elif expected > 5 + 1e-9:
        assert value == pytest.approx(b.rate / a.rate - 1)
        for low, end in zip((True, False), ends, strict=True):
            ratio = 1 + end
            times = hybrid(
                *(
                    Limits(rate, *limits)
                    for rate, limits in (
                        (ratio * a.rate, [ratio * limit for limit in wilson(a)]),
                        (b.rate, wilson(b)),
                    )
                )
            )
            assert times[not low] == pytest.approx(0, abs=1e-9 * (1 + ratio))


@pytest.mark.parametrize(("users", "rate"), [((20, 200), 0.95), ((50, 1000), 0.99), ((100, 100), 0.1)])
def test_the_interval_of_the_lift_holds_its_level_near_one(users: tuple[int, int], rate: float) -> None:
    rng = np.random.default_rng(4)
    clicks = zip(*(rng.binomial(number, rate, 3000).tolist() for number in users), strict=True)
    ends = [lift(Proportion(a, users[0]), Proportion(b, users[1]))[1:] for a, b in clicks]
    held = [low <= 0 <= high for low, high in ends if not math.isnan(low)]
    assert len(held) > 2900
    assert 0.93 < np.mean(held) < 0.97


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_fisher_sums_the_tables_that_are_no_likelier(first: int, second: int, data: st.DataObject) -> None:
    a = Proportion(data.draw(st.integers(0, first)), first)
    b = Proportion(data.draw(st.integers(0, second)), second)
    clicks = a.clicks + b.clicks
    possible = range(max(0, clicks - second), min(first, clicks) + 1)
    chances = {k: comb(first, k) * comb(second, clicks - k) for k in possible}
    seen = sum(chance for chance in chances.values() if chance <= chances[a.clicks])
    assert fisher_p(a, b) == pytest.approx(seen / sum(chances.values()))


@given(SHARES, SHARES)
def test_arms_may_change_places(a: Proportion, b: Proportion) -> None:
    low, high = newcombe(a, b)
    assert newcombe(b, a) == pytest.approx((-high, -low), abs=1e-12)
    assert fisher_p(a, b) == pytest.approx(fisher_p(b, a))
    assert -1 <= low <= b.rate - a.rate + 1e-12
    assert b.rate - a.rate - 1e-12 <= high <= 1


def test_newcombe_holds_its_level_with_few_clicks() -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(1000):
        a, b = (Proportion(int(rng.binomial(300, rate)), 300) for rate in (0.01, 0.02))
        low, high = newcombe(a, b)
        inside += low <= 0.01 <= high
    assert inside / 1000 > 0.93


def test_few_expected_users_make_counts_small() -> None:
    assert is_small(Proportion(0, 1000), Proportion(0, 1000))
    assert is_small(Proportion(1000, 1000), Proportion(999, 1000))
    assert not is_small(Proportion(50, 1000), Proportion(3, 1000))


@pytest.mark.parametrize(
    ("clicks", "users", "says"),
    [
        (5, 4, r"more clicks \(5\) than users \(4\)"),
        (0, 0, "users must be at least 1"),
        (-1, 4, "clicks must be"),
        (1.5, 4, "not 1.5"),
    ],
)
def test_counts_that_cannot_be_are_refused(clicks: int, users: int, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        proportion_of(clicks, users)


def test_more_users_than_the_exact_test_can_count_are_refused() -> None:
    assert proportion_of(1, 2_000_000_000).users == 2_000_000_000
    with pytest.raises(UsageError, match="not 2,000,000,001"):
        proportion_of(1, 2_000_000_001)
