"""The always-valid test: its error when one looks all the time, its formula, its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline.errors import UsageError
from leadline.online.proportions import (
    FIRST_LOOK,
    Proportion,
    SequentialTest,
    pooled_z,
    sequential_test,
    single_look,
    two_sided,
)


def log(users: int, rates: tuple[float, float], fraction: float, seed: int) -> tuple[object, object]:
    """Draw users as they come."""
    rng = np.random.default_rng(seed)
    arm = (rng.random(users) < fraction).astype(np.int64)
    return arm, (rng.random(users) < np.where(arm, rates[1], rates[0])).astype(np.float64)


def peek(users: int, rates: tuple[float, float], fraction: float, seed: int) -> SequentialTest:
    arm, clicked = log(users, rates, fraction, seed)
    return sequential_test(arm, clicked)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [0.03, 0.3])
@pytest.mark.parametrize("fraction", [0.5, 0.1])
def test_looking_after_every_user_errs_in_no_more_than_five_of_a_hundred(
    rate: float, fraction: float
) -> None:
    wrong = [bool(peek(3000, (rate, rate), fraction, seed).p[-1] < 0.05) for seed in range(400)]
    assert np.mean(wrong) <= 0.05


def test_the_plain_p_would_err_far_more_often() -> None:
    wrong = 0
    for seed in range(100):
        arm, clicked = log(3000, (0.3, 0.3), 0.5, seed)
        assert isinstance(arm, np.ndarray)
        assert isinstance(clicked, np.ndarray)
        for users in range(200, 3001, 100):
            a, b = (
                Proportion(int(clicked[:users][arm[:users] == side].sum()), int((arm[:users] == side).sum()))
                for side in (0, 1)
            )
            if two_sided(pooled_z(a, b)) < 0.05:
                wrong += 1
                break
    assert wrong / 100 > 0.15


@pytest.mark.parametrize("rates", [(0.2, 0.2), (0.2, 0.26)])
def test_the_band_holds_the_true_difference_at_every_look(rates: tuple[float, float]) -> None:
    true = rates[1] - rates[0]
    held = [
        bool(((found.low <= true) & (true <= found.high)).all())
        for found in (peek(3000, rates, 0.5, seed) for seed in range(200))
    ]
    assert np.mean(held) >= 0.93


def test_a_true_difference_is_seen() -> None:
    seen = [bool(peek(8000, (0.2, 0.25), 0.5, seed).p[-1] < 0.05) for seed in range(40)]
    assert np.mean(seen) > 0.9


def test_p_never_rises_and_nothing_is_said_before_twenty_clicks() -> None:
    arm, clicked = log(4000, (0.05, 0.08), 0.5, 5)
    assert isinstance(clicked, np.ndarray)
    found = sequential_test(arm, clicked)  # type: ignore[arg-type]
    assert (np.diff(found.p) <= 0).all()
    early = np.cumsum(clicked) < FIRST_LOOK
    assert (found.p[early] == 1).all()
    assert np.isinf(found.low[early]).all()
    assert np.isfinite(found.low[-1])


def test_one_look_is_worked_by_hand() -> None:
    a, b = Proportion(100, 1000), Proportion(150, 1000)
    p, low, high = single_look(a, b, effect=0.2)
    v = 0.125 * 0.875 * 0.002
    t = (0.2 * 0.125) ** 2
    ratio = math.sqrt(v / (v + t)) * math.exp(t * 0.05**2 / (2 * v * (v + t)))
    assert p == pytest.approx(1 / ratio)
    half = math.sqrt(2 * v * (v + t) / t * (0.5 * math.log((v + t) / v) + math.log(20)))
    assert (low, high) == pytest.approx((0.05 - half, 0.05 + half))


def test_the_interval_leaves_out_nothing_when_p_says_so() -> None:
    found = peek(6000, (0.2, 0.27), 0.5, 2)
    first = int(np.flatnonzero(found.p < 0.05)[0])
    assert found.low[first] > 0
    assert (found.low[:first] <= 0).all()


def test_no_user_is_no_look_and_a_bad_effect_is_refused() -> None:
    nothing = sequential_test(np.array([], dtype=np.int64), np.array([]))
    assert len(nothing.p) == 0
    with pytest.raises(UsageError, match="effect must be"):
        sequential_test(np.array([0]), np.array([1.0]), effect=0)
