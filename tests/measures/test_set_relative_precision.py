"""Relative precision of a set."""

from __future__ import annotations

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, count_found, count_relevant, divide

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Follow the definition: precision over the best precision of such a list."""
    return divide(count_found(case, rel, None), min(len(case.scores), count_relevant(case, rel)))


def test_it_agrees_with_its_slow_twin() -> None:
    agree("SetRelP", "SetRelP(rel=2)")


def test_a_short_list_of_relevant_documents_is_perfect_and_so_is_a_long_one_with_all() -> None:
    assert of("set_relative_P").of([1], judged=[1, 1, 1]) == 1
    assert of("SetRelP").of([0, 0, 1], judged=[1, 0, 0]) == 1


def test_it_is_undefined_where_nothing_is_relevant_or_retrieved() -> None:
    assert undefined(of("SetRelP").of([0]))
    assert undefined(of("SetRelP").of([], judged=[1]))
