"""E: the complement of F."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_1_less_f() -> None:
    grades, judged = [1, 0, 1, 0], [1, 1, 1, 0, 0]
    for form in ("", "(beta=2)", "(rel=2)", "@2", "(beta=0.5)@3"):
        assert of(f"E{form}").of(grades, judged) == 1 - of(f"F{form}").of(grades, judged)


def test_the_form_of_the_lecture_is_f_itself() -> None:
    assert of("E(form=lecture,beta=2)").of([1, 0, 1]) == of("F(beta=2)").of([1, 0, 1])


def test_it_falls_as_lists_get_better_and_the_form_of_the_lecture_rises() -> None:
    assert not of("E").rising
    assert of("E(form=lecture)").rising
    assert of("E").of([1]) == 0
    assert of("E").of([0], judged=[0, 1]) == 1
    assert of("E(form=lecture)").of([1]) == 1


def test_the_best_run_of_a_table_follows_the_form() -> None:
    qrels, good, poor = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}, {"q": {"b": 1.0}}
    results = evaluate(qrels, {"poor": poor, "good": good}, ["E", "E(form=lecture)"])
    assert results.best() == [{1}, {1}]
    assert results.order() == [1, 0]


def test_it_is_undefined_where_f_is() -> None:
    assert undefined(of("E").of([], judged=[0]))


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("E@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 0


def test_it_equals_its_oracle() -> None:
    agree("E", "E(beta=2)", "E(beta=0.5)@3", "E(form=lecture,beta=2)")
