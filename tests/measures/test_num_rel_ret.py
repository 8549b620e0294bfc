"""Number of relevant documents retrieved."""

from __future__ import annotations

from agreement import agree, value
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_relevant_documents_of_the_list_count() -> None:
    assert of("NumRelRet").of([1, None, 0, 2, -1], judged=[1, 2, 3, 0, -1]) == 2
    assert of("NumRelRet").of([], judged=[1]) == 0


def test_the_cutoff_ends_the_list() -> None:
    assert of("NumRelRet@2").of([1, 0, 1]) == 1
    assert of("NumRelRet@20").of([1, 0, 1]) == 2


def test_a_level_decides_what_is_relevant() -> None:
    assert of("NumRelRet(rel=2)").of([1, 2, 2.5]) == 2


def test_the_queries_add_up() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}
    assert evaluate(qrels, run, "NumRelRet").mean("run", "NumRelRet") == 3


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("NumRelRet@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1


def test_it_equals_its_oracle() -> None:
    agree("NumRelRet", "NumRelRet@2", "NumRelRet(rel=2)@3")
