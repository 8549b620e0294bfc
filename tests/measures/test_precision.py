"""Precision."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_share_of_relevant_documents_among_the_first_k() -> None:
    assert of("P@4").of([1, 0, 1, 0, 1]) == 1 / 2


def test_a_short_list_still_divides_by_k() -> None:
    assert of("P@10").of([1, 1]) == 2 / 10
    assert of("P@10").of([], judged=[1]) == 0


def test_without_a_cutoff_it_divides_by_the_length_of_the_list() -> None:
    assert of("P").of([1, None, 0, 1]) == 1 / 2


def test_without_a_cutoff_an_empty_list_is_undefined() -> None:
    assert undefined(of("P").of([], judged=[1]))


def test_it_is_0_where_nothing_is_relevant() -> None:
    assert of("P@5").of([0, 0]) == 0
    assert of("P").of([0, 0]) == 0


def test_a_level_decides_what_is_relevant() -> None:
    assert of("P(rel=2)@4").of([1, 2, 3, -1]) == 1 / 2
    assert of("P").of([0.5, 1.5]) == 1 / 2
    assert of("P(rel=0.5)").of([0.5, 1.5]) == 1


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("P@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1
    assert value(of("P@1"), Case({"10": 1.0, "9": 1.0}, {"9": 1.0})) == 1  # as bytes, not numbers


def test_it_equals_its_oracle() -> None:
    agree("P", "P@1", "P@3", "P@20", "P(rel=2)@2", "P(rel=0.5)")
