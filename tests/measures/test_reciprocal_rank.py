"""Reciprocal rank."""

from __future__ import annotations

from agreement import agree, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_one_over_the_rank_of_the_first_relevant_document() -> None:
    assert of("RR").of([0, None, 1, 1]) == 1 / 3
    assert of("RR").of([1]) == 1


def test_beyond_the_cutoff_it_is_0() -> None:
    assert of("RR@2").of([0, 0, 1]) == 0
    assert of("RR@3").of([0, 0, 1]) == 1 / 3
    assert of("RR@1000").of([0, 0, 1]) == 1 / 3


def test_it_is_0_and_never_undefined_where_nothing_was_found_or_is_relevant() -> None:
    assert of("RR").of([], judged=[1]) == 0
    assert of("RR").of([0], judged=[0]) == 0


def test_a_level_decides_what_is_relevant() -> None:
    assert of("RR(rel=2)").of([1, -1, 2]) == 1 / 3
    assert of("RR").of([0.99, 1]) == 1 / 2


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("RR"), Case({"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0})) == 1 / 3


def test_it_equals_its_oracle() -> None:
    agree("RR", "RR@2", "RR(rel=2)", "RR(rel=0.5)@3")
