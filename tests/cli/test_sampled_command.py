"""`leadline sampled`: shapes of the result, populations, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Leadline


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Write judgments and the scores of two relevant documents and one other."""
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "mine.run").write_text("q1 Q0 d1 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 d2 3 1 t\n")
    return [tmp_path / "qrels.txt", tmp_path / "mine.run"]


def test_json_holds_the_number_of_lists_of_equal_scores(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "equal.run").write_text("q1 Q0 d1 1 2 e\nq1 Q0 d2 2 2 e\n")
    data = leadline("sampled", tmp_path / "qrels", tmp_path / "equal.run", "-m", "AP", "-f", "json").data
    assert {one["code"]: one["count"] for one in data["warnings"]}["constant_scores"] == 1


def test_json_has_the_keys_of_the_contract(leadline: Leadline, files: list[Path]) -> None:
    plain = ("-C", "sampled.correction=none")
    data = leadline("sampled", *files, "-m", "AP", "--population", "12", *plain, "-f", "json").data
    assert data["measures"] == ["AP"]
    assert data["runs"][0]["name"] == "mine"
    found = data["runs"][0]["mean"]["AP"]
    assert list(found) == "value low high sampling_low sampling_high bias uncorrected withheld".split()
    assert found["value"] == pytest.approx((1 + 2 / 12) / 2)
    assert found["value"] == found["uncorrected"]
    assert found["low"] is found["sampling_low"] is None
    assert found["withheld"].startswith("intervals are available only with correction 'log'")
    assert "queries" not in data["runs"][0]
    assert data["options"]["population"] == 12
    more = leadline("sampled", *files, "-q", "-f", "json").data
    assert more["runs"][0]["queries"]["q1"]["RR"] == 1.0


@pytest.mark.parametrize("text", ["q1 10\n", "query,documents\nq1,10\n", "# all\nq1\t10\n"])
def test_a_population_may_be_a_file(leadline: Leadline, files: list[Path], text: str) -> None:
    path = files[0].parent / "population.txt"
    path.write_text(text)
    data = leadline(
        "sampled", *files, "-m", "AP", "--population", path, "-C", "sampled.correction=none", "-f", "json"
    ).data
    assert data["runs"][0]["mean"]["AP"]["value"] == pytest.approx((1 + 2 / 12) / 2)


def test_what_cannot_be_is_one_line(leadline: Leadline, files: list[Path]) -> None:
    path = files[0].parent / "population.txt"
    for text, words in (
        ("q1 10\nq1 11\n", "population.txt:2: query 'q1' appears twice"),
        (
            "q1 10\nq2 x\n",
            "the line must consist of a query and its number of non-relevant documents, not 'q2 x'",
        ),
        ("", "contains no lines with a query and its number of non-relevant documents"),
        ("q2 5\n", "query 'q1' has no population"),
    ):
        path.write_text(text)
        assert words in leadline("sampled", *files, "--population", path).refusal
    done = leadline("sampled", *files, "--population", "-3")
    assert "Pass the number of documents in the collection, or a file" in done.err
    assert "Bpref cannot be estimated" in leadline("sampled", *files, "-m", "Bpref").err


def test_the_table_shows_both_intervals_if_there_are_any(
    leadline: Leadline, files: list[Path], tmp_path: Path
) -> None:
    call = ("sampled", *files, "-m", "AP", "-m", "P@2", "--population", "12")
    text = leadline(*call).out
    assert "no interval for AP and P@2 of mine: intervals need at least 10 queries, not 1" in text
    assert "low" not in text
    assert "sampling low" in leadline(*call, "-f", "csv").out
    queries = range(12)
    (tmp_path / "q").write_text("".join(f"q{n} 0 d1 1\n" for n in queries))
    (tmp_path / "r").write_text(
        "".join(f"q{n} Q0 d{k} {k} {(k + n) % 4} r\n" for n in queries for k in range(4))
    )
    text = leadline("sampled", tmp_path / "q", tmp_path / "r", "-m", "AP").out
    assert "sampling low" in text
    assert "low, high: " in text


def test_a_sample_is_drawn_scored_and_estimated(leadline: Leadline, tmp_path: Path) -> None:
    words = ("wing", "flow", "heat", "bird", "plate", "cold", "air", "drag")
    docs = [f"{words[n % 8]} {words[n // 8 % 8]} {words[n * n % 8]}" for n in range(90)]
    (tmp_path / "docs.jsonl").write_text(
        "".join(json.dumps({"doc_id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(docs))
    )
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"query_id": f"q{n}", "text": f"{one} air"}) + "\n" for n, one in enumerate(words))
    )
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d{n + 8 * k} 1\n" for n in range(8) for k in (0, 2)))
    leadline("index", tmp_path / "docs.jsonl", "-o", tmp_path / "docs.index")
    for name, model in (("bm25", "BM25"), ("ql", "QLDirichlet")):
        leadline(
            *f"search {tmp_path}/docs.index {tmp_path}/queries.jsonl -m {model}".split(),
            *f"-o {tmp_path}/{name}.run".split(),
        )
    qrels, pool, certain = (tmp_path / "qrels.txt", tmp_path / "pairs.tsv", f"{tmp_path / 'bm25.run'}:10")
    done = leadline(
        *f"sampled {qrels} --draw {pool} --docs {tmp_path}/docs.jsonl --sample 20".split(),
        *f"--certain {certain} -f json".split(),
    )
    assert done.status == 0, done.err
    lines = pool.read_text().splitlines()
    assert lines[0].split("\t")[:3] == ["query_id", "doc_id", "probability"]
    assert done.data["pairs"] == len(lines) - 1
    chances = [float(line.split("\t")[2]) for line in lines[1:]]
    assert sum(chance < 1 for chance in chances) == 8 * 10
    scored = leadline(
        *f"score {tmp_path}/docs.index {tmp_path}/queries.jsonl {pool} -m QLDirichlet".split(),
        *f"-o {tmp_path}/scored.run".split(),
    )
    assert scored.status == 0, scored.err
    whole = leadline("evaluate", qrels, tmp_path / "ql.run", "-m", "AP", "-f", "json").data
    found = leadline(
        *f"sampled {qrels} {tmp_path}/scored.run -m AP --population 90 --certain {certain} -f json".split()
    ).data
    value = found["runs"][0]["mean"]["AP"]["value"]
    assert value == pytest.approx(whole["runs"][0]["mean"]["AP"], abs=0.15)
    assert found["options"]["certain"] == certain


def test_what_does_not_go_together_is_one_line(leadline: Leadline, files: list[Path]) -> None:
    qrels, run = files
    pool = qrels.parent / "pool.tsv"
    for words, said in (
        ((qrels,), "Missing argument 'SCORES...'"),
        ((qrels, run, "--draw", pool), "--draw does not use scores. Leave out SCORES."),
        ((qrels, "--draw", pool), "--draw needs --docs DOCS and --sample N"),
        ((qrels, run, "--docs", run), "--docs needs --draw"),
        ((qrels, run, "--certain", "x.run"), "must be RUN:K"),
        ((qrels, run, "--certain", f"{run}:5", "--sample", "5"), "(half certain, half drawn)"),
        ((qrels, "--draw", qrels, "--docs", run, "--sample", "5"), "would overwrite an input"),
    ):
        assert said in leadline("sampled", *words).refusal
        assert not pool.exists()
