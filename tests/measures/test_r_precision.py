"""R-precision."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_precision_at_the_number_of_relevant_documents() -> None:
    assert of("Rprec").of([1, 0, 1, 1]) == 2 / 3
    assert of("Rprec").of([1, 0, 1, 1]) == of("P@3").of([1, 0, 1, 1])


def test_a_list_shorter_than_r_divides_by_r() -> None:
    assert of("Rprec").of([1], judged=[1, 1, 1, 1]) == 1 / 4
    assert of("Rprec").of([], judged=[1]) == 0


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("Rprec").of([0, 0]))


def test_a_level_decides_how_many_are_relevant() -> None:
    assert of("Rprec(rel=2)").of([2, 1, 2]) == 1 / 2
    assert of("Rprec").of([0.5, 1, -1]) == 0
    assert of("Rprec(rel=0.5)").of([0.5, 1, -1]) == 1


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Rprec"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 0


def test_it_equals_its_oracle() -> None:
    agree("Rprec", "Rprec(rel=2)", "Rprec(rel=0.5)")
