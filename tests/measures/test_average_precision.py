"""Average precision."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_mean_of_the_precision_at_every_relevant_document() -> None:
    assert of("AP").of([1, 0, 1, 0]) == (1 / 1 + 2 / 3) / 2


def test_a_relevant_document_that_was_not_retrieved_adds_0() -> None:
    assert of("AP").of([0, 1], judged=[1, 1, 1, 0]) == (1 / 2) / 3


def test_a_list_without_relevant_documents_has_0_and_so_has_an_empty_one() -> None:
    assert of("AP").of([0, None], judged=[0, 1]) == 0
    assert of("AP").of([], judged=[1]) == 0


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("AP").of([0, 0]))


def test_with_a_cutoff_it_still_divides_by_all_relevant_documents() -> None:
    assert of("AP@2").of([1, 0, 1]) == 1 / 2
    assert of("AP@1000").of([1, 0, 1]) == of("AP").of([1, 0, 1])


def test_on_request_it_divides_by_the_cutoff_if_that_is_smaller() -> None:
    assert of("AP(norm=min)@2").of([1, 1, 0], judged=[1, 1, 1, 0]) == 1
    assert of("AP(norm=min)@5").of([1, 1, 0], judged=[1, 1, 1, 0]) == 2 / 3
    assert of("AP(norm=min)").of([1, 0], judged=[1, 1, 0]) == of("AP").of([1, 0], judged=[1, 1, 0])


def test_negative_grades_and_fractions_below_the_level_are_not_relevant() -> None:
    assert of("AP").of([-1, 0.99, 1]) == 1 / 3
    assert of("AP(rel=0.5)").of([-1, 0.99, 1]) == (1 / 2 + 2 / 3) / 2
    assert of("AP(rel=2)").of([1, 2, 3]) == (1 / 2 + 2 / 3) / 2


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("AP"), Case({"a": 1.0, "b": 1.0, "c": 1.0}, {"b": 1.0})) == 1 / 2


def test_it_equals_its_oracle() -> None:
    agree("AP", "AP@2", "AP(rel=2)", "AP(rel=0.5)@3", "AP(norm=min)@3")
