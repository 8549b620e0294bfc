"""Number of queries."""

from __future__ import annotations

from agreement import agree
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES

of = MEASURES.parse


def test_every_query_is_one_even_without_anything_relevant_or_retrieved() -> None:
    assert of("NumQ").of([1]) == 1
    assert of("NumQ").of([], judged=[0]) == 1


def test_the_queries_add_up() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    run = {"q1": {"a": 1.0}, "q3": {"a": 1.0}}
    assert evaluate(qrels, run, "NumQ").mean("run", "NumQ") == 3
    assert evaluate(qrels, run, "NumQ", queries="both").mean("run", "NumQ") == 2
    assert evaluate(qrels, run, "NumQ", queries="with_relevant").mean("run", "NumQ") == 2


def test_it_equals_its_oracle() -> None:
    agree("NumQ")
