"""leadline as a provider of ir_measures."""

from __future__ import annotations

import math
from typing import Any

import pytest

import leadline as ll
from leadline.evaluation.ir_measures_provider import register
from peer_values import random_graded

ir_measures: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
TEXTS = [
    "P@5",
    "P(rel=2)@10",
    "R@10",
    "AP",
    "AP@10",
    "RR",
    "Rprec",
    "nDCG",
    "nDCG@10",
    "Success@5",
    "Bpref",
    "NumRet",
    "NumQ",
]


@pytest.fixture(autouse=True)
def _provider() -> None:
    register()


@pytest.mark.parametrize("seed", range(5))
def test_it_gives_the_values_of_its_default_provider(seed: int) -> None:
    qrels, run = random_graded(seed, 3)
    measures = [ir_measures.parse_measure(text) for text in TEXTS]
    found = ir_measures.leadline.calc(measures, qrels, run)
    wanted = ir_measures.calc(measures, qrels, run)
    assert set(found.aggregated) == set(measures)
    for measure in measures:
        assert found.aggregated[measure] == pytest.approx(wanted.aggregated[measure], rel=1e-12), measure
    key = {(each.query_id, str(each.measure)): each.value for each in wanted.per_query}
    assert {(each.query_id, str(each.measure)) for each in found.per_query} == set(key)
    for each in found.per_query:
        assert each.value == pytest.approx(key[each.query_id, str(each.measure)], rel=1e-12)


def test_the_example_of_its_own_tests_of_aggregation() -> None:
    """P@5 is 0.5 in test/test_aggregate.py of ir_measures."""
    judged = "0 0 D0 0\n0 0 D1 1\n0 0 D2 1\n0 0 D3 2\n0 0 D4 0\n1 0 D0 1\n1 0 D3 2\n1 0 D5 2\n"
    listed = {
        "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
        "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4, "D0": 0.1},
    }
    qrels = list(ir_measures.read_trec_qrels(judged))
    run = [ir_measures.ScoredDoc(query, d, s) for query, found in listed.items() for d, s in found.items()]
    measure = ir_measures.P @ 5
    assert ir_measures.leadline.calc_aggregate([measure], qrels, run) == {measure: 0.5}


def test_undefined_values_and_missing_queries_are_0_and_frames_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    qrels = pandas.DataFrame({"query_id": ["a", "b", "c"], "doc_id": ["d", "d", "d"], "relevance": [1, 0, 1]})
    run = pandas.DataFrame({"query_id": ["a", "b"], "doc_id": ["d", "d"], "score": [1.0, 1.0]})
    calculate = ir_measures.leadline.iter_calc
    found = {each.query_id: each.value for each in calculate([ir_measures.AP], qrels, run)}
    assert found == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert math.isnan(ll.evaluate(qrels, run, "AP").value("run", "b", "AP"))
    assert {each.value for each in calculate([ir_measures.AP], qrels, run[:0])} == {0.0}


def test_measures_by_subtopic_read_the_iteration() -> None:
    topics = {"d1": "s1", "d2": "s1", "d3": "s2"}
    qrels = [ir_measures.Qrel("q", document, 1, topic) for document, topic in topics.items()]
    run = [ir_measures.ScoredDoc("q", document, -place) for place, document in enumerate(topics)]
    measure = ir_measures.StRecall @ 2
    assert ir_measures.leadline.calc_aggregate([measure], qrels, run) == {measure: 0.5}


def test_what_it_has_not_is_not_supported_and_registering_twice_is_once() -> None:
    assert ir_measures.leadline.supports(ir_measures.nDCG @ 10)
    assert not ir_measures.leadline.supports(ir_measures.AP(judged_only=True))
    with pytest.raises(ValueError, match="unsupported"):
        ir_measures.leadline.calc_aggregate(
            [ir_measures.AP(judged_only=True)], {"q": {"d": 1}}, {"q": {"d": 1.0}}
        )
    assert register() is ir_measures.leadline is ir_measures.providers.registry["leadline"]


def test_objects_of_ir_measures_are_measures() -> None:
    asked = [
        ir_measures.nDCG @ 10,
        ir_measures.NumRet(rel=2),
        ir_measures.SetP(relative=True),
        ir_measures.P(rel=2) @ 5,
    ]
    asked.append(ir_measures.parse_measure("nDCG(dcg='exp-log2')@10"))
    found = ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, asked).measures
    assert list(map(str, found)) == [
        "nDCG@10",
        "NumRelRet(rel=2)",
        "SetRelP",
        "P(rel=2)@5",
        "nDCG(gain=exp)@10",
    ]
    assert str(ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ir_measures.RR).measures[0]) == "RR"
