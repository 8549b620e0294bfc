"""How much of a list was judged."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_share_of_judged_documents_among_the_first_k() -> None:
    assert of("Judged@4").of([1, None, 0, None, 0]) == 1 / 2


def test_a_negative_grade_is_not_a_judgment() -> None:
    assert of("Judged@2").of([-1, 0]) == 1 / 2


def test_a_short_list_divides_by_its_own_length() -> None:
    assert of("Judged@10").of([0, None]) == 1 / 2
    assert of("Judged").of([0, None, 1]) == 2 / 3


def test_an_empty_list_is_undefined() -> None:
    assert undefined(of("Judged@10").of([], judged=[1]))
    assert undefined(of("Judged").of([], judged=[1]))


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Judged@1"), Case({"a": 1.0, "b": 1.0}, {"b": 0.0})) == 1


def test_it_equals_its_oracle() -> None:
    agree("Judged", "Judged@1", "Judged@3", "Judged@20")
