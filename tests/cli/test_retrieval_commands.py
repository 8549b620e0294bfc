"""The commands index, search, score, models and collection: their results, and what they refuse."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.evaluation.score_results import read_scores
from leadline.io.objects import read_run
from leadline.retrieval.models import MODELS
from leadline.retrieval.search import search

DOCS = [
    {"doc_id": "d1", "title": "Wings", "text": "A wing lifts.", "url": "a.example"},
    {"doc_id": "d2", "title": "", "text": "tail heat"},
    {"doc_id": "d3", "title": "", "text": ""},
]
QUERIES = [
    {"query_id": "q1", "text": "wings"},
    {"query_id": "q2", "text": "heat"},
    {"query_id": "q3", "text": "nowhere"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline) -> Path:
    """Return a folder with documents, queries, qrels and an index of them."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("docs", DOCS), ("queries", QUERIES)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.txt").write_text("q1 0 d1 2\nq1 0 d3 0\nq2 0 d9 1\n")
    assert leadline("index", "docs.jsonl", "-o", "docs.index").status == 0
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_index_says_what_it_made(leadline: Leadline) -> None:
    done = leadline("index", "docs.jsonl", "-o", "again", "--language", "none", "-f", "json")
    assert done.data["command"] == "index"
    assert (done.data["documents"], done.data["tokens"], done.data["terms"]) == (3, 6, 6)
    assert done.data["analysis"] == "Words(stem=none,stop=none)"
    assert [warning["code"] for warning in done.data["warnings"]] == ["empty_documents"]
    assert done.data["inputs"][0]["rows"] == 3
    assert (
        "again already exists. Choose a new name, or use --overwrite"
        in leadline("index", "docs.jsonl", "-o", "again").refusal
    )
    assert leadline("index", "docs.jsonl", "-o", "again", "--overwrite").status == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_half_of_an_index(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "leadline", "index", "-", "-o", str(tmp_path / "docs.index")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while not list(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(how)
        assert process.wait() == 128 + how
    assert not list(tmp_path.iterdir())


def test_a_search_by_one_model_writes_a_run_with_full_scores(folder: Path, leadline: Leadline) -> None:
    done = leadline(
        "search", "docs.index", "queries.jsonl", "-m", "bm25(k1=0.9)", "-o", "bm25.run", "-f", "json"
    )
    assert done.data["models"] == ["BM25(k1=0.9)"]
    assert set(done.data["seconds"]["BM25(k1=0.9)"]) == {"median", "p95"}
    assert [warning["code"] for warning in done.data["warnings"]] == ["no_known_term", "unknown_terms"]
    found = search("docs.index", "queries.jsonl", "BM25(k1=0.9)")["BM25(k1=0.9)"]
    assert read_run(str(folder / "bm25.run")) == found
    assert (folder / "bm25.run").read_text().split()[-1] == "BM25(k1=0.9)"


def test_ids_with_blanks_are_written_one_model_at_a_time(folder: Path, leadline: Leadline) -> None:
    (folder / "blanks.jsonl").write_text('{"doc_id": "a b", "text": "wing"}\n')
    search_ = ("search", "blanks.index", "queries.jsonl", "-m", "BM25")
    assert leadline("index", "blanks.jsonl", "-o", "blanks.index").status == 0
    refusal = leadline(*search_, "-m", "TF(dot)", "-o", "runs").refusal
    assert refusal.endswith("Use one model at a time, and write each run to a .json file.\n")
    assert not (folder / "runs").exists()
    assert leadline(*search_, "-o", "bm25.json").status == 0


def test_several_models_write_a_folder_that_can_be_evaluated(folder: Path, leadline: Leadline) -> None:
    done = leadline("search", "docs.index", "queries.jsonl", "-m", "BM25", "-m", "TF(cosine)", "-o", "runs")
    assert done.status == 0
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["BM25.run", "TF(cosine).run"]
    shown = leadline("evaluate", "qrels.txt", *(folder / "runs").iterdir(), "-m", "AP", "-f", "json")
    assert {run["name"]: run["mean"]["AP"] for run in shown.data["runs"]} == {"BM25": 0.5, "TF(cosine)": 0.5}
    (folder / "file").touch()
    for output in ("file", "docs.index", "-"):
        done = leadline("search", "docs.index", "queries.jsonl", "-m", "BM25", "-m", "QL", "-o", output)
        assert "folder for the runs of several models" in done.refusal
    assert not list((folder / "docs.index").glob("*.run"))


@pytest.mark.usefixtures("folder")
def test_warnings_stay_where_a_run_goes_to_standard_output(leadline: Leadline) -> None:
    asked = ("search", "docs.index", "queries.jsonl", "-o", "-")
    done = leadline(*asked)
    assert done.out.startswith("q1 Q0 d1 1 ")
    assert "found nothing for 1 query" in done.err
    for option in ("--show", "--per-query"):
        assert f"-o - and {option}" in leadline(*asked, option).refusal
    assert leadline(*asked, "--per-query", "-o", "times.csv").status == 0
    for form in ("table", "json"):  # neither writes the lists to the page
        assert leadline(*asked[:3], "-o", "-", "--show", "-f", form, "-o", "page.html").status == 2
    assert "--show" in leadline(*asked[:3], "-o", "x.run", "--show", "-f", "json", "-o", "p.html").refusal


@pytest.mark.usefixtures("folder")
def test_runs_of_a_grid_are_named_by_all_that_it_varies(leadline: Leadline) -> None:
    grid = [f"BM25(k1={k1},b={b})" for k1 in (0.9, 1.2) for b in (0.75, 0.4)]
    options = [part for model in (*grid, "TF(dot)") for part in ("-m", model)]
    done = leadline("search", "docs.index", "queries.jsonl", *options, "-o", "grid", "-f", "json")
    assert done.data["models"] == [*grid, "TF(dot)"]
    assert [*map(MODELS.parse, done.data["models"])] == [*map(MODELS.parse, [*grid, "TF(dot)"])]


@pytest.mark.usefixtures("folder")
def test_a_run_of_a_grid_is_found_by_the_name_that_was_given() -> None:
    found = search("docs.index", "queries.jsonl", ["BM25", "BM25(k1=0.9)"])
    assert list(found) == ["BM25(k1=1.2)", "BM25(k1=0.9)"]
    assert found["BM25"] is found["BM25(k1=1.2)"] is found["okapi"]
    with pytest.raises(KeyError):
        _ = found["nothing"]


@pytest.mark.usefixtures("folder")
def test_a_prefix_is_stored_and_the_whole_text_is_indexed(leadline: Leadline) -> None:
    leadline("index", "docs.jsonl", "-o", "cut", "--store-text", "-C", "index.prefix=4")
    assert "d2" in leadline("search", "cut", "--query", "heat").out
    assert "tail" in leadline("summary", "cut", "--doc", "d2").out
    assert "heat" not in leadline("summary", "cut", "--doc", "d2").out
    assert "in the stored text" in leadline("summary", "cut", "--doc", "d2", "--query", "heat").out


@pytest.mark.usefixtures("folder")
def test_show_prints_a_list_for_people(leadline: Leadline) -> None:
    done = leadline("search", "docs.index", "queries.jsonl", "-m", "TF(dot)", "--show")
    assert done.out == (
        "TF(dot)\n\nq1: wings\n   1  1.6931  d1  Wings\n      url: a.example\n\nq2: heat\n   1  1.0000  "
        "d2\n\nq3: nowhere\n  nothing found\n\nfound nothing for 1 query without a known term\n"
        "left out 1 query term that no document contains\n"
    )
    rejected = leadline("search", "docs.index", "queries.jsonl", "-m", "BM25")
    assert "Add -o RUN, --show" in rejected.err


def test_a_stored_text_that_is_outdated_is_said(folder: Path, leadline: Leadline) -> None:
    leadline("index", "docs.jsonl", "-o", "stored", "--store-text")
    shown = leadline("search", "stored", "queries.jsonl", "-m", "BM25", "--show").out
    assert "   1  1.1009  d1  Wings\n      url: a.example\n      A [wing] lifts." in shown
    assert "d2\n      tail [heat]\n" in shown
    assert "differs" not in shown
    (folder / "docs.jsonl").write_text('{"doc_id": "d1", "text": "new"}\n')
    shown = leadline("search", "stored", "queries.jsonl", "-m", "BM25", "--show").out
    assert shown.endswith("\ndocs.jsonl differs from the file that was indexed\n")


def test_seconds_of_queries_are_a_table_that_compare_takes(folder: Path, leadline: Leadline) -> None:
    models = ("-m", "BM25", "-m", "TF(dot)")
    assert leadline("index", "docs.jsonl", "-o", "stored", "--store-text").status == 0
    for index, measures in (("docs.index", ["ms"]), ("stored", ["ms", "summary_ms"])):
        done = leadline("search", index, "queries.jsonl", *models, "-q", "-f", "csv")
        (folder / "seconds.csv").write_text(done.out)
        lines = done.out.splitlines()
        assert lines[0] == "query,run,measure,value"
        assert len(lines) == 1 + 3 * 2 * len(measures)
        compared = leadline("compare", "seconds.csv", "-f", "json").data
        assert compared["measures"] == measures
        measures_read = read_scores("seconds.csv").measures
        assert not any(measure.rising or getattr(measure, "assumed", False) for measure in measures_read)


@pytest.mark.usefixtures("folder")
def test_a_typed_query_shows_its_ten_best_documents(leadline: Leadline) -> None:
    found = leadline("search", "docs.index", "--query", "heat of wings")
    assert found.out.startswith("BM25\n\nquery: heat of wings\n   1  ")
    assert found.out.count("\n   ") == 3  # two documents, one with a url
    assert leadline("search", "docs.index", "--query", "heat", "queries.jsonl").status == 2
    assert leadline("search", "docs.index", "-o", "x.run").status == 2
    assert leadline("search", "docs.index", "--query", "heat", "-o", "x.run").status == 0
    assert read_run("x.run").to_dict().keys() == {"query"}


def test_a_page_of_results_has_titles_urls_and_marked_summaries(folder: Path, leadline: Leadline) -> None:
    rows = [
        {
            "doc_id": "w",
            "title": "A <b> wing",
            "text": "Low. " * 60 + "A wing lifts.",
            "url": "http://a.example/?a&b",
        },
        {"doc_id": "x", "text": "wing", "url": "javascript:alert(1)", "author": "B"},
    ]
    (folder / "web.jsonl").write_text("".join(json.dumps({"title": ""} | row) + "\n" for row in rows))
    assert leadline("index", "web.jsonl", "-o", "web.index", "--store-text").status == 0
    dynamic, static = (
        leadline("search", "web.index", "--query", "wing", "-f", "html", "--show", form).out
        for form in ("dynamic", "static")
    )
    for page in (dynamic, static):
        assert page.startswith("<!doctype html>")
        link = '<a href="http://a.example/?a&amp;b" rel="noreferrer">A &lt;b&gt; <mark>wing</mark></a>'
        assert link in page
        assert 'href="javascript' not in page
        assert "author: B" in page
    assert "A <mark>wing</mark> lifts." in dynamic
    assert "lifts" not in static


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pairs.tsv", "query_id\tdoc_id\nq1\td1\nq1\td3\nq2\td9\n"),
        ("pairs.csv", "query_id,doc_id\nq1,d1\nq1,d3\nq2,d9\n"),
        (
            "pairs.jsonl",
            "".join(
                json.dumps({"query_id": query, "doc_id": document}) + "\n"
                for query, document in (("q1", "d1"), ("q1", "d3"), ("q2", "d9"))
            ),
        ),
        ("pairs.json", '{"q1": {"d1": 1, "d3": 0}, "q2": {"d9": 1}}'),
        ("qrels.txt", "q1 0 d1 2\nq1 0 d3 0\nq2 0 d9 1\n"),
        ("some.run", "q1 Q0 d1 1 0.5 x\nq1 Q0 d3 2 0.4 x\nq2 Q0 d9 1 3 x\n"),
    ],
)
def test_pairs_of_any_form_are_scored_and_all_come_back(
    folder: Path, leadline: Leadline, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    done = leadline(
        "score", "docs.index", "queries.jsonl", name, "-m", "TF(dot)", "-o", "out.run", "-f", "json"
    )
    assert done.data["pairs"] == 2
    assert [warning["code"] for warning in done.data["warnings"]] == ["unindexed_documents"]
    assert read_run(str(folder / "out.run")).to_dict() == {
        "q1": {"d1": pytest.approx(1.6931471805599454), "d3": 0.0}
    }


def test_bad_requests_are_one_line(folder: Path, leadline: Leadline) -> None:
    (folder / "bad.tsv").write_text("a\tb\tc\n1\t2\t3\n")
    (folder / "two.tsv").write_text("q1\td1\nq2\td2\n")
    (folder / "none.jsonl").write_text('{"query_id": "q3", "text": "nowhere"}\n')
    for line, message in {
        "search nowhere.index queries.jsonl -m BM25 -o x": "no such folder",
        "search docs.index queries.jsonl -m BM26 -o x": "Did you mean BM25",
        "search docs.index none.jsonl -m BM25 -o x": "no query matches",
        "search docs.index queries.jsonl -f json": "Add -o RUN or --per-query.",  # it prints no lists
        "score docs.index queries.jsonl bad.tsv -m BM25 -o x": "no column 'query_id'",
        "score docs.index queries.jsonl two.tsv -m BM25 -o x": "columns are q1, d1. Use qrels, a run",
        "index docs.jsonl -o x --language klingon": "unknown language 'klingon'",
        "index docs.jsonl -o x --config text.analysis=Words --language de": "use only one of",
        "index docs.jsonl -o missing/x": "cannot write missing/x",
        "index docs.jsonl -o -": "standard output",
        "topics fit docs.jsonl -T 2 -o -": "standard output",
    }.items():
        assert message in leadline(*line.split()).refusal
        assert not (folder / "x").exists()
        assert not (folder / "-").exists()


def test_the_catalogue_lists_every_model(leadline: Leadline) -> None:
    done = leadline("models", "-f", "json")
    assert [entry["name"] for entry in done.data["models"]] == list(MODELS.classes)
    assert done.data["models"][0]["parameters"]["k1"]["default"] == 1.2
    assert all(name in leadline("models").out for name in MODELS.classes)
    for name, kind in MODELS.classes.items():
        shown = leadline("models", name).out
        assert kind.title in shown
        assert "formula" in shown
    assert leadline("models", "dfr", "-f", "csv").out.startswith("model,title\nIn_expB2(c=1),")


@pytest.mark.usefixtures("folder")
def test_a_collection_is_described_with_the_ids_that_do_not_match(leadline: Leadline) -> None:
    done = leadline("collection", "docs.jsonl", "queries.jsonl", "qrels.txt", "-f", "json")
    wanted = {
        "documents": 3,
        "empty_documents": 1,
        "queries": 3,
        "judged_queries": 2,
        "judgments": 3,
        "mean_judgments": 1.5,
        "mean_relevant": 1.0,
        "grades": {"0": 1, "1": 1, "2": 1},
        "unknown_documents": 1,
        "unknown_queries": 0,
        "unjudged_queries": 1,
    }
    assert {name: done.data[name] for name in wanted} == wanted
    assert (done.data["relevant"], done.data["relevant_held"], done.data["coverage"]) == (2, 1, 0.5)
    shown = leadline("collection", "docs.jsonl", "queries.jsonl", "qrels.txt").out
    assert re.search(r"collection coverage +1 of 2 relevant \(50 %\)", shown)
    assert "judged documents not in the collection: 1 (d9)" in shown
    assert "queries without judgments: 1 (q3)" in shown


def test_a_page_is_not_written_in_the_place_of_a_run(folder: Path, leadline: Leadline) -> None:
    asked = ("search", "docs.index", "--query", "cats", "--show", "-f", "html")
    assert leadline(*asked, "-o", "page.html").status == 2
    assert not (folder / "page.html").exists()
    assert leadline(*asked).out.lstrip().startswith("<!doctype html>")
