"""`--query-slice` of `evaluate` and `compare`: every format has the slices."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline

FILES = ("qrels.txt", "bm25.run", "dense.run")
SLICE = ("--query-slice", "types.tsv:type")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work on the examples, with a type for most queries."""
    shutil.copytree(REPOSITORY / "docs" / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    judged = dict.fromkeys(line.split()[0] for line in (tmp_path / "qrels.txt").read_text().splitlines())
    rows = [f"{query}\t{'short' if place else 'long'}" for place, query in enumerate(list(judged)[:-1])]
    (tmp_path / "types.tsv").write_text("\n".join(["query_id\ttype", *rows]) + "\n")
    return tmp_path


@pytest.mark.parametrize(("command", "key"), [("evaluate", "mean"), ("compare", "difference")])
def test_json_has_a_value_for_every_slice(command: str, key: str, leadline: Leadline) -> None:
    data = leadline(command, *FILES, "-m", "RR", *SLICE, "-f", "json").data
    assert {one["slice"] for one in data["slices"]} == {None, "long", "short"}
    assert all(key in one and one["by"] == "types.tsv:type" for one in data["slices"])
    assert data["without_slice"] == {"types.tsv:type": 1}
    assert data["options"]["query_slice"] == ["types.tsv:type"]
    whole = [one for one in data["slices"] if one["slice"] is None]
    expected = (
        [run["mean"]["RR"] for run in data["runs"]]
        if command == "evaluate"
        else [pair["difference"] for pair in data["pairs"]]
    )
    assert [one[key] for one in whole] == expected


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_csv_and_json_lines_have_the_slices(command: str, leadline: Leadline) -> None:
    rows = list(csv.DictReader(io.StringIO(leadline(command, *FILES, "-m", "RR", *SLICE, "-f", "csv").out)))
    lines = leadline(command, *FILES, "-m", "RR", *SLICE, "-f", "jsonl").out.splitlines()
    assert [row["slice"] for row in rows] == [json.loads(line)["slice"] or "" for line in lines]
    assert {row["slice"] for row in rows} == {"", "long", "short"}


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_other_formats_have_a_second_table(command: str, form: str, leadline: Leadline) -> None:
    plain = leadline(command, *FILES, "-m", "RR", "-f", form)
    sliced = leadline(command, *FILES, "-m", "RR", *SLICE, "-f", form)
    assert sliced.status == 0
    assert sliced.out.startswith(plain.out)
    assert "short" in sliced.out.removeprefix(plain.out)
    assert "1 query has no slice in types.tsv:type" in sliced.out


def test_the_figure_and_the_summary_have_the_slices(leadline: Leadline) -> None:
    done = leadline("compare", *FILES, "-m", "RR", *SLICE, "-o", "a.svg", "--figure", "slices", "-o", "a.md")
    assert done.status == 0
    assert Path("a.svg").read_text().startswith("<?xml")
    assert "short" in Path("a.md").read_text()
    assert leadline("compare", *FILES, "-o", "a.svg", "--figure", "slices").status == 2


def test_the_level_of_means_is_that_of_the_option(leadline: Leadline) -> None:
    rows = [
        json.loads(line)
        for confidence in ("0.8", "0.99")
        for line in leadline(
            "evaluate", *FILES, "-m", "RR", *SLICE, "-f", "jsonl", "--confidence", confidence
        ).out.splitlines()[:1]
    ]
    widths = [row["high"] - row["low"] for row in rows if row["low"] is not None]
    assert widths == sorted(widths)
    assert len(widths) in (0, 2)


@pytest.mark.parametrize(
    "line",
    [
        "evaluate qrels.txt bm25.run -f trec --query-slice types.tsv:type",
        "evaluate qrels.txt bm25.run -q -f csv --query-slice types.tsv:type",
        "evaluate qrels.txt bm25.run -q -f jsonl --query-slice types.tsv:type",
        "evaluate qrels.txt bm25.run --query-slice types.tsv",
        "compare qrels.txt bm25.run dense.run --query-slice types.tsv:none",
        "compare qrels.txt bm25.run dense.run --query-slice none.tsv:type",
        "compare qrels.txt bm25.run dense.run --query-slice types.tsv:type --query-slice types.tsv:type",
    ],
)
def test_what_is_asked_wrongly_is_an_error_of_one_line(line: str, leadline: Leadline) -> None:
    assert leadline(*line.split()).refusal
