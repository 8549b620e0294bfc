"""Judgments for other programs: what is written is read back equal, and what they cannot hold is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline.io.write import write_beir, write_rank_eval

QRELS = {"q1": {"d1": 3, "d 2": 0}, 'q"2': {"d\t3": 1}}


def files(folder: Path) -> Path:
    (folder / "qrels.json").write_text(json.dumps(QRELS))
    (folder / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "wings"}\n{"_id": "q\\"2", "text": "tails"}\n'
    )
    (folder / "docs.jsonl").write_text('{"_id": "d1", "title": "Wing", "text": "It lifts."}\n')
    return folder / "qrels.json"


def test_a_folder_of_beir_is_read_back_and_by_its_loader(tmp_path: Path, leadline: Leadline) -> None:
    source, target = files(tmp_path), tmp_path / "beir"
    texts = ["--queries", tmp_path / "queries.jsonl", "--docs", tmp_path / "docs.jsonl"]
    found = leadline("convert", source, target, "--to", "beir", *texts)
    assert found.status == 0, found.err
    assert ll.read_qrels(target).to_dict() == ll.read_qrels(target / "qrels" / "test.tsv").to_dict() == QRELS
    # GenericDataLoader of BEIR: a header, then rows of the csv module with tabs between, and a whole number
    rows = list(csv.reader((target / "qrels" / "test.tsv").read_text().splitlines(), delimiter="\t"))
    assert rows[0] == ["query-id", "corpus-id", "score"]
    assert {(q, d, int(g)) for q, d, g in rows[1:]} == {("q1", "d1", 3), ("q1", "d 2", 0), ('q"2', "d\t3", 1)}
    documents = [json.loads(line) for line in (target / "corpus.jsonl").read_text().splitlines()]
    assert documents == [{"_id": "d1", "title": "Wing", "text": "It lifts."}]
    queries = {
        row["_id"]: row["text"]
        for row in map(json.loads, (target / "queries.jsonl").read_text().splitlines())
    }
    assert queries == {"q1": "wings", 'q"2': "tails"}
    assert [query.text for query in ll.read_queries(target / "queries.jsonl")] == ["wings", "tails"]
    run = {"q1": {"d1": 1.0}, 'q"2': {"d\t3": 1.0}}
    assert ll.evaluate(target, run, "RR").mean("run", "RR") == 1.0
    assert "exists" in leadline("convert", source, target, "--to", "beir").err
    with pytest.raises(UsageError, match="exists"):
        write_beir(ll.read_qrels(QRELS), target)


def test_splits_of_a_folder_of_beir_are_named(tmp_path: Path) -> None:
    write_beir(ll.read_qrels(QRELS), tmp_path / "set")
    folder = tmp_path / "set" / "qrels"
    (folder / "dev.tsv").write_bytes((folder / "test.tsv").read_bytes())
    assert ll.read_qrels(tmp_path / "set").to_dict() == QRELS
    (folder / "test.tsv").rename(folder / "train.tsv")
    with pytest.raises(InputError, match=r"2 splits\. Use .*dev\.tsv or .*train\.tsv"):
        ll.read_qrels(tmp_path / "set")
    (folder / "dev.tsv").unlink()
    assert ll.read_qrels(tmp_path / "set").to_dict() == QRELS
    (folder / "train.tsv").unlink()
    with pytest.raises(InputError, match="is a folder"):
        ll.read_qrels(tmp_path / "set")


@pytest.mark.parametrize("name", ["request.json", "request.json.gz"])
def test_requests_of_rank_eval_are_read_back(name: str, tmp_path: Path, leadline: Leadline) -> None:
    source, target = files(tmp_path), tmp_path / name
    options = ["--to", "rank_eval", "--index-name", "books", "--queries", tmp_path / "queries.jsonl"]
    assert leadline("convert", source, target, *options).status == 0
    assert ll.read_qrels(target).to_dict() == QRELS
    write_rank_eval(ll.read_qrels(QRELS), tmp_path / "bare.json", index="books")
    request = json.loads((tmp_path / "bare.json").read_text())["requests"][1]
    assert request["ratings"] == [
        {"_index": "books", "_id": "d1", "rating": 3},
        {"_index": "books", "_id": "d 2", "rating": 0},
    ]
    assert request["request"] == {"query": {"match_all": {}}}
    if name.endswith(".json"):
        first = json.loads(target.read_text())["requests"]
        assert first[1]["request"] == {"query": {"multi_match": {"query": "wings"}}}


def test_quepid_is_read_back(tmp_path: Path, leadline: Leadline) -> None:
    target = tmp_path / "a.quepid"
    assert leadline("convert", files(tmp_path), target).status == 0
    assert ll.read_qrels(target).to_dict() == QRELS


def test_what_they_cannot_hold_is_refused_in_one_line(tmp_path: Path, leadline: Leadline) -> None:
    for grades, message in (({"d": 0.5}, "a whole number, but BEIR"), ({"d": -1}, "")):
        if message:
            with pytest.raises(InputError, match=message):
                write_beir(ll.read_qrels({"q": grades}), tmp_path / "a")
        with pytest.raises(InputError, match=r"_rank_eval (reads|needs|accepts)"):
            write_rank_eval(ll.read_qrels({"q": grades}), tmp_path / "a.json", index="i")
    by_subtopic = ll.read_qrels({"q": {"s": {"d": 1}}}, subtopics=True)
    with pytest.raises(InputError, match="BEIR reads only queries, documents and grades, not subtopics"):
        write_beir(by_subtopic, tmp_path / "a")
    with pytest.raises(InputError, match="query 'q\"2' has no text"):
        write_rank_eval(ll.read_qrels(QRELS), tmp_path / "a.json", index="i", queries={"q1": "wings"})
    source = files(tmp_path)
    (tmp_path / "a.run").write_text("q Q0 d 1 0.5 t\n")
    for words in (
        ["--to", "rank_eval"],
        ["--index-name", "i"],
        ["--docs", tmp_path / "docs.jsonl"],
        ["--queries", tmp_path / "queries.jsonl", "--to", "csv"],
    ):
        assert leadline("convert", source, tmp_path / "out", *words).refusal
    found = leadline("convert", tmp_path / "a.run", tmp_path / "out", "--to", "beir")
    assert "is a run" in found.err
    assert not (tmp_path / "out").exists()


def test_columns_of_judgments_are_named(tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = tmp_path / "qrels.tsv", tmp_path / "run.tsv"
    qrels.write_text("3\tq1\td1\n0\tq1\td2\n")
    run.write_text("d2\tq1\t2.5\nd1\tq1\t0.5\n")
    other = tmp_path / "other.tsv"
    other.write_bytes(run.read_bytes())
    named = [
        "--config",
        "read.qrels_columns=relevance,query_id,doc_id",
        "--config",
        "read.columns=doc_id,query_id,score",
    ]
    assert ll.read_qrels(qrels, qrels_columns="relevance,query_id,doc_id").to_dict() == {
        "q1": {"d1": 3, "d2": 0}
    }
    found = leadline("evaluate", qrels, run, "-m", "RR", "-f", "json", *named).data
    assert found["runs"][0]["mean"]["RR"] == 0.5
    for command in (
        ["compare", qrels, run, other, "-m", "RR"],
        ["curve", qrels, run],
        ["explain", qrels, run, "-m", "RR", "--query-id", "q1"],
    ):
        assert leadline(*command, *named).status == 0
    made = leadline("convert", qrels, "-", "--config", "read.columns=relevance,query_id,doc_id")
    assert (made.status, made.out) == (0, "q1 0 d1 3\nq1 0 d2 0\n")
    made = leadline("convert", run, tmp_path / "a.json", "--config", "read.columns=doc_id,query_id,score")
    assert (made.status, ll.read_run(tmp_path / "a.json").to_dict()) == (0, {"q1": {"d2": 2.5, "d1": 0.5}})
    with pytest.raises(
        UsageError, match=r"qrels_columns must be column names separated by commas, .*, not 3"
    ):
        ll.read_qrels(qrels, qrels_columns=3)  # type: ignore[arg-type]  # the point of the test
    levels = tmp_path / "levels.txt"
    levels.write_text("d1 q1 L2\nd2 q1 L0\n")
    assert ll.read_qrels(levels, qrels_columns="doc_id,query_id,relevance").to_dict() == {
        "q1": {"d1": 2, "d2": 0}
    }
