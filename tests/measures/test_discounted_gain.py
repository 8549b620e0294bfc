"""Discounted cumulative gain."""

from __future__ import annotations

import math

import pytest

from agreement import agree, value
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_a_gain_is_divided_by_the_logarithm_of_the_rank_and_one() -> None:
    assert of("DCG").of([3, 0, 2]) == 3 / 1 + 2 / 2
    assert of("DCG").of([0, 1]) == 1 / math.log2(3)


def test_in_the_form_of_the_lecture_ranks_1_and_2_are_not_discounted() -> None:
    assert of("DCG(discount=jk)").of([3, 2, 0, 1]) == 3 + 2 + 1 / 2


def test_exponential_gain_is_two_to_the_grade_less_one() -> None:
    assert of("DCG(gain=exp)").of([3, 0, 2]) == 7 / 1 + 3 / 2
    assert of("DCG(gain=exp)").of([0.5]) == pytest.approx(math.sqrt(2) - 1, rel=1e-15)


def test_the_cutoff_ends_the_sum() -> None:
    assert of("DCG@1").of([3, 3, 3]) == 3
    assert of("DCG@1000").of([3, 0, 2]) == of("DCG").of([3, 0, 2])


def test_negative_grades_and_unjudged_documents_gain_nothing() -> None:
    assert of("DCG").of([-3, None, 1]) == of("DCG").of([0, 0, 1])
    assert of("DCG(gain=exp)").of([-3, None, 1]) == of("DCG(gain=exp)").of([0, 0, 1])


def test_it_is_0_and_never_undefined_where_there_is_nothing_to_gain() -> None:
    assert of("DCG").of([]) == 0
    assert of("DCG").of([0, None]) == 0


@pytest.mark.parametrize("text", ["DCG", "DCG(gain=exp)", "DCG(discount=jk)@3"])
def test_gains_that_no_number_can_hold_are_refused_without_a_warning(text: str) -> None:
    with pytest.raises(UsageError, match="add up to more than 1e308; expected smaller grades"):
        of(text).of([1e308, 1e308, 1e308])


def test_the_largest_grade_with_exponential_gain_is_1023() -> None:
    assert of("DCG(gain=exp)").of([1023]) == 2.0**1023
    with pytest.raises(UsageError, match="smaller grades"):
        of("DCG(gain=exp)").of([1024])


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("DCG@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0})) == 2


def test_it_equals_its_oracle() -> None:
    agree("DCG", "DCG@2", "DCG(gain=exp)@3", "DCG(discount=jk)", "DCG(gain=exp,discount=jk)")
