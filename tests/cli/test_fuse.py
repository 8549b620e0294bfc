"""`leadline fuse`: the written run, trained weights, keys of the JSON, refusals."""

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


def test_training_gives_weights_their_values_and_the_held_out_run(leadline: Leadline, tmp_path: Path) -> None:
    target, qrels = tmp_path / "both.run", EXAMPLES / "qrels.txt"
    line = ["fuse", *RUNS, "--train", qrels, "-m", "AP", "--folds", "2", "-o", target, "-f", "json"]
    training = json.loads(leadline(*line).out)["training"]
    expected = ll.train_fusion(list(map(str, RUNS)), str(qrels), "AP", folds=2)
    assert training == expected.to_dict()
    assert ll.read_run(target) == expected.run
    data = json.loads(leadline(*line, "--held-out").out)
    assert ll.read_run(target) == expected.held_out
    assert "learned" not in [one["code"] for one in data["warnings"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--held-out"], "--held-out without --train QRELS"),
        (["-m", "AP"], "--measure without --train QRELS"),
        (["--weights", "1,x"], "--weights 1,x; expected numbers"),
        (["--weights", "1,1", "--train", EXAMPLES / "qrels.txt"], "--weights with --train"),
        (["--on-duplicate", "hold"], "expected refuse, first, last or max"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    leadline: Leadline, tmp_path: Path, options: list[str], words: str
) -> None:
    done = leadline("fuse", *RUNS, *options, "-o", tmp_path / "both.run")
    assert done.status == 2
    assert words in done.err
    assert not (tmp_path / "both.run").exists()


def test_weights_are_not_learned_from_judgments_without_relevant_documents() -> None:
    qrels = {"q1": {"a": 0}, "q2": {"c": 0}}
    runs = {"x": {"q1": ["a", "b"], "q2": ["c"]}, "y": {"q1": ["b", "a"], "q2": ["d"]}}
    with pytest.raises(ll.InputError, match="AP is 0 for every query with all weights"):
        ll.train_fusion(runs, qrels, "AP")
