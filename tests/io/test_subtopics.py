"""Judgments by subtopic: how they are read, refused, and what other measures make of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import read_qrels
from leadline.measures import MEASURES

LINES = "q1 1 d1 1\nq1 2 d1 2\nq1 2 d2 0\nq2 1 d1 -1\nq1 1 d3 1\n"
BY_SUBTOPIC = {"q1": {"1": {"d1": 1, "d3": 1}, "2": {"d1": 2, "d2": 0}}, "q2": {"1": {"d1": -1}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "diversity.qrels"
    path.write_text(LINES)
    return path


def test_column_2_is_the_subtopic_on_request_only(file: Path) -> None:
    qrels = read_qrels(file, subtopics=True)
    assert qrels.by_subtopic() == BY_SUBTOPIC
    with pytest.raises(InputError, match=r"qrels:2: document 'd1' is judged twice for query 'q1'"):
        read_qrels(file)


def test_a_single_subtopic_is_said(file: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.qrels"
    one.write_text("q1 0 d1 1\nq1 0 d2 1\n")
    for path, said in ((file, False), (one, True)):
        values = evaluate(path, {"q1": {"d1": 1.0}}, "alpha_nDCG@10", subtopics=True)
        assert ("one_subtopic" in {notice.code for notice in values.warnings}) is said


def test_other_measures_see_the_largest_grade_of_a_document(file: Path) -> None:
    qrels = read_qrels(file, subtopics=True)
    assert qrels.to_dict() == {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": -1}}


def test_a_file_and_a_dictionary_are_the_same(file: Path) -> None:
    assert read_qrels(file, subtopics=True) == read_qrels(BY_SUBTOPIC, subtopics=True)


def test_grades_by_subtopic_make_qrels_different(file: Path) -> None:
    other = {"q1": {"1": {"d1": 2, "d3": 1}, "2": {"d1": 1, "d2": 0}}, "q2": {"1": {"d1": -1}}}
    assert read_qrels(other, subtopics=True).to_dict() == read_qrels(file, subtopics=True).to_dict()
    assert read_qrels(other, subtopics=True) != read_qrels(file, subtopics=True)


def test_a_document_twice_for_a_subtopic_is_refused_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "twice.qrels"
    path.write_text("# comment\nq1 1 d1 1\nq1 2 d1 1\nq1 1 d1 0\n")
    with pytest.raises(
        InputError,
        match=r"twice.qrels:4: document 'd1' is judged twice for subtopic '1' of query 'q1' "
        r"\(first at line 2\)",
    ):
        read_qrels(path, subtopics=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 1 d1\n", ":1: the line has 3 columns"),
        ("q1 1 d1 x\n", ":1: grade 'x'"),
        ("q1 1 d1 nan\n", ":1: grade 'nan'"),
        ("\n# nothing\n", "contains no judgments"),
    ],
)
def test_bad_lines_are_refused_as_ever(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.qrels"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_qrels(path, subtopics=True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"q1": {"d1": 1}},
            r"value for 'd1' under query 'q1' is of type int\. Use the form \{query: \{subtopic: \{document",
        ),
        ({"q1": 1}, r"query 'q1' is of type int\. Use the form \{subtopic: \{document: grade\}\}"),
        ({}, "contains no judgments"),
    ],
)
def test_a_dictionary_without_subtopics_is_refused(source: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_qrels(source, subtopics=True)  # type: ignore[arg-type]  # the point of the test


def test_qrels_that_were_read_without_subtopics_have_none() -> None:
    qrels = read_qrels({"q": {"d": 1}})
    assert qrels.by_subtopic() is None
    with pytest.raises(UsageError, match="these qrels were loaded without subtopics"):
        read_qrels(qrels, subtopics=True)
    again = read_qrels(BY_SUBTOPIC, subtopics=True)
    assert read_qrels(again, subtopics=True) is again


def test_documents_left_out_as_unjudged_leave_their_subtopics(file: Path) -> None:
    qrels = read_qrels(file, subtopics=True, negative="unjudged")
    assert qrels.by_subtopic() == {"q1": BY_SUBTOPIC["q1"], "q2": {}}


def test_known_documents_and_subtopics_go_together(file: Path) -> None:
    qrels = read_qrels(file, subtopics=True).with_known({b"q1": {b"d1"}})
    assert qrels.by_subtopic() == BY_SUBTOPIC


def test_evaluate_reads_subtopics_and_says_so_in_its_options(file: Path) -> None:
    results = evaluate(str(file), {"q1": {"d1": 1.0}}, ["StRecall@5", "AP"], subtopics=True)
    assert results.value("run", "q1", "StRecall@5") == 1.0
    assert results.value("run", "q1", "AP") == 0.5
    assert results.options["subtopics"] is True


@pytest.mark.parametrize(
    "name", [name for name, kind in MEASURES.classes.items() if kind.needs == "subtopics"]
)
def test_without_subtopics_every_measure_of_diversity_names_the_option(name: str) -> None:
    text = MEASURES.classes[name].example()
    with pytest.raises(UsageError, match=f"{name}.*needs judgments by subtopic. Use subtopics=True"):
        evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, text)


def test_the_command_asks_for_the_option_and_takes_it(file: Path, leadline: Leadline) -> None:
    run = file.with_name("mine.run")
    run.write_text("q1 Q0 d3 1 2 tag\nq1 Q0 d1 2 1 tag\n")
    lists = (file.with_name("plain.qrels"), run)
    lists[0].write_text("q1 0 d1 1\n")
    assert (
        "StRecall@1 needs judgments by subtopic. Use --config read.subtopics"
        in leadline("evaluate", *lists, "-m", "strec@1").refusal
    )
    given_ = leadline("evaluate", "--config", "read.subtopics", file, run, "-m", "strec@1", "-f", "csv", "-q")
    assert given_.status == 0
    assert "mine,q1,0.5" in given_.out


ids = st.sampled_from(["d1", "01", "NA", "null", "é", '"d"'])
grades = st.dictionaries(ids, st.sampled_from([-1, 0, 1, 2, 0.5]), min_size=1)
nested = st.dictionaries(ids, st.dictionaries(ids, grades, min_size=1), min_size=1)


@given(nested)
def test_what_goes_in_comes_out(judgments: dict[str, dict[str, dict[str, float]]]) -> None:
    assert read_qrels(judgments, subtopics=True).by_subtopic() == judgments
