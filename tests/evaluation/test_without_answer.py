"""Queries without an answer: what is returned for them, in means, tests, gates and notes."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline
from leadline.data.judged_run import JudgedRun
from leadline.data.table import RunInfo
from leadline.errors import UsageError
from leadline.evaluation.merging import merge_results
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import warnings_of_undefined
from leadline.measures import MEASURES
from leadline.scale import RunParts, evaluate_parts

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 0}, "q3": {"d1": 0}, "q4": {"d1": 0, "d2": 0}, "q5": {"d1": -1}}
RUN = {"q1": {"d1": 0.9}, "q2": {"d9": 0.8, "d1": 0.2}, "q3": {"d7": 0.3}, "q4": {"d2": 0.6}}
EXPECTED = [math.nan, 0.0, 1.0, 0.0, 1.0]
MEASURE = "NoAnswer(above=0.5)"


def sources(folder: Path) -> dict[str, Any]:
    """Return the run in several forms."""
    rows = [(query, name, score) for query, one in RUN.items() for name, score in one.items()]
    text = "".join(f"{query} Q0 {name} 1 {score} tag\n" for query, name, score in rows)
    (folder / "plain.run").write_text(text)
    (folder / "packed.run.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "table.csv").write_text(
        "query_id,doc_id,score\n" + "".join(f"{query},{name},{score}\n" for query, name, score in rows)
    )
    frame = {
        "query_id": [row[0] for row in rows],
        "doc_id": [row[1] for row in rows],
        "score": [row[2] for row in rows],
    }
    return {
        "dictionary": RUN,
        "frame": pl.DataFrame(frame),
        "Run": ll.read_run(RUN),
        **{path.name: str(path) for path in folder.iterdir()},
    }


def test_every_source_gives_the_same_values_and_examples(tmp_path: Path) -> None:
    for kind, source in sources(tmp_path).items():
        results = ll.evaluate(QRELS, {"bm25": source}, MEASURE)
        np.testing.assert_array_equal(results.values[0, :, 0], EXPECTED, err_msg=kind)
        assert results.mean("bm25", MEASURE) == 0.5
        (note,) = [one for one in results.warnings if one.code == "returned"]
        assert note.count == 2
        assert "q2 (d9, score 0.8), q4 (d2, score 0.6)" in note.message, kind


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.dictionaries(st.sampled_from("xyz"), st.integers(-3, 3))),
    st.integers(-3, 3),
)
def test_the_highest_score_decides(lists: dict[str, dict[str, int]], above: int) -> None:
    qrels = {query: {"x": int(query in "ab")} for query in "abcdef"}
    run = {"a": {"x": 1.0}} | {query: one for query, one in lists.items() if one}
    results = ll.evaluate(qrels, {"run": run}, f"NoAnswer(above={above})")
    for query, found in zip(results.queries, results.values[0, :, 0].tolist(), strict=True):
        best = max(run.get(query, {}).values(), default=-math.inf)
        assert (math.isnan(found)) if query in "ab" else (found == float(best <= above))


def test_only_judged_documents_count_with_judged_only() -> None:
    results = ll.evaluate(QRELS, {"bm25": RUN}, MEASURE, judged_only=True)
    np.testing.assert_array_equal(results.values[0, :, 0], [math.nan, 1.0, 1.0, 0.0, 1.0])
    cut = ll.evaluate(QRELS, {"bm25": RUN}, MEASURE, judged_only=True, depth=1)
    np.testing.assert_array_equal(cut.values, results.values)


def test_parts_and_merged_results_are_those_of_the_whole() -> None:
    halves = [{query: RUN[query] for query in some} for some in (("q1", "q4"), ("q2", "q3"))]
    whole = ll.evaluate(QRELS, {"bm25": RUN}, [MEASURE, "NoAnswer"])
    parts = evaluate_parts(QRELS, RunParts(halves, name="bm25"), [MEASURE, "NoAnswer"])
    merged = Results.merge([ll.evaluate(QRELS, {"bm25": half}, [MEASURE, "NoAnswer"]) for half in halves])
    for other in (parts, merged, Results.merge(whole)):
        np.testing.assert_array_equal(other.values, whole.values)
        np.testing.assert_array_equal(other.means, whole.means)
    assert [one.message for one in parts.warnings if one.code == "returned"] == [
        one.message for one in whole.warnings if one.code == "returned"
    ]


@pytest.mark.parametrize(("queries", "mean"), [("all", 0.5), ("with_relevant", 0.5), ("both", 1 / 3)])
def test_means_are_over_queries_without_an_answer(queries: Any, mean: float) -> None:
    results = ll.evaluate(QRELS, {"bm25": RUN}, [MEASURE, "RR"], queries=queries)
    assert results.mean("bm25", MEASURE) == pytest.approx(mean)


def test_tests_are_over_queries_without_an_answer() -> None:
    qrels = {f"q{number}": {"d": int(number < 5)} for number in range(25)}
    silent = {query: {"d": 0.9 if number < 5 else 0.1} for number, query in enumerate(qrels)}
    talks = {query: {"d": 0.9} for query in qrels}
    pair = ll.compare(qrels, {"old": silent, "new": talks}, MEASURE).pairs[0]
    assert (pair.queries, pair.difference, pair.verdict) == (20, -1.0, "worse")
    none = ll.evaluate({"q": {"d": 1}}, {"run": {"q": ["d"]}}, "NoAnswer")
    assert math.isnan(none.mean("run", "NoAnswer"))


def test_notes_do_not_call_queries_with_an_answer_undefined() -> None:
    codes = [one.code for one in ll.evaluate(QRELS, {"bm25": RUN}, MEASURE).warnings]
    assert "undefined" not in codes
    assert "no_relevant" not in codes
    assert "without_answer" in codes
    for measures in ([MEASURE], [MEASURE, "RR"]):
        found = Results.merge(ll.evaluate(QRELS, {"bm25": {"q1": RUN["q1"]}}, measures)).warnings
        assert ("scored 0" in next(str(one) for one in found if one.code == "missing_queries")) == (
            len(measures) > 1
        )
    assert "no_relevant" in [one.code for one in ll.evaluate(QRELS, {"r": RUN}, [MEASURE, "RR"]).warnings]


@pytest.mark.parametrize(
    ("queries", "mean"), [("all", 0.5), ("with_relevant", 0.5), ("both", 0.0), ("complete", math.nan)]
)
def test_missing_queries_are_called_scored_1_only_if_they_are_averaged(queries: Any, mean: float) -> None:
    qrels, run = {"q1": {"d": 1}, "q2": {"d": 0}, "q3": {"d": 0}}, {"q1": {"d": 2.0}, "q2": {"d": 1.0}}
    results = ll.evaluate(qrels, {"run": run}, "NoAnswer", queries=queries)
    assert results.mean("run", "NoAnswer") == pytest.approx(mean, nan_ok=True)
    (notice,) = (str(one) for one in results.warnings if one.code == "without_answer")
    assert ("if missing from a run, scored 1" in notice) == (mean == 0.5)
    if queries == "all":
        merged = merge_results([results], queries="both").warnings
        assert not any("if missing from a run, scored 1" in str(one) for one in merged)
        assert any("if missing from a run, left out" in str(one) for one in merged)
    assert ("left out" in notice) == (queries == "both")


def test_ranks_have_no_threshold() -> None:
    with pytest.raises(UsageError, match="order='rank'"):
        ll.evaluate(QRELS, {"bm25": RUN}, MEASURE, order="rank")
    ranked = {query: list(one) for query, one in RUN.items()}
    assert ll.evaluate(QRELS, {"bm25": ranked}, "NoAnswer", order="rank").mean("bm25", "NoAnswer") == 0.25
    with pytest.raises(UsageError, match="has a score threshold and cannot be used with order='rank'"):
        ll.explain(QRELS, ranked, MEASURE, next(iter(RUN)), order="rank")


def test_gates_and_explanations_know_it(tmp_path: Path, leadline: Leadline) -> None:
    paths = sources(tmp_path)
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {name} {grade}\n" for query, one in QRELS.items() for name, grade in one.items())
    )
    given = (str(tmp_path / "qrels.txt"), paths["plain.run"])
    assert leadline("evaluate", *given, "--fail-below", f"{MEASURE}=0.5").status == 0
    assert leadline("evaluate", *given, "--fail-below", f"{MEASURE}=0.6").status == 1
    done = leadline("explain", *given, "-m", MEASURE, "--query-id", "q2")
    assert done.status == 0
    assert "= 0\n" in done.out
    assert "d9" in done.out


def test_queries_without_an_answer_are_not_called_scored_0_by_measures_that_leave_them_out() -> None:
    qrels, run = {"q1": {"a": 0}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    left_out = "RankOf is undefined for 1 query in run (left out of its mean)"
    scored = "1 judged query without a relevant document (scored 0)"
    assert [str(one) for one in ll.evaluate(qrels, run, "RankOf(n=1)").warnings] == [left_out]
    both = ll.evaluate(qrels, run, ["RankOf(n=1)", "AP"])
    assert [str(one) for one in both.warnings] == [scored, left_out]
    assert both.means.tolist() == [[1.0, 0.5]]


def test_queries_without_a_relevant_document_are_not_called_scored_0_by_measures_of_a_lower_level() -> None:
    results = ll.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, ["AP", "P(rel=2)@1"])
    assert results.means.tolist() == [[1.0, 0.0]]
    (notice,) = (str(one) for one in results.warnings if one.code == "no_relevant")
    assert notice.endswith("of grade 2 or more (scored 0 for measures with rel=2)")
    (alone,) = (
        str(one)
        for one in ll.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "P(rel=2)@1").warnings
        if one.code == "no_relevant"
    )
    assert alone.endswith("of grade 2 or more (scored 0)")


def test_undefined_values_of_several_runs_are_counted_per_run() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    runs = {"x": {"q1": ["a"], "q2": ["a"], "q3": ["b"]}, "y": {"q1": ["a"], "q2": ["b"], "q3": ["b"]}}
    undefined = [one for one in ll.evaluate(qrels, runs, "RankOf(n=1)").warnings if one.code == "undefined"]
    assert [one.count for one in undefined] == [3]
    assert "1 to 2 queries per run in both runs" in undefined[0].message  # not 3 queries: q3 is in both


def test_an_undefined_value_of_a_sum_is_said_to_be_left_out_of_it() -> None:
    measures, infos = ll.evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}}, "NumRelRet"), [RunInfo("x")]
    (notice,) = warnings_of_undefined(infos, measures.measures, np.array([[1]]))
    assert notice.message == "NumRelRet is undefined for 1 query in x (left out of its sum)"


def test_the_note_on_queries_without_a_relevant_document_excepts_the_measure() -> None:
    notes = {one.code: one.message for one in ll.evaluate(QRELS, RUN, [MEASURE, "AP"]).warnings}
    assert notes["no_relevant"].endswith(f"(scored 0, except for {MEASURE})")
    assert notes["without_answer"].startswith(f"{MEASURE}: mean over 4")


def test_only_measures_that_count_0_are_said_to_without_a_relevant_document() -> None:
    """What is neither 0 nor undefined for a query without a relevant document is not called scored 0."""
    other = set()
    for name, cls in MEASURES.classes.items():
        judged = JudgedRun.of_grades([0, None], [0])
        judged.qrels = judged.qrels.with_known({b"1": set()})
        if cls.needs == "subtopics":
            judged.qrels = judged.qrels.with_one_subtopic()
        measure = MEASURES.parse(cls.example())
        if float(np.nan_to_num(measure.values(judged))[0]) and measure.average != "defined":
            other.add(name)
    assert other == {name for name, cls in MEASURES.classes.items() if not cls.zero_without_relevant}


def test_missing_queries_without_a_relevant_document_are_not_called_scored_0_where_they_are_left_out() -> (
    None
):
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 0}}, {"q1": ["a"], "q2": ["a"]}
    results = ll.evaluate(qrels, run, "AP", queries="both")
    assert results.means.tolist() == [[0.5]]  # q3 is left out
    (notice,) = (one.message for one in results.warnings if one.code == "no_relevant")
    assert notice.endswith("(scored 0; left out if missing from a run)")
    parts = [ll.evaluate(qrels, {"run": {name: found}}, "AP", queries="both") for name, found in run.items()]
    assert notice in {one.message for one in merge_results(parts).warnings}
    (whole,) = (one.message for one in ll.evaluate(qrels, run, "AP").warnings if one.code == "no_relevant")
    assert whole.endswith("(scored 0)")


def test_a_query_without_a_relevant_document_is_not_called_scored_0_by_judged() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": ["a"], "q2": ["a", "b"]}
    alone = ll.evaluate(qrels, run, "Judged@2")
    assert alone.value("run", "q2", "Judged@2") == 0.5
    assert "no_relevant" not in {one.code for one in alone.warnings}
    for rule, excepted in (("all", True), ("with_relevant", False)):
        warnings = ll.evaluate(qrels, run, ["AP", "Judged@2"], queries=rule).warnings  # type: ignore[arg-type]  # a rule
        (notice,) = (one for one in warnings if one.code == "no_relevant")
        assert ("Judged@2" in notice.message) is excepted


def test_a_missing_query_is_not_called_scored_0_by_measures_that_do_not_count_it_0() -> None:
    qrels, runs = {"q1": {"a": 1}, "q2": {"a": 1}}, [{"x": {"q1": ["a"]}}, {"x": {"q2": ["b"]}}]
    whole = ll.evaluate(qrels, runs[0], "E")
    assert whole.values[0, 1, 0] == 1.0  # E of an empty list
    (missing,) = (one for one in whole.warnings if one.code == "missing_queries")
    assert "scored 0" not in missing.message
    qrels["q3"] = {"a": 1}
    for measures in ("E", "AP,E", "AP"):
        merged = ll.Results.merge([ll.evaluate(qrels, run, measures) for run in runs])
        undivided = ll.evaluate(qrels, {"x": {"q1": ["a"], "q2": ["b"]}}, measures)
        assert list(map(str, merged.warnings)) == list(map(str, undivided.warnings))
        (missing,) = (one for one in undivided.warnings if one.code == "missing_queries")
        assert ("scored 0" in missing.message) is (measures == "AP")


def test_only_measures_that_count_0_are_said_to_without_a_list() -> None:
    other = set()
    for name, cls in MEASURES.classes.items():
        judged = JudgedRun.of_grades([], [1, 0])
        judged.qrels = judged.qrels.with_known({b"1": set()})
        if cls.needs == "subtopics":
            judged.qrels = judged.qrels.with_one_subtopic()
        measure = MEASURES.parse(cls.example())
        if measure.average == "mean" and np.nan_to_num(measure.values(judged))[0]:
            other.add(name)
    assert other == {name for name, cls in MEASURES.classes.items() if not cls.zero_without_list}


def test_lists_that_lack_only_queries_left_out_are_not_called_scored_0_alone() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 0}}, {"q1": {"a": 1.0}, "q2": {}}
    found = ll.evaluate(qrels, run, "AP", queries="with_relevant")
    assert found.mean("run", "AP") == 1.0
    about = [one.message for one in found.warnings if one.code in ("missing_queries", "empty_queries")]
    assert ["left out" in message for message in about] == [True, True]
