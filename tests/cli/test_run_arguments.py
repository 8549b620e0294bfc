"""Runs and measures as arguments: order, names, and what is there before what it may mean."""

from __future__ import annotations

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from conftest import Leadline

GRADES = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(6)}
OLD = {query: ["c", "a", "b"] for query in GRADES}
NEW = {query: ["a", "c", "b"] for query in GRADES}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with judgments, and two runs of one file name in two folders."""
    for folder, run in (("old", OLD), ("new", NEW)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.json").write_text(json.dumps(run))
    (tmp_path / "qrels.json").write_text(json.dumps(GRADES))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(leadline: Leadline, *arguments: str) -> Any:
    """Return the JSON of a command on the judgments."""
    command, *rest = arguments
    done = leadline(command, "qrels.json", *rest, "-f", "json")
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("command", ["evaluate", "compare", "rank", "report"])
def test_measures_are_found_among_the_runs_in_any_order(leadline: Leadline, command: str) -> None:
    runs = ["old/bm25.json", "new/bm25.json"]
    more = ["-o", "page.html"] if command == "report" else []
    options = [word for name in ("AP", "P@1", "P@3") for word in ("-m", name)]
    wanted = found(leadline, command, *runs, *options, *more)
    for order in [*permutations([*runs, "AP"])][: 1 if command == "report" else None]:
        if order.index(runs[0]) < order.index(runs[1]):
            given = found(leadline, command, *order, "P@{1,3}", *more)
            assert {name: given[name] for name in given if name != "options"} == {
                name: wanted[name] for name in given if name != "options"
            }


@pytest.mark.parametrize("text", ["AP nDCG@5,10", "AP,nDCG@{5,10}", "map , ndcg_cut.5,10"])
def test_one_text_holds_several_measures(leadline: Leadline, text: str) -> None:
    for given in ([text], ["-m", text]):
        assert found(leadline, "evaluate", "old", *given)["measures"] == ["AP", "nDCG@5", "nDCG@10"]


def test_a_file_comes_before_a_measure_of_its_name(leadline: Leadline, here: Path) -> None:
    (here / "AP").write_text(json.dumps(NEW))
    runs = found(leadline, "evaluate", "AP", "RR")["runs"]
    assert [(run["name"], list(run["mean"])) for run in runs] == [("AP", ["RR"])]


def test_names_that_are_given_stay_and_others_tell_the_files_apart(leadline: Leadline) -> None:
    names = [
        [run["name"] for run in found(leadline, "evaluate", "AP", *runs)["runs"]]
        for runs in (
            ["old/bm25.json", "new/bm25.json"],
            ["*/bm25.json"],
            ["bm25=old/bm25.json", "new/bm25.json"],
            ["old/bm25.json", "tuned=new/bm25.json"],
        )
    ]
    assert names == [
        ["old/bm25", "new/bm25"],
        ["new/bm25", "old/bm25"],
        ["bm25", "new/bm25"],
        ["bm25", "tuned"],
    ]


@pytest.mark.parametrize("baseline", ["old/bm25", "old/bm25.json"])
def test_a_baseline_is_named_by_its_name_or_its_path(leadline: Leadline, baseline: str) -> None:
    runs = ["new/bm25.json", "old/bm25.json"]
    pairs = found(leadline, "compare", *runs, "AP", "--baseline", baseline)["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("new/bm25", "old/bm25")]


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("nDGC@10", "'nDGC@10' is neither a file nor a measure. Did you mean nDCG@10"),
        ("bm25", "'bm25' is neither a file nor a measure"),
        ("new/none.json", "new/none.json: no such file"),
        ("x=none.json", "none.json: no such file"),
        ("none*", "none*: is a pattern that matches no file"),
        ("x=*/bm25.json", "gives 2 files the same name"),
    ],
)
def test_what_is_neither_file_nor_measure_is_one_error(leadline: Leadline, argument: str, says: str) -> None:
    assert says in leadline("compare", "qrels.json", "old/bm25.json", argument).refusal


def test_one_file_given_twice_is_refused(leadline: Leadline) -> None:
    assert (
        "two runs are both named 'bm25'"
        in leadline("compare", "qrels.json", "old/bm25.json", "old/bm25.json").refusal
    )


def test_tables_that_pyterrier_writes_beside_runs_are_no_runs(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "perquery.csv").write_text("name,qid,measure,value\nbm25,q1,map,1\n")
    (folder / "aggregated.csv").write_text("name,map\nbm25,1\n")
    given = ("evaluate", tmp_path / "qrels.txt", folder, "-m", "RR", "-f", "json")
    assert "aggregated.csv:1: no query ids were found among the columns name, map" in leadline(*given).err
    (folder / "bm25.res.gz").write_bytes(gzip.compress(b"q1 Q0 d1 0 1.5 bm25\n"))
    assert [run["name"] for run in leadline(*given).data["runs"]] == ["bm25"]
