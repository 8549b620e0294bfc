"""`leadline rank` and per-query values: the same numbers from runs and from tables, and gates."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import REPOSITORY, Leadline

EXAMPLES = REPOSITORY / "docs" / "examples"


@pytest.fixture
def folder(tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the examples, with their values in tables."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    runs = ["bm25.run", "dense.run"]
    for name in runs:
        done = leadline("evaluate", "qrels.txt", name, "-m", "AP", "-m", "nDCG@10", "-q", "-f", "trec")
        Path(name.replace(".run", ".eval")).write_text(done.out)
    lines = Path("dense.eval").read_text().splitlines()
    Path("short.eval").write_text("\n".join(line for line in lines if "knots" not in line) + "\n")
    done = leadline("evaluate", "qrels.txt", *runs, "-m", "AP", "-m", "nDCG@10", "-q", "-f", "csv")
    Path("values.csv").write_text(done.out)
    done = leadline("evaluate", "qrels.txt", *runs, "-m", "AP", "-m", "nDCG@10", "-q", "-f", "json")
    Path("values.json").write_text(done.out)
    rows = [
        f"q{n},{run},{100 + 7 * n + shift},0.{n}5"
        for n in range(9)
        for run, shift in (("a", n % 3), ("b", 20))
    ]
    Path("latency.csv").write_text("query,run,latency,faithfulness\n" + "\n".join(rows) + "\n")
    return tmp_path


RANKED = ["-m", "AP", "-m", "nDCG@10", "-f", "json", "--config", "test.draws=200"]


@pytest.mark.usefixtures("folder")
def test_scores_are_ranked_as_their_runs(leadline: Leadline) -> None:
    expected = leadline("rank", "qrels.txt", "bm25.run", "dense.run", *RANKED).data
    for files in (["values.csv"], ["values.json"]):
        found = leadline("rank", *files, *RANKED).data
        assert found["runs"] == expected["runs"]
        assert [entry["path"] for entry in found["inputs"]] == files


@pytest.mark.usefixtures("folder", "undrawn")
def test_output_of_trec_eval_is_ranked_compared_and_reported(leadline: Leadline) -> None:
    done = leadline("rank", "bm25.eval", "dense.eval", "-f", "json")
    assert done.status == 0, done.err
    assert {run["name"] for run in done.data["runs"]} == {"bm25", "dense"}
    assert done.data["measures"] == ["AP", "nDCG@10"]
    words = ["compare", "bm25.eval", "short.eval", "--config", "scores.missing=drop", "-f", "json"]
    pairs = leadline(*words).data["pairs"]
    assert [(pair["measure"], pair["queries"]) for pair in pairs] == [("AP", 2), ("nDCG@10", 2)]
    page = leadline("report", "values.csv", "-o", "page.html", "-f", "json")
    assert page.status == 0, page.err
    assert page.data["pairs"][0]["measure"] == "AP"


@pytest.mark.usefixtures("folder")
def test_directions_reach_verdicts_gates_and_ranks(leadline: Leadline) -> None:
    scores = ["latency.csv", "-m", "latency"]
    lower = [*scores, "--config", "scores.lower_is_better=latency"]
    higher = [*scores, "--config", "scores.higher_is_better=latency"]
    for words, verdict, first, failed in ((higher, "better", "b", False), (lower, "worse", "a", True)):
        compared = leadline("compare", *words, "-f", "json").data["pairs"][0]
        assert (compared["a"], compared["verdict"]) == ("b", verdict)
        assert (
            leadline("rank", *words, "-f", "json", "--config", "test.draws=0").data["runs"][0]["name"]
            == first
        )
        gate = leadline("compare", *words, "--baseline", "a", "--fail-if-worse", "latency", "-f", "json")
        assert gate.data["conditions"][0]["failed"] is failed
        assert gate.status == failed
    options = leadline("rank", *higher, "-C", "scores.wide=measures", "-f", "json").data["options"]
    assert (options["higher_is_better"], options["lower_is_better"]) == (["latency"], [])
    assert options["wide"] == "measures"
    Path("lower.toml").write_text('[scores]\nlower_is_better = "latency"\n')
    options = leadline("rank", *higher, "--config", "lower.toml", "-f", "json").data["options"]
    assert (options["higher_is_better"], options["lower_is_better"]) == (["latency"], [])
    below = leadline("compare", *lower, "--baseline", "a", "--fail-below", "latency=120", "-f", "json")
    assert below.data["conditions"][0]["failed"]


@pytest.mark.usefixtures("folder")
def test_two_measures_of_tables_are_correlated(leadline: Leadline) -> None:
    rows = [f"q{q},r{r},{(q * r) % 5 / 5},{r + (q + r) % 3}" for q in range(6) for r in range(7)]
    Path("s.csv").write_text("query,run,AP,latency\n" + "\n".join(rows) + "\n")
    together = leadline("correlate", "s.csv", "-m", "AP", "-m", "latency", "-f", "json").data
    apart = leadline("correlate", "s.csv:map", "s.csv:latency", "-f", "json").data
    assert together["n"] == 7
    assert (together["options"]["missing"], together["options"]["lower_is_better"]) == ("refuse", [])
    for name in ("kendall", "pearson"):
        assert together[name] == apart[name]
    assert (apart["truth"], apart["estimate"]) == ("AP", "latency")
    assert together["kendall"]["queries_low"] is not None


@pytest.mark.usefixtures("folder")
def test_every_form_has_a_row_for_each_run_and_measure(leadline: Leadline) -> None:
    words = ["rank", "values.csv", "--config", "test.draws=100"]
    rows = list(csv.DictReader(io.StringIO(leadline(*words, "-f", "csv").out)))
    assert [(row["name"], row["measure"]) for row in rows] == [
        ("dense", "AP"),
        ("bm25", "AP"),
        ("bm25", "nDCG@10"),
        ("dense", "nDCG@10"),
    ]
    assert leadline(*words, "-f", "jsonl").out.count("\n") == 4
    assert "\\bottomrule" in leadline(*words, "-f", "latex").out
    done = leadline(*words, "-o", "ranks.svg")
    assert done.status == 0, done.err
    assert Path("ranks.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rank", "qrels.txt"], "or per-query values"),
        (
            ["rank", "qrels.txt", "bm25.run", "dense.run", "--config", "scores.missing=zero"],
            "--config scores.missing works only with per-query values",
        ),
        (
            ["compare", "qrels.txt", "bm25.run", "--config", "scores.lower_is_better=x"],
            "--config scores.lower_is_better works only with per-query values",
        ),
        (
            ["report", "qrels.txt", "bm25.run", "--config", "scores.wide=runs"],
            "--config scores.wide works only with per-query values",
        ),
        (
            ["correlate", "qrels.txt", "bm25.run", "--config", "scores.wide=runs"],
            "--config scores.wide works only with per-query values",
        ),
        (["correlate", "values.json"], "two measures (-m MEASURE -m MEASURE)"),
        (["correlate", "values.json", "values.json", "-m", "AP"], "two measures (-m MEASURE -m MEASURE)"),
        (
            ["rank", "values.csv", "bm25.run"],
            "Pass only files with per-query values, or only files without them",
        ),
        (["correlate", "values.csv"], "two measures (-m MEASURE -m MEASURE)"),
        (["rank", "values.csv", "-l", "2"], "--level does not apply to values"),
        (["rank", "values.csv", "-C", "queries=both"], "scores.queries does not apply to values"),
        (["rank", "values.csv", "-m", "RR"], "no measure 'RR'"),
        (["rank", "values.csv", "-o", "values.csv"], "would overwrite"),
        (["rank", "bm25.eval", "short.eval"], "missing values: 2 of 12"),
    ],
)
def test_options_that_contradict_each_other_are_refused_in_one_line(
    leadline: Leadline, words: list[str], said: str
) -> None:
    assert said in leadline(*words).refusal


@pytest.mark.usefixtures("folder")
def test_collections_of_a_suite_are_ranked_as_queries(leadline: Leadline) -> None:
    """Means of collections are the values: the rank intervals are those of a table that holds them."""
    random = np.random.default_rng(5)
    names, collections = ["a", "b", "c"], [f"c{number}" for number in range(8)]
    means = random.random((3, 8)) + np.array([[1.0], [0.5], [0.4]])
    suite: dict[str, Any] = {
        "command": "suite",
        "runs": [
            {
                "name": name,
                "means": {place: {"AP": value} for place, value in zip(collections, row, strict=True)},
            }
            for name, row in zip(names, means.tolist(), strict=True)
        ],
    }
    Path("suite.json").write_text(json.dumps(suite))
    rows = [
        f"{place},{name},AP,{value!r}\n"
        for name, row in zip(names, means.tolist(), strict=True)
        for place, value in zip(collections, row, strict=True)
    ]
    Path("table.csv").write_text("query_id,run,measure,value\n" + "".join(rows))
    of_suite, of_table = (
        leadline("rank", file, "-m", "AP", "-f", "json").data["runs"] for file in ("suite.json", "table.csv")
    )
    assert of_suite == of_table
    del suite["runs"][1]["means"]["c3"]
    Path("suite.json").write_text(json.dumps(suite))
    assert "query 'c3'" in leadline("rank", "suite.json", "-m", "AP").err
    Path("suite.json").write_text(json.dumps({"command": "suite", "runs": [{"name": "a"}]}))
    assert leadline("rank", "suite.json", "-m", "AP").refusal
