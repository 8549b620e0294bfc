"""Normalised discounted cumulative gain."""

from __future__ import annotations

import math

import pytest

from agreement import agree, join, undefined, value, values
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_divides_by_the_gain_of_the_ideal_order() -> None:
    found = 1 / 1 + 3 / math.log2(3)
    ideal = 3 / 1 + 1 / math.log2(3)
    assert of("nDCG").of([1, 3, 0]) == pytest.approx(found / ideal, rel=1e-15)


def test_the_ideal_holds_documents_that_were_not_retrieved() -> None:
    assert of("nDCG").of([1], judged=[1, 3]) == pytest.approx(1 / (3 + 1 / math.log2(3)))


def test_the_cutoff_ends_the_ideal_too() -> None:
    assert of("nDCG@1").of([1, 3]) == 1 / 3
    assert of("nDCG@1").of([3, 1, 1]) == 1
    assert of("nDCG@1000").of([1, 3]) == of("nDCG").of([1, 3])


def test_the_best_order_has_exactly_1() -> None:
    for form in ("nDCG", "nDCG(gain=exp)", "nDCG(discount=jk)", "nDCG(gain=exp)@2"):
        assert of(form).of([3, 2.5, 1, 0.1]) == 1


def test_any_positive_grade_is_a_gain_relevant_or_not() -> None:
    assert of("nDCG").of([0, 0.5]) == pytest.approx(1 / math.log2(3), rel=1e-15)


def test_negative_grades_gain_nothing_and_never_lower_it() -> None:
    assert of("nDCG").of([-2, 1]) == of("nDCG").of([0, 1]) == of("nDCG").of([None, 1])


def test_it_is_undefined_where_there_is_nothing_to_gain() -> None:
    assert undefined(of("nDCG").of([0, -1]))
    assert of("nDCG").of([], judged=[1]) == 0


def test_grades_of_any_size_give_a_number_without_a_warning() -> None:
    assert of("nDCG(gain=exp)").of([1000, 2000]) == pytest.approx(1 / math.log2(3))
    assert of("nDCG(gain=exp)").of([2000, 1000]) == 1
    assert of("nDCG(gain=exp)").of([1e300, 1.0]) == 1
    assert of("nDCG").of([1e308, 1e308, 1e308]) == 1
    assert of("nDCG").of([1, 1e308]) == pytest.approx(1 / math.log2(3))


def test_large_grades_of_one_query_do_not_touch_another() -> None:
    small = Case({"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0})
    large = Case({"a": 1.0}, {"a": 1e308, "b": 1e308})
    found = values(of("nDCG(gain=exp)"), join({"q1": small, "q2": large}))
    assert found["q1"] == value(of("nDCG(gain=exp)"), small)


def test_the_level_of_ranx_is_refused_because_it_changes_the_gains() -> None:
    for text in ("nDCG(rel=2)", "ndcg@10-l2"):
        with pytest.raises(UsageError, match="ranx takes the level off the gains"):
            of(text)


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("nDCG"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1
    assert value(of("nDCG"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 1 / math.log2(3)


def test_it_equals_its_oracle() -> None:
    agree("nDCG", "nDCG@2", "nDCG(gain=exp)@3", "nDCG(discount=jk)", "nDCG(gain=exp,discount=jk)")
