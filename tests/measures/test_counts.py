"""Counts of documents and queries, and shares of judged documents."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from case_values import undefined, value
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.evaluation.catalogue import facts
from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import read_qrels, read_run
from leadline.measures import MEASURES
from oracles import Case

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


def test_every_relevant_document_of_the_judgments_counts_retrieved_or_not() -> None:
    assert of("NumRel").of([1], judged=[1, 2, 0.5, 0, -1]) == 2
    assert of("NumRel(rel=2)").of([], judged=[1, 2]) == 1
    assert of("NumRel(rel=0.5)").of([], judged=[0.5, 0.4]) == 1
    assert of("NumRel").of([0]) == 0


def test_the_queries_add_up_even_those_that_the_run_lacks() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    assert evaluate(qrels, {"q1": {"a": 1.0}}, "NumRel").mean("run", "NumRel") == 3


def test_every_document_of_the_list_counts_judged_or_not() -> None:
    assert of("NumRet").of([1, None, -1, 0]) == 4
    assert of("NumRet").of([], judged=[1]) == 0


def test_num_ret_the_queries_add_up() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 1.0}, "unjudged": {"d": 1.0}}
    assert evaluate(qrels, run, "NumRet").mean("run", "NumRet") == 3
    assert evaluate(qrels, run, "NumRet", depth=1).mean("run", "NumRet") == 2
    assert evaluate(qrels, run, "NumRet", judged_only=True).mean("run", "NumRet") == 1


def test_relevant_documents_of_the_list_count() -> None:
    assert of("NumRelRet").of([1, None, 0, 2, -1], judged=[1, 2, 3, 0, -1]) == 2
    assert of("NumRelRet").of([], judged=[1]) == 0


def test_the_cutoff_ends_the_list() -> None:
    assert of("NumRelRet@2").of([1, 0, 1]) == 1
    assert of("NumRelRet@20").of([1, 0, 1]) == 2


def test_a_level_decides_what_is_relevant() -> None:
    assert of("NumRelRet(rel=2)").of([1, 2, 2.5]) == 2


def test_num_rel_ret_the_queries_add_up() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}
    assert evaluate(qrels, run, "NumRelRet").mean("run", "NumRelRet") == 3


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("NumRelRet@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1


def test_unjudged_documents_and_negative_grades_do_not_count() -> None:
    assert of("num_nonrel_judged_ret").of([0, None, -1, 1, 0.5]) == 2


def test_it_is_added_up_over_queries() -> None:
    qrels = {"q1": {"a": 0, "b": 0}, "q2": {"a": 0}}
    run = {query: dict.fromkeys(grades, 1.0) for query, grades in qrels.items()}
    assert evaluate(qrels, run, "NumNonrelRet").mean("run", "NumNonrelRet") == 3


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


def test_judged_share_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Judged@1"), Case({"a": 1.0, "b": 1.0}, {"b": 0.0})) == 1


def test_a_negative_grade_is_no_judgment() -> None:
    assert of("unj_4").of([1, None, -1, 0]) == 2 / 4


def test_ranks_below_the_end_of_the_list_are_not_unjudged() -> None:
    assert of("Unj@20").of([None, None, 1]) == 2 / 20
    assert of("Unj@5").of([], judged=[1]) == 0


def test_the_spelling_of_trec_eval_alone_means_three_cutoffs() -> None:
    assert list(map(str, MEASURES.expand("unj"))) == ["Unj@5", "Unj@10", "Unj@20"]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("options", [{}, {"depth": 4}, {"judged_only": True}, {"profile": "trec9"}], ids=str)
def test_holes_are_documents_judged_for_no_query(seed: int, options: dict[str, Any], tmp_path: Path) -> None:
    rng = random.Random(seed)
    names = [f"d{number}" for number in range(25)]
    qrels = {f"q{q}": {d: rng.choice([-1, 0, 1, 2]) for d in rng.sample(names, 4)} for q in range(4)}
    run = {
        f"q{q}": {d: rng.randint(0, 9) / 7 for d in rng.sample(names, rng.randint(0, 15))}
        for q in range(1, 6)
    }
    run = {query: found for query, found in run.items() if found}
    anywhere = {name for grades in qrels.values() for name in grades}
    path = tmp_path / "a.run"
    ll.write_run(run, path)
    for source in (run, ll.Run(run), path, [path]):
        results = ll.evaluate(qrels, source, ["Hole@3", "Hole@10", "Unj@3"], **options)
        for place, query in enumerate(results.queries):
            by_id = sorted(run.get(query, {}), reverse=True)
            ranked = sorted(by_id, key=lambda name: -run[query][name])[: options.get("depth")]
            if options.get("judged_only"):
                ranked = [name for name in ranked if qrels[query].get(name, -1) >= 0]
            if query in run:
                holes = [sum(name not in anywhere for name in ranked[:k]) / k for k in (3, 10)]
                assert results.values[0, place, :2].tolist() == pytest.approx(holes, abs=1e-15)


def test_a_command_that_keeps_no_documents_refuses_holes() -> None:
    judged = JudgedRun.of_run(read_run({"q": {"d": 1.0}}), read_qrels({"q": {"d": 1}, "r": {"e": 1}}))
    with pytest.raises(UsageError, match="Hole@5 needs the retrieved documents"):
        of("Hole@5").values(judged)


def test_no_value_of_a_mere_count_is_called_better() -> None:
    ranges = {
        name: facts(MEASURES.classes[name])["range"] for name in ("NumQ", "NumRet", "NumNonrelRet", "AP")
    }
    assert ["better" in text for text in ranges.values()] == [False, False, True, True]
