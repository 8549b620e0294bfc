"""`leadline replicate`: its JSON, its figures, what it refuses, and headers of runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline

EXAMPLES = REPOSITORY / "docs" / "examples"
HEADER = "# ir_metadata.start\n# tag: bm25\n# method:\n#   automatic: 'true'\n# ir_metadata.end\n"
RUNS = ["bm25.run", "dense.run", "bm25.run", "late.run"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the examples, with a third run and judgments of other queries."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    lines = Path("dense.run").read_text().splitlines()
    late = [line.replace(" d02 ", " d99 ") for line in lines]
    Path("late.run").write_text("\n".join(late) + "\n")
    Path("other.txt").write_text(Path("qrels.txt").read_text().replace(" d02 ", " d99 "))
    Path("headed.run").write_text(HEADER + Path("bm25.run").read_text())
    return tmp_path


def test_a_reproduction(leadline: Leadline) -> None:
    data = leadline("replicate", *RUNS, "qrels.txt", "-m", "AP", "-m", "RR", "-f", "json", "-q").data
    assert data["kind"] == "reproduction"
    assert [run["role"] for run in data["runs"]] == [
        "original baseline",
        "original advanced",
        "reproduced baseline",
        "reproduced advanced",
    ]
    assert [entry["path"] for entry in data["inputs"]] == ["qrels.txt", *RUNS]
    errors = {
        (value["measure"], value["run"]): value["value"]
        for value in data["values"]
        if value["statistic"] == "rmse"
    }
    assert errors["AP", "baseline"] == 0
    assert errors["AP", "advanced"] > 0
    assert set(data["per_query"]) == set(data["queries"])
    leadline("replicate", *RUNS, "qrels.txt", "-m", "AP", "-m", "RR", "-q", "-o", "all.json")
    assert json.loads(Path("all.json").read_text())["per_query"] == data["per_query"]


def test_a_replication_has_two_sets_of_queries(leadline: Leadline) -> None:
    data = leadline("replicate", *RUNS, "qrels.txt", "other.txt", "-m", "AP", "-f", "json").data
    assert data["kind"] == "replication"
    assert data["replicated_queries"] == data["queries"]
    assert [entry["path"] for entry in data["inputs"]] == ["qrels.txt", *RUNS, "other.txt"]
    assert {value["statistic"] for value in data["values"]} >= {"difference", "effect_ratio"}


def test_figures_are_written(leadline: Leadline) -> None:
    assert leadline("replicate", *RUNS, "qrels.txt", "-o", "one.svg").status == 0
    assert leadline("replicate", *RUNS, "qrels.txt", "-o", "two.svg", "--figure", "effects").status == 0
    assert leadline("replicate", *RUNS, "qrels.txt", "other.txt", "-o", "three.svg").status == 0
    sizes = {Path(name).stat().st_size for name in ("one.svg", "two.svg", "three.svg")}
    assert len(sizes) > 1


@pytest.mark.parametrize(
    "options",
    [
        ["other.txt", "-o", "a.svg", "--figure", "differences"],
        ["other.txt", "-q", "-f", "json"],
        ["other.txt", "-q", "-f", "none", "-o", "saved.json"],
        ["-q"],
        ["--figure", "effects"],
        ["--config", "read.name_by=tag"],
        ["--config", "test.draws=5"],
        ["--rbo", "Jaccard"],
    ],
)
def test_options_without_effect_are_refused(leadline: Leadline, options: list[str]) -> None:
    done = leadline("replicate", *RUNS, "qrels.txt", *options)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)


def test_help_lists_no_setting_that_is_refused(leadline: Leadline) -> None:
    assert "name_by" in leadline("evaluate", "--help").out
    assert "name_by" not in leadline("replicate", "--help").out


def test_headers_of_runs_are_in_the_inputs(leadline: Leadline) -> None:
    data = leadline("evaluate", "qrels.txt", "headed.run", "bm25.run", "-f", "json").data
    expected = "tag: bm25\nmethod:\n  automatic: 'true'\n"
    assert [entry.get("ir_metadata") for entry in data["inputs"]] == [None, expected, None]


def test_a_header_is_kept_by_convert(leadline: Leadline) -> None:
    assert leadline("convert", "headed.run", "copy.run").status == 0
    assert Path("copy.run").read_text().startswith(HEADER)
    assert leadline("convert", "copy.run", "again.run.gz").status == 0
    assert "left out" not in leadline("convert", "again.run.gz", "third.run").out
    assert Path("third.run").read_text() == Path("copy.run").read_text()
    assert "header ir_metadata" in leadline("convert", "headed.run", "copy.csv").out
