"""Interpolated precision at a recall level."""

from __future__ import annotations

import pytest

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


LIST = [1, 0, 1, 0, 0, 1]  # points: recall 1/3 at 1/1, 2/3 at 2/3, 3/3 at 3/6


def test_it_is_the_highest_precision_where_recall_has_reached_the_level() -> None:
    found = [of(f"IPrec@{level}").of(LIST) for level in ("0", "0.3", "0.34", "0.66", "0.67", "1")]
    assert found == [1, 1, 2 / 3, 2 / 3, 1 / 2, 1 / 2]


def test_a_later_point_may_lift_an_earlier_level() -> None:
    assert of("IPrec@0.1").of([0, 0, 0, 1, 1, 1]) == 3 / 6


def test_level_and_recall_are_compared_exactly() -> None:
    ten = [1.0] * 3 + [0.0] + [1.0] * 7
    assert of("IPrec@0.3").of(ten) == 1  # 3 of 10, though 0.1 * 3 > 0.3 in floating point
    assert of("IPrec@0.30000000000000004").of(ten) == 10 / 11


def test_levels_with_many_digits_do_not_overflow() -> None:
    many = [1.0] * 40000
    assert of("IPrec@0.3333333333333333").of(many) == 1
    assert of("IPrec@0.9999999999999999").of([*many[1:], 0.0, 1.0]) == 40000 / 40001


def test_it_is_0_where_recall_never_reaches_the_level() -> None:
    assert of("IPrec@0.6").of([1], judged=[1, 1]) == 0
    assert of("IPrec@0").of([0], judged=[0, 1]) == 0
    assert of("IPrec@0").of([], judged=[1]) == 0


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    for rule in ("standard", "printed-next", "printed-zero", "trec9", "trec10"):
        assert undefined(of(f"IPrec(rule={rule})@0.5").of([0]))


def test_the_printed_rules_look_at_one_tenth_of_recall_only() -> None:
    zero = [of(f"IPrec(rule=printed-zero)@{level}").of(LIST) for level in ("0.3", "0.4", "0.6")]
    after = [of(f"IPrec(rule=printed-next)@{level}").of(LIST) for level in ("0.3", "0.4", "0.6")]
    assert zero == [1, 0, 2 / 3]
    assert after == [1, 2 / 3, 2 / 3]


def test_both_ends_of_a_tenth_belong_to_it() -> None:
    five = [1, 0, 1, 1, 1, 1]  # recall 0.2 at 1/1, 0.4 at 2/3
    assert of("IPrec(rule=printed-zero)@0.1").of(five) == 1
    assert of("IPrec(rule=printed-zero)@0.2").of(five) == 1
    assert of("IPrec(rule=printed-zero)@0.3").of(five) == 2 / 3


def test_a_printed_level_after_the_last_point_is_0() -> None:
    for rule in ("printed-next", "printed-zero"):
        assert of(f"IPrec(rule={rule})@0.9").of([1, 0], judged=[1, 1, 0]) == 0


def test_a_level_of_relevance_decides_what_is_found() -> None:
    assert of("IPrec(rel=2)@1").of([1, 2, -1, 3]) == 1 / 2


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("IPrec@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 1 / 2


@pytest.mark.parametrize("rule", ["standard", "printed-next", "printed-zero", "trec9", "trec10"])
def test_it_equals_its_oracle(rule: str) -> None:
    agree(*(f"IPrec(rule={rule})@{tenth / 10}" for tenth in range(11)), f"IPrec(rule={rule})@0.25")
