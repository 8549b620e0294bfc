"""How many judged non-relevant documents were retrieved."""

from __future__ import annotations

from agreement import agree
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Count."""
    return sum(0 <= case.grades.get(document, -1) < rel for document in case.scores)


def test_it_agrees_with_its_slow_twin() -> None:
    agree("NumNonrelRet", "NumNonrelRet(rel=2)")


def test_unjudged_documents_and_negative_grades_do_not_count() -> None:
    assert of("num_nonrel_judged_ret").of([0, None, -1, 1, 0.5]) == 2


def test_it_is_added_up_over_queries() -> None:
    qrels = {"q1": {"a": 0, "b": 0}, "q2": {"a": 0}}
    run = {query: dict.fromkeys(grades, 1.0) for query, grades in qrels.items()}
    assert evaluate(qrels, run, "NumNonrelRet").mean("run", "NumNonrelRet") == 3
