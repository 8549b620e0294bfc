"""Number of retrieved documents."""

from __future__ import annotations

from agreement import agree
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES

of = MEASURES.parse


def test_every_document_of_the_list_counts_judged_or_not() -> None:
    assert of("NumRet").of([1, None, -1, 0]) == 4
    assert of("NumRet").of([], judged=[1]) == 0


def test_the_queries_add_up() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 1.0}, "unjudged": {"d": 1.0}}
    assert evaluate(qrels, run, "NumRet").mean("run", "NumRet") == 3
    assert evaluate(qrels, run, "NumRet", depth=1).mean("run", "NumRet") == 2
    assert evaluate(qrels, run, "NumRet", judged_only=True).mean("run", "NumRet") == 1


def test_it_equals_its_oracle() -> None:
    agree("NumRet")
