"""`leadline fuse`: the written run, keys of the JSON, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline

EXAMPLES = REPOSITORY / "docs" / "examples"
RUNS = [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]


def test_the_file_holds_the_fused_run(leadline: Leadline, tmp_path: Path) -> None:
    target = tmp_path / "both.run"
    done = leadline("fuse", *RUNS, "--method", "CombSUM", "--weights", "0.3,0.7", "-o", target, "-f", "json")
    expected = ll.fuse(list(map(str, RUNS)), "CombSUM", weights=[0.3, 0.7])
    assert ll.read_run(target) == expected
    data = json.loads(done.out)
    assert [one["weight"] for one in data["runs"]] == [0.3, 0.7]
    assert (data["run"], data["queries"], data["documents"]) == (str(target), 3, len(expected.scores))
    assert [one["code"] for one in data["warnings"]] == ["missing_queries"]


@pytest.mark.parametrize("given", [["runs/*.run"], ["runs"], ["runs/dense.run", "dense=runs/bm25.run"]])
def test_runs_are_given_as_for_evaluate(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    (tmp_path / "runs").mkdir()
    for run in RUNS:
        (tmp_path / "runs" / run.name).write_bytes(run.read_bytes())
    monkeypatch.chdir(tmp_path)
    done = leadline("fuse", *given, "-o", "both.run", "-f", "json")
    assert len(done.data["runs"]) == 2
    assert done.data["runs"][1]["name"] == "dense"
    assert ll.read_run("both.run").to_dict() == ll.fuse(RUNS).to_dict()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--weights", "1,x"], "--weights 1,x is not valid"),
        (["--config", "read.on_duplicate=hold"], "refuse, first, last or max"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    leadline: Leadline, tmp_path: Path, options: list[str], words: str
) -> None:
    assert words in leadline("fuse", *RUNS, *options, "-o", tmp_path / "both.run").refusal
    assert not (tmp_path / "both.run").exists()
