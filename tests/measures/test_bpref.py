"""Binary preference."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_each_relevant_document_loses_for_the_judged_ones_above_it() -> None:
    # R = 2, N = 3: nothing above the first, one above the second
    assert of("Bpref").of([1, 0, 1, 0, 0]) == (1 + (1 - 1 / 2)) / 2


def test_documents_without_a_judgment_are_skipped() -> None:
    assert of("Bpref").of([None, 1, None, 0, None, 1]) == of("Bpref").of([1, 0, 1])


def test_a_negative_grade_is_not_a_judgment() -> None:
    assert of("Bpref").of([-1, 1, 0, -2, 1]) == of("Bpref").of([1, 0, 1])


def test_no_more_than_r_others_count_against_a_document() -> None:
    assert of("Bpref").of([0, 0, 0, 1]) == 0
    assert of("Bpref").of([0, 1], judged=[0, 1, 1]) == (1 - 1 / 1) / 2


def test_without_judged_others_every_retrieved_relevant_document_counts_in_full() -> None:
    assert of("Bpref").of([None, 1], judged=[1, 1]) == 1 / 2


def test_a_grade_below_the_level_is_a_judged_other() -> None:
    assert of("Bpref(rel=2)").of([1, 2]) == 0
    assert of("Bpref").of([0.5, 1]) == 0


def test_an_empty_list_has_0_and_nothing_relevant_is_undefined() -> None:
    assert of("Bpref").of([], judged=[1, 0]) == 0
    assert undefined(of("Bpref").of([0], judged=[0]))


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Bpref"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0})) == 0
    assert value(of("Bpref"), Case({"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 1.0})) == 1


def test_it_equals_its_oracle() -> None:
    agree("Bpref", "Bpref(rel=2)", "Bpref(rel=0.5)", "Bpref(rel=0)")
