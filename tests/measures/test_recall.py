"""Recall."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_share_of_the_relevant_documents_that_were_found() -> None:
    assert of("R@2").of([1, 0, 1], judged=[1, 1, 1, 0]) == 1 / 3
    assert of("R").of([1, 0, 1], judged=[1, 1, 1, 0]) == 2 / 3


def test_a_cutoff_beyond_the_list_changes_nothing() -> None:
    assert of("R@1000").of([1, 0, 1]) == of("R").of([1, 0, 1]) == 1


def test_an_empty_list_has_0_and_nothing_relevant_is_undefined() -> None:
    assert of("R").of([], judged=[1]) == 0
    assert undefined(of("R").of([0]))
    assert undefined(of("R@5").of([], judged=[0]))


def test_a_level_decides_what_is_relevant() -> None:
    assert of("R(rel=2)").of([1, 2], judged=[1, 2, 3]) == 1 / 2
    assert of("R(rel=0.5)@1").of([0.5, 1, -1]) == 1 / 2


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("R@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 0


def test_it_equals_its_oracle() -> None:
    agree("R", "R@1", "R@3", "R(rel=2)@2", "R(rel=0.5)")
