"""Number of relevant documents."""

from __future__ import annotations

from agreement import agree
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES

of = MEASURES.parse


def test_every_relevant_document_of_the_judgments_counts_retrieved_or_not() -> None:
    assert of("NumRel").of([1], judged=[1, 2, 0.5, 0, -1]) == 2
    assert of("NumRel(rel=2)").of([], judged=[1, 2]) == 1
    assert of("NumRel(rel=0.5)").of([], judged=[0.5, 0.4]) == 1
    assert of("NumRel").of([0]) == 0


def test_the_queries_add_up_even_those_that_the_run_lacks() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    assert evaluate(qrels, {"q1": {"a": 1.0}}, "NumRel").mean("run", "NumRel") == 3


def test_it_equals_its_oracle() -> None:
    agree("NumRel", "NumRel(rel=2)", "NumRel(rel=0)")
