"""What several judges said: one file each, a line a judgment, a column a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import InputError, UsageError
from leadline.io.judges import judge_name, read_judges

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


def test_a_file_of_qrels_is_one_judge_called_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "ann.qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "ben.csv").write_text("query_id,doc_id,relevance\nq1,d1,2\n")
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
    with pytest.raises(InputError, match=r"merged\.tsv:1: no column 'bne'; .*nearest: ben"):
        said(f"{path}:bne")


def test_dictionaries_are_judges_too() -> None:
    assert [judge.name for judge in read_judges(SAID)] == ["ann", "ben"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("query_id\tdoc_id\tann\nq1\td1\tgood\n", ":2: grade 'good' in column 'ann'"),
        ("query_id\tdoc_id\tann\nq1\td1\tnan\n", ":2: grade 'nan' in column 'ann'"),
        ("query_id\tdoc_id\tann\nq1\t\t1\n", ":2: no id in column 'doc_id'"),
        ("query_id\tdoc_id\tann\nq1\td1\t1\nq1\td1\t0\n", "judged twice"),
        ("query_id\tdoc_id\nq1\td1\n", "no column of a judge"),
        ("query_id\tdocument_name\tann\nq1\td1\t1\n", "no column 'doc_id'"),
        ("query_id\tdoc_id\tjudge\nq1\td1\tann\n", "no column 'grade'"),
        ("query_id\tdoc_id\tjudge\tgrade\nq1\td1\t\t1\n", ":2: no judge"),
        ("query_id\tdoc_id\tjudge\tgrade\nq1\td1\tann\t\n", ":2: no grade"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as rejected:
        said(path)
    assert says in str(rejected.value)
    assert "labels.tsv" in str(rejected.value)


def test_two_judges_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ann.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(UsageError, match="two judges are called 'ann'"):
        said(tmp_path / "x" / "ann.txt", tmp_path / "y" / "ann.txt")
    with pytest.raises(InputError, match="no table, so no column 'ann'"):
        said(f"{tmp_path / 'x' / 'ann.txt'}:ann")
