"""leadline as a provider of ir_measures."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Iterator
from typing import Any

import pytest

import leadline as ll
from leadline.evaluation.ir_measures_provider import register
from peer_table import random_subtopics
from peer_values import random_graded

ir_measures: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
TEXTS = "P@5 P(rel=2)@10 R@10 AP AP@10 RR Rprec nDCG nDCG@10 Success@5 Bpref NumRet NumQ".split()
# Values of every parameter that a measure of ir_measures may have; None leaves it out.
VALUES: dict[str, list[Any]] = {
    "cutoff": [None, 5],
    "recall": [0.3],
    "rel": [None, 1, 2],
    "judged_only": [None, False, True],
    "dcg": [None, "log2", "exp-log2"],
    "gains": [None, {0: 0, 1: 1}, {0: 0, 1: 1, 2: 5}],
    "max_rel": [3],
    "min_rel": [None, 0, 1],
    "T": [None, 1.0, 2.0],
    "p": [None, 0.5],
    "normalize": [None, True, False],
    "relative": [None, True, False],
    "beta": [None, 0.25],
    "alpha": [None, 0.2],
}
# What a text must contain to be refused, and what the refusal names.
REFUSED = {
    "judged_only=True": "judged_only",
    "min_rel=1": "min_rel",
    "normalize=False": "normalize",
    "dcg='exp-log2',gains=": "gain",
    "ERR_IA": "cutoff",
    "alpha_DCG": "cutoff",
    "Accuracy": "PairAccuracy",
}
BY_SUBTOPIC = ("alpha", "NRBP", "IA", "StRecall")


def all_measures() -> Iterator[Any]:
    """Yield every measure of ir_measures with every combination of parameters, each text once."""
    seen = set()
    for name, measure in ir_measures.measures.registry.items():
        if name != measure.NAME:
            continue
        for values in itertools.product(*(VALUES[key] for key in measure.SUPPORTED_PARAMS)):
            pairs = zip(measure.SUPPORTED_PARAMS, values, strict=True)
            made = measure(**{key: value for key, value in pairs if value is not None})
            try:
                made.validate_params()
            except AssertionError:  # a required parameter is left out
                continue
            if str(made) not in seen:
                seen.add(str(made))
                yield made


def why_refused(text: str) -> str:
    """Return why a measure is refused, without its own text; empty if it is read."""
    try:
        ll.MEASURES.parse(text)
    except ll.UsageError as error:
        return str(error).removeprefix(f"measure '{text}'")
    return ""


def graded_data() -> tuple[Any, Any]:
    """Return judgments and a run with positive scores: Compat gives 0 to documents not retrieved."""
    qrels, run = random_graded(3, 3, lowest=0)
    return qrels, {query: {d: score + 100 for d, score in scores.items()} for query, scores in run.items()}


def subtopic_data() -> tuple[list[Any], Any]:
    """Return judgments by subtopic, as rows of ir_measures, and a run."""
    judged, run = random_subtopics(3)
    rows = [
        ir_measures.Qrel(query, document, grade, subtopic)
        for query, subtopics in judged.items()
        for subtopic, grades in subtopics.items()
        for document, grade in grades.items()
    ]
    return rows, run


@pytest.fixture(autouse=True)
def _provider() -> None:
    register()


def test_every_text_that_it_prints_is_read_or_refused_by_a_sentence_that_names_what_is_missing() -> None:
    texts = list(map(str, all_measures()))
    refused = {text: reason for text in texts if (reason := why_refused(text))}
    assert len(texts) - len(refused) > 110
    for text, reason in refused.items():
        named = [word for part, word in REFUSED.items() if part in text]
        assert any(word in reason for word in named), (text, reason)


def test_every_measure_that_another_provider_computes_has_the_same_value(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)  # cwl_eval warns of grades that no document has
    compared = 0
    for measure in all_measures():
        if not ir_measures.leadline.supports(measure):
            continue
        by_subtopic = any(part in str(measure) for part in BY_SUBTOPIC)
        if by_subtopic and "judged_only=True" in str(measure):  # its provider of these raises TypeError
            continue
        data = subtopic_data() if by_subtopic else graded_data()
        try:
            wanted = list(ir_measures.iter_calc([measure], *data))
        except (ValueError, RuntimeError, OSError):  # no provider computes it, or Perl is missing
            continue
        found = {each.query_id: each.value for each in ir_measures.leadline.iter_calc([measure], *data)}
        compared += 1
        rounded = by_subtopic or any(part in str(measure) for part in ("ERR", "exp-log2"))
        for each in wanted:
            if not math.isnan(each.value):  # what is undefined is 0 here
                close = pytest.approx(each.value, rel=1e-9, abs=1e-5 if rounded else 1e-9)
                assert found[each.query_id] == close, measure
    assert compared > 80


def test_measures_of_judged_documents_only_are_those_of_a_run_without_the_others() -> None:
    compared = 0
    for measure in all_measures():
        if "judged_only=True" not in str(measure) or not ir_measures.leadline.supports(measure):
            continue
        by_subtopic = any(part in str(measure) for part in BY_SUBTOPIC)
        qrels: Any
        qrels, run = subtopic_data() if by_subtopic else graded_data()
        rows = ((row.query_id, row.doc_id) for row in qrels) if by_subtopic else ()
        judged = set(rows) or {(query, document) for query, found in qrels.items() for document in found}
        kept = {
            query: {d: s for d, s in found.items() if (query, d) in judged} for query, found in run.items()
        }
        plain = measure(judged_only=False)
        both = ir_measures.leadline.calc_aggregate([measure, plain], qrels, run)
        assert both[measure] == ir_measures.leadline.calc_aggregate([plain], qrels, kept)[plain], measure
        assert both[plain] == ir_measures.leadline.calc_aggregate([plain], qrels, run)[plain]
        compared += both[measure] != both[plain]
    assert compared > 20


@pytest.mark.parametrize(
    "text",
    [
        *("BPM(max_rel=3)@5", "SDCG(max_rel=3)@5", "INSQ(max_rel=3)", "INST(max_rel=3)"),
        *("NERR8(max_rel=3)@5", "NERR9(max_rel=3)@5", "NERR10(max_rel=3)", "NERR11(max_rel=3)"),
    ],
)
def test_measures_of_a_user_model_take_its_largest_grade(text: str) -> None:
    data = random_graded(4, 3, lowest=0)
    measure = ir_measures.parse_measure(text)
    wanted = ir_measures.calc_aggregate([measure], *data)[measure]
    assert ir_measures.leadline.calc_aggregate([measure], *data)[measure] == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(ll.LeadlineError, match="max_grade"):
        ir_measures.leadline.calc_aggregate([measure(max_rel=2)], *data)


def test_rbp_without_a_level_is_not_supported_because_its_largest_gain_is_unknown() -> None:
    assert not ir_measures.leadline.supports(ir_measures.RBP)
    assert ir_measures.leadline.supports(ir_measures.RBP(rel=1))
    with pytest.raises(ll.UsageError, match="max_grade"):
        ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ir_measures.RBP(p=0.5))


def test_a_run_without_a_judged_query_has_0_as_in_all_providers() -> None:
    found = ir_measures.leadline.calc_aggregate([ir_measures.AP], {"q": {"d": 1}}, {"r": {"d": 1.0}})
    assert found == {ir_measures.AP: 0.0}


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
    assert not ir_measures.leadline.supports(ir_measures.RBP)
    with pytest.raises(ValueError, match="unsupported"):
        ir_measures.leadline.calc_aggregate([ir_measures.RBP], {"q": {"d": 1}}, {"q": {"d": 1.0}})
    assert register() is ir_measures.leadline is ir_measures.providers.registry["leadline"]


def test_objects_of_ir_measures_are_measures() -> None:
    asked = [
        ir_measures.nDCG @ 10,
        ir_measures.NumRet(rel=2),
        ir_measures.SetP(relative=True),
        ir_measures.P(rel=2) @ 5,
        ir_measures.Accuracy @ 5,
        ir_measures.nDCG(gains={0: 0, 1: 2}) @ 5,
    ]
    asked.append(ir_measures.parse_measure("nDCG(dcg='exp-log2')@10"))
    found = ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, asked).measures
    assert (
        list(map(str, found))
        == """
            nDCG@10 NumRelRet(rel=2) SetRelP P(rel=2)@5 PairAccuracy@5 GnDCG(gains=1:2)@5
            nDCG(gain=exp)@10
        """.split()
    )
    assert str(ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ir_measures.RR).measures[0]) == "RR"


def test_measures_of_leadline_are_used_by_ir_measures_itself() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    ours = [ll.ir_measure(text) for text in ("Q@10", "IPrec@0.5", "RBP(p=0.5,rel=1)")]
    values = ir_measures.calc_aggregate([*ours, ir_measures.RR], qrels, run)
    expected = ll.evaluate(qrels, run, ["Q@10", "IPrec@0.5", "RBP(p=0.5,rel=1)"]).means[0].tolist()
    assert [values[measure] for measure in ours] == expected
    assert ll.evaluate(qrels, run, ours).means[0].tolist() == expected
    with pytest.raises(ll.UsageError, match="2 measures"):
        ll.ir_measure("P@5,10")


def test_leadline_is_asked_last_or_first() -> None:
    asked = ir_measures.DefaultPipeline.providers
    before = list(asked)
    try:
        provider = ll.register()
        assert asked.count(provider) == 1
        assert ll.register(first=True) is provider is asked[0]
        assert asked.count(provider) == 1
    finally:
        asked[:] = before


def test_a_frame_with_probabilities_is_not_read_as_complete() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [("q", "a", 1, 0.5), ("q", "b", 0, 1.0)]
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "probability"])
    run = {"q": {"a": 2.0, "b": 1.0}}
    with pytest.raises(ValueError, match="the judgments are only a sample"):
        ir_measures.leadline.calc_aggregate([ir_measures.RR], frame, run)
    certain = frame.assign(probability=1.0)
    assert ir_measures.leadline.calc_aggregate([ir_measures.RR], certain, run) == {ir_measures.RR: 1.0}
