"""What several judges said: one file each, a line a judgment, a column a judge."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline.io.judges import judge_name, read_judges
from leadline.io.objects import read_qrels
from leadline.judging.agreement import agreement

WIDE = "query_id\tdoc_id\tann\tben\nq1\td1\t1\t2\nq1\td2\t0\t\n"
LONG = "query_id,doc_id,judge,grade\nq1,d1,ann,1\nq1,d1,ben,2\nq1,d2,ann,0\n"
LINES = (
    '{"qid": "q1", "docno": "d1", "ann": 1, "ben": 2}\n{"qid": "q1", "docno": "d2", "ann": 0, "ben": null}\n'
)
SAID = {"ann": {"q1": {"d1": 1, "d2": 0}}, "ben": {"q1": {"d1": 2}}}


def said(*places: object) -> dict[str, dict[str, dict[str, float]]]:
    """Read judges and give their judgments by name."""
    return {judge.name: judge.qrels.to_dict() for judge in read_judges(list(map(str, places)))}


@pytest.mark.parametrize(
    ("name", "text"),
    [("wide.tsv", WIDE), ("long.csv", LONG), ("wide.csv", WIDE.replace("\t", ",")), ("wide.jsonl", LINES)],
)
def test_one_table_holds_all_judges(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert said(tmp_path / name) == SAID
    if name.endswith(".csv"):
        for library in ("pandas", "polars"):
            frame = pytest.importorskip(library).read_csv(tmp_path / name)
            assert {judge.name: judge.qrels.to_dict() for judge in read_judges(frame)} == SAID
            assert agreement(frame, draws=0).judges == ["ann", "ben"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_grades_is_one_judge_in_any_column_of_grades(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame
    for column in ("relevance", "score", "similarity", "relevance_score"):
        ids = {"query": ["q1", "q1"], "doc_id": ["d1", "d2"]}
        both = [frame({**ids, column: [1, 0]}), frame({**ids, column: [1, 1]})]
        assert agreement(both, draws=0).judges == ["judge 1", "judge 2"]
        long = frame({"query": ["q1", "q1"], "doc_id": ["d1", "d1"], "judge": ["a", "b"], column: [1, 0]})
        assert [judge.name for judge in read_judges(long)] == ["a", "b"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("judges", "grades", "says"),
    [
        (["ann", "ben", None], [1, 0, 1], "row 3: the row does not name a judge"),
        (["ann", "", "ben"], [1, 0, 1], "row 2: the row does not name a judge"),
        (["ann", "ben", "ann"], [1, 0, None], "row 3: the row has no grade"),
    ],
)
def test_a_frame_with_an_empty_cell_of_a_judge_is_refused_as_a_file_is(
    library: str, judges: list[str | None], grades: list[int | None], says: str
) -> None:
    columns = {"query": ["q1"] * 3, "doc_id": ["d1", "d2", "d3"], "judge": judges, "grade": grades}
    with pytest.raises(InputError, match=says):
        read_judges(pytest.importorskip(library).DataFrame(columns))


@pytest.mark.parametrize("column", ["relevance", "score"])
def test_a_file_of_qrels_is_one_judge_called_as_the_file(column: str, tmp_path: Path) -> None:
    (tmp_path / "ann.qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "ben.csv").write_text(f"query_id,doc_id,{column}\nq1,d1,2\n")
    assert said(tmp_path / "ann.qrels.txt", tmp_path / "ben.csv") == SAID
    assert judge_name("judges/willia.qrels.txt.gz") == "willia"


def test_a_column_of_a_table_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "merged.tsv"
    path.write_text(
        "query_id\tdoc_id\tgrade\tprobability\tann\tben\tnote\n"
        "q1\td1\t1.5\t1.0\t1\t2\tann: odd\nq1\td2\t0\t1.0\t0\t\t\n"
    )
    assert list(said(path)) == ["merged"]  # a column of grades: ordinary judgments
    assert said(f"{path}:*") == SAID
    assert said(f"{path}:ben") == {"ben": SAID["ben"]}
    with pytest.raises(InputError, match=r"merged\.tsv:1: no column 'bne'\. Did you mean 'ben'"):
        said(f"{path}:bne")


def test_dictionaries_are_judges_too() -> None:
    assert [judge.name for judge in read_judges(SAID)] == ["ann", "ben"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("query_id\tdoc_id\tann\nq1\td1\tgood\n", ":2: grade 'good' is not a number (column 'ann')"),
        ("query_id\tdoc_id\tann\nq1\td1\tnan\n", ":2: grade 'nan' is not a finite number (column 'ann')"),
        ("query_id\tdoc_id\tann\nq1\t\t1\n", ":2: there is no id in column 'doc_id'"),
        (
            "query_id\tdoc_id\tann\nq1\td1\t1\nq1\td1\t0\n",
            ":3: document 'd1' is judged twice for query 'q1' by 'ann'",
        ),
        ("query_id\tdoc_id\nq1\td1\n", "labels.tsv:1: the table has no grade column. Add one grade column"),
        ("query_id\tdocument_name\tann\nq1\td1\t1\n", "no column 'doc_id'"),
        ("query_id\tdoc_id\tjudge\nq1\td1\tann\n", "no column 'grade'"),
        ("query_id\tdoc_id\tjudge\tgrade\nq1\td1\t\t1\n", ":2: the row does not name a judge"),
        ("query_id\tdoc_id\tjudge\tgrade\nq1\td1\tann\t\n", ":2: the row has no grade"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as rejected:
        said(path)
    assert says in str(rejected.value)
    assert "labels.tsv" in str(rejected.value)


def test_a_column_without_a_name_is_no_judge(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",query_id,doc_id,ann,ben\n0,q1,d1,1,0\n")
    assert [judge.name for judge in read_judges(str(tmp_path / "t.csv"))] == ["ann", "ben"]


def test_a_fault_of_a_whole_frame_has_no_row() -> None:
    frame = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]})
    with pytest.raises(InputError, match=r"^the table has no grade column\."):
        read_judges(frame)


def test_two_judges_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ann.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(UsageError, match="two judges are both named 'ann'"):
        said(tmp_path / "x" / "ann.txt", tmp_path / "y" / "ann.txt")
    with pytest.raises(InputError, match=r"column 'ann' cannot be selected in this file format\. Pass CSV"):
        said(f"{tmp_path / 'x' / 'ann.txt'}:ann")


def test_a_table_with_a_judge_is_judgments_by_majority(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "judged.csv"
    path.write_text(LONG + "q1,d1,cid,2\nq0,d9,ben,1.5\n")
    found = read_qrels(path)
    assert found.to_dict() == {"q0": {"d9": 1.5}, "q1": {"d1": 2, "d2": 0}}
    assert found.votes == {"q1": {"d1": (1, 2, 2)}}
    assert found.remarks[0][::2] == ("merged", 1)
    assert leadline("check", path).status == 0
    path.write_text(LONG + "q1,d1,ann,2\n")
    again = "document 'd1' is judged twice for query 'q1' by 'ann' (first at line 2)"
    with pytest.raises(InputError, match=re.escape(f"{path}:5: {again}")):
        read_qrels(path)
    assert f"line 5: {again}" in leadline("check", path).out


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from("pq"), st.sampled_from("abc"), st.sampled_from(["ann", "ben", "cid"])),
        st.integers(0, 3),
        min_size=1,
    ),
    st.randoms(),
)
def test_majorities_of_tables_are_those_of_a_slow_count(
    said: dict[tuple[str, str, str], int], random: Random
) -> None:
    rows = [
        {"query_id": query, "doc_id": document, "judge": judge, "grade": grade}
        for (query, document, judge), grade in said.items()
    ]
    random.shuffle(rows)
    slow: dict[str, dict[str, float]] = {}
    for query, document, _ in said:
        grades = [grade for key, grade in said.items() if key[:2] == (query, document)]
        most = max(map(grades.count, grades))
        slow.setdefault(query, {})[document] = min(one for one in grades if grades.count(one) == most)
    assert read_qrels(rows).to_dict() == slow


def test_judges_may_have_whole_numbers_as_ids(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"query_id": 1, "doc_id": 2, "ann": 1, "bob": 0}\n')
    assert said(path) == {"ann": {"1": {"2": 1}}, "bob": {"1": {"2": 0}}}


def test_judgments_in_arrow_are_one_judge(tmp_path: Path) -> None:
    path = tmp_path / "ann.arrow"
    read_qrels({"q1": {"d1": 1}}).write(path)
    assert said(path) == {"ann": {"q1": {"d1": 1}}}
