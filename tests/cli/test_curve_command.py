"""`leadline curve`: shapes of the result, the picture, refusals."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Leadline

HEADS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Write the lecture's second example and a worse run of it."""
    qrels, best, worse = (tmp_path / name for name in ("qrels.txt", "best.run", "worse.run"))
    relevant = [1, 3, 5, 8, 9, 14]
    qrels.write_text("".join(f"q 0 d{rank} {int(rank in relevant)}\n" for rank in range(1, 15)))
    best.write_text("".join(f"q Q0 d{rank} {rank} {-rank} t\n" for rank in range(1, 15)))
    worse.write_text("".join(f"q Q0 d{rank} {15 - rank} {rank} t\n" for rank in range(1, 15)))
    return [qrels, worse, best]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, files: list[Path]) -> None:
    data = leadline("curve", *files, "-f", "json").data
    assert list(data) == ["leadline", "command", "inputs", "options", "warnings", "levels", "runs"]
    assert data["command"] == "curve"
    assert [entry["rows"] for entry in data["inputs"]] == [14, 14, 14]
    assert data["levels"] == [place / 10 for place in range(11)]
    assert [list(run) for run in data["runs"]] == [["name", "precision", "points"]] * 2
    assert [run["name"] for run in data["runs"]] == ["worse", "best"]
    assert data["runs"][1]["points"]["q"][1] == [3, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert data["options"] == {
        "interpolation": "standard",
        "rel": 1.0,
        "negative": "nonrelevant",
        "order": "score",
        "on_duplicate": "refuse",
        "on_nan": "refuse",
        "columns": None,
        "qrels_columns": None,
        "queries_in": None,
        "drop_identical_ids": False,
        "documents_of": None,
        "name_by": "file",
        "kind": None,
        "subtopics": False,
        "ranks": 20,
    }
    assert leadline("curve", *files, "--config", "read.subtopics", "-f", "json").data["options"] == (
        data["options"] | {"subtopics": True}
    )


def test_jsonl_is_one_run_a_line(leadline: Leadline, files: list[Path]) -> None:
    lines = leadline("curve", *files, "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["worse", "best"]


def test_the_table_has_runs_down_and_levels_across(leadline: Leadline, files: list[Path]) -> None:
    rows = list(csv.reader(io.StringIO(leadline("curve", *files, "-f", "csv").out)))
    assert rows[0] == ["run", *(str(place / 10) for place in range(11))]
    assert [row[0] for row in rows[1:]] == ["best", "worse"]
    text = leadline("curve", *files).out
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "1.000*" in text


@pytest.mark.parametrize(
    ("rule", "value"), [("standard", 5 / 9), ("printed-next", 0.5), ("printed-zero", 0.5), ("trec9", 5 / 9)]
)
def test_the_rule_of_interpolation_is_obeyed(
    leadline: Leadline, files: list[Path], rule: str, value: float
) -> None:
    data = leadline("curve", *files, "--interpolation", rule, "-f", "json").data
    assert data["runs"][1]["precision"][6] == value


@pytest.mark.parametrize("form", list(HEADS))
def test_the_ending_says_what_is_drawn_and_the_same_input_gives_the_same_bytes(
    leadline: Leadline, files: list[Path], tmp_path: Path, form: str
) -> None:
    first, second = tmp_path / f"one.{form}", tmp_path / f"two.{form.upper()}"
    for path in (first, second):
        assert leadline("curve", *files, "-o", path).status == 0
    assert first.read_bytes().startswith(HEADS[form])
    assert first.read_bytes() == second.read_bytes()


def test_a_bad_ending_is_refused_before_any_work(leadline: Leadline, tmp_path: Path) -> None:
    found = leadline("curve", "missing", "missing", "-o", tmp_path / "x.jpg")
    assert found.status == 2
    assert found.err.endswith("x.jpg: the name of a figure file must end in .svg, .pdf or .png\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "setting", "words"),
    [
        (["--ranks", "5"], [], "--ranks needs --config read.subtopics"),
        (["--interpolation", "trec9"], ["-C", "read.subtopics"], "use only one of --interpolation and "),
    ],
)
def test_no_option_is_ignored(
    option: list[str], setting: list[str], words: str, leadline: Leadline, files: list[Path]
) -> None:
    assert words in leadline("curve", *files, *option, *setting).refusal


def test_a_picture_that_cannot_be_written_is_one_line(
    leadline: Leadline, files: list[Path], tmp_path: Path
) -> None:
    found = leadline("curve", *files, "-o", tmp_path / "no" / "x.svg")
    assert (found.status, found.out, found.err.count("\n")) == (2, "", 1)


def test_runs_of_one_name_are_refused(leadline: Leadline, files: list[Path]) -> None:
    assert "two runs are both named 'worse'" in leadline("curve", files[0], files[1], files[1]).refusal


def test_without_a_picture_matplotlib_is_not_loaded(files: list[Path]) -> None:
    code = (
        "import sys; from leadline.cli import group; "
        "group(sys.argv[1:], standalone_mode=False); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, "curve", *map(str, files)], check=True)
