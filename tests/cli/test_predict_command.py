"""`leadline predict`: shapes of the result, options, refusals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from leadline.topics.infer import Vectors, write_vectors


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write two runs of three queries, judgments, texts and topic vectors."""
    for name, sign in (("a", 1), ("b", -1)):
        lines = [
            f"q{query} Q0 d{rank + sign} 1 {(9 - rank) * (query + 1 + sign)} t{name}\n"
            for query in range(1, 4)
            for rank in range(3)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(1, 4)))
    words = ["wing", "lift", "heat", "flow"]
    docs = [{"doc_id": f"d{n}", "text": f"{word} wing"} for n, word in enumerate(words)]
    queries = [{"query_id": f"q{n}", "text": words[n]} for n in range(1, 4)]
    for name, rows in (("docs", docs), ("queries", queries)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    theta = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.6, 0.3, 0.1]])
    write_vectors(Vectors(["d0", "d1", "d2", "d3"], theta), tmp_path / "v.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_json_holds_the_number_of_lists_with_equal_scores(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "equal.run").write_text("q1 Q0 d1 1 2 e\nq1 Q0 d2 2 2 e\n")
    data = leadline("predict", "equal.run", "-f", "json").data
    assert {"code": "equal_scores", "count": 1}.items() <= data["warnings"][0].items()


@pytest.mark.usefixtures("folder")
def test_json_holds_every_query_and_the_mean_of_every_run(leadline: Leadline) -> None:
    data = leadline("predict", "a.run", "b.run", "-f", "json").data
    assert (data["command"], data["predictors"]) == ("predict", ["NQC(tail)", "WIG(tail)"])
    assert data["queries"] == ["q1", "q2", "q3"]
    assert [run["name"] for run in data["runs"]] == ["a", "b"]
    assert data["runs"][0]["queries"]["q1"]["WIG(tail)"] == 3  # 27, 24, 21 less 21
    assert data["runs"][0]["mean"]["WIG(tail)"] == pytest.approx(4)
    assert [one["rows"] for one in data["inputs"]] == [9, 9]


@pytest.mark.usefixtures("folder")
def test_an_index_and_vectors_bring_more_predictors(leadline: Leadline) -> None:
    assert leadline("index", "docs.jsonl", "-o", "ix").status == 0
    data = leadline(
        "predict", "a.run", "--index", "ix", "--queries", "queries.jsonl", "--topics", "v.jsonl", "-f", "json"
    ).data
    assert {"DeShaTo(total)", "WIG(tail,length=root)"} < set(data["predictors"])
    assert data["options"]["queries"] == "queries.jsonl"
    texts = ("--index", "ix", "--queries", "queries.jsonl")
    only = leadline("predict", "a.run", "-m", "wig(length=root)", *texts, "-f", "csv")
    rows = list(csv.reader(io.StringIO(only.out)))
    assert rows[0] == ["run", "query", "WIG(tail,length=root)"]
    assert [row[1] for row in rows[1:]] == ["q1", "q2", "q3", ""]


@pytest.mark.usefixtures("folder")
def test_predictions_are_correlated_with_a_result_over_queries(leadline: Leadline) -> None:
    leadline("evaluate", "qrels.txt", "a.run", "b.run", "-q", "-f", "json", "-o", "e.json")
    done = leadline("predict", "a.run", "b.run", "--truth", "e.json:AP", "--config", "test.draws=50")
    assert done.out.split()[:3] == ["run", "predictor", "queries"]
    assert "correlation with e.json:AP over queries" in done.out
    data = leadline("predict", "a.run", "b.run", "--truth", "e.json:AP", "-f", "json").data
    assert [row["run"] for row in data["correlations"]] == ["a", "a", "b", "b"]
    assert set(data["correlations"][0]["kendall"]) == {"value", "low", "high"}
    first = leadline("predict", "a.run", "b.run", "--truth", "e.json").out
    assert "correlation with e.json:AP over queries" in first
    lines = leadline("predict", "a.run", "--truth", "e.json", "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["predictor"] for line in lines] == ["NQC(tail)", "WIG(tail)"]


@pytest.mark.usefixtures("folder")
def test_runs_without_a_truth_are_not_counted_as_correlated(leadline: Leadline) -> None:
    leadline("evaluate", "qrels.txt", "a.run", "-q", "-f", "json", "-o", "e.json")
    done = leadline("predict", "a.run", "b.run", "--truth", "e.json:AP", "--config", "test.draws=50")
    assert "1 run, correlation" in done.out
    assert "left out 1 run without values in e.json:AP (b)" in done.out


@pytest.mark.usefixtures("folder")
def test_correlate_reads_what_predict_wrote(leadline: Leadline) -> None:
    leadline("evaluate", "qrels.txt", "a.run", "b.run", "-q", "-f", "json", "-o", "e.json")
    leadline("predict", "a.run", "b.run", "-f", "json", "-o", "p.json")
    data = leadline("correlate", "e.json:AP", "p.json:WIG(tail)", "-f", "json").data
    assert (data["n"], data["estimate"]) == (2, "WIG(tail)")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-m", "best"], "unknown predictor 'best'"),
        (["-m", "WIG(length=root)"], "Add `--index INDEX` and `--queries QUERIES`"),
        (["-m", "DeShaTo"], "Add `--topics VECTORS`"),
        (["--queries", "queries.jsonl"], "--queries needs --index"),
        (["--truth", "e.csv"], "no per-query values"),
        (["--truth", "ids.csv"], "no per-query values"),
        (["--truth", "other.csv"], "no query has both predictions and per-query values"),
        (["--topics", "model.npz"], "model.npz: is a topic model"),
        (["--confidence", "2"], "confidence"),
        (["-o", "a.run"], "a.run would overwrite an input"),
    ],
    ids=str,
)
def test_refusals_are_one_line(leadline: Leadline, arguments: list[str], words: str) -> None:
    Path("e.csv").write_text("run,AP\na,0.5\n")
    Path("ids.csv").write_text("run\na\n")
    Path("other.csv").write_text("run,query,AP\na,other,0.5\n")
    Path("model.npz").write_bytes(b"PK\3\4")
    if arguments[0] == "--confidence":
        Path("e.csv").write_text("run,query,AP\na,q1,0.5\n")
        arguments = [*arguments, "--truth", "e.csv"]
    assert words in leadline("predict", "a.run", "b.run", *arguments).refusal


@pytest.mark.usefixtures("folder")
def test_estimates_are_no_truth(leadline: Leadline) -> None:
    queries = [f"q{n}" for n in range(3)]
    pool = {query: {"d": 1.0, "e": 0.5} for query in queries}
    run = {"a": {query: {"d": 1.0} for query in queries}}
    results = ll.evaluate({query: {"d": 1} for query in queries}, run, "P@1", pool=pool)
    results.write("e.json")
    results.per_query().write("e.csv")
    assert "estimates from a sample" in leadline("predict", "a.run", "--truth", "e.json:P@1").refusal
    refusal = leadline("predict", "a.run", "--truth", "e.csv:value").refusal
    assert "Use values from complete judgments" in refusal  # the saved result would be refused as well
