"""Assignment of users: stable, as large as asked, nested in the fraction, independent by salt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.online.abtest import arm_of

USERS = [f"user{place}" for place in range(20_000)]


def variant(fraction: float, salt: str) -> set[str]:
    return {user for user in USERS if arm_of(user, fraction=fraction, salt=salt) == "variant"}


def test_the_same_user_gets_the_same_arm_on_any_machine() -> None:
    assert [arm_of(user, fraction=0.5, salt="s") for user in ("ann", "ben", "cat", "dän")] == [
        "control",
        "control",
        "variant",
        "variant",
    ]


@pytest.mark.parametrize("fraction", [0.01, 0.05, 0.1, 0.5])
def test_the_variant_gets_its_share(fraction: float) -> None:
    spread = (fraction * (1 - fraction) * len(USERS)) ** 0.5
    assert abs(len(variant(fraction, "a")) - fraction * len(USERS)) < 4 * spread


def test_a_larger_share_keeps_who_is_in_and_another_salt_draws_others() -> None:
    small, large, other = variant(0.05, "a"), variant(0.1, "a"), variant(0.05, "b")
    assert small < large
    assert abs(len(small & other) - 0.05 * 0.05 * len(USERS)) < 4 * (0.0025 * len(USERS)) ** 0.5


@given(st.text(), st.text())
def test_any_text_is_a_user(user: str, salt: str) -> None:
    assert arm_of(user, fraction=0.3, salt=salt) in ("control", "variant")


@pytest.mark.parametrize("fraction", [0, 1, -0.1, float("nan")])
def test_a_share_is_between_nothing_and_all(fraction: float) -> None:
    with pytest.raises(UsageError, match="fraction"):
        arm_of("ann", fraction=fraction, salt="s")
