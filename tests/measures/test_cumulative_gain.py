"""Cumulative gain."""

from __future__ import annotations

import pytest

from agreement import agree, value
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_sum_of_the_grades() -> None:
    assert of("CG").of([3, 2, 0, 1]) == 6
    assert of("CG@2").of([3, 2, 0, 1]) == 5
    assert of("CG@100").of([3, 2, 0, 1]) == 6


def test_fractions_count_as_they_are() -> None:
    assert of("CG").of([0.25, None, 0.5]) == 0.75


def test_negative_grades_and_unjudged_documents_gain_nothing() -> None:
    assert of("CG").of([-2, None, 1]) == 1


def test_it_is_0_and_never_undefined_where_there_is_nothing_to_gain() -> None:
    assert of("CG").of([]) == 0
    assert of("CG").of([0, 0]) == 0
    assert of("CG").of([], judged=[1]) == 0


def test_gains_that_no_number_can_hold_are_refused() -> None:
    with pytest.raises(UsageError, match="CG: the gains add up to more than 1e308"):
        of("CG").of([1e308, 1e308])
    assert of("CG@1").of([1e308, 1e308]) == 1e308


def test_it_takes_no_level() -> None:
    with pytest.raises(UsageError, match="CG has no parameter 'rel'; a gain is a grade"):
        of("CG(rel=2)")


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("CG@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0})) == 2


def test_it_equals_its_oracle() -> None:
    agree("CG", "CG@1", "CG@3")
