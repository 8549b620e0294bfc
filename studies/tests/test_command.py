"""`leadline study`: the folder that it fills, and what it refuses."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from conftest import Leadline
from leadline_studies import source_of, studies, study

QRELS = "".join(f"q 0 {name} {grade}\n" for name, grade in zip("abclmn", "111000", strict=True))
RUNS = {"x-1": "nma", "x-2": "abcn", "x-3": "lc", "y-1": "mblc", "y-2": "abcn", "y-3": "nla"}


@pytest.fixture
def given(tmp_path: Path) -> list[object]:
    """Write a grid of two families and give the arguments of the study."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, order in RUNS.items():
        lines = [f"q Q0 {letter} 1 {-rank} t\n" for rank, letter in enumerate(order)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    rows = [f"{name}\t{name[0]}\t{name[2]}\n" for name in RUNS]
    (tmp_path / "grid.tsv").write_text("run\tfamily\tparameter\n" + "".join(rows))
    return [
        *f"study difference-models {tmp_path}/qrels.txt".split(),
        *sorted(tmp_path.glob("*.run")),
        *f"--family {tmp_path}/grid.tsv:family --parameter {tmp_path}/grid.tsv:parameter".split(),
    ]


def test_a_study_fills_a_folder_and_says_what_was_reproduced(
    leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    done = leadline(*given, "-o", tmp_path / "out" / "deep", "-k", "5")
    assert (done.status, done.err) == (0, "")
    assert "reproduced" in done.out
    assert {path.name for path in (tmp_path / "out" / "deep").iterdir()} == {
        "best.csv",
        "across.csv",
        "parameter.svg",
        "cumulative.svg",
        "difference-models.json",
        "index.html",
    }
    data = json.loads((tmp_path / "out" / "deep" / "difference-models.json").read_text())
    assert data["command"] == "study"
    assert data["options"]["study"] == "difference-models"
    assert data["k"] == 5
    assert len(data["inputs"]) == 7
    assert all(entry["sha256"] for entry in data["inputs"])


def test_the_page_of_a_study_has_claim_number_of_the_paper_ours_figures_and_verdict(
    leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    done = leadline(*given, "-o", tmp_path / "out")
    page = html.unescape((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    data = json.loads((tmp_path / "out" / "difference-models.json").read_text())
    module = study("difference-models")
    assert (done.status, page.count("<figure>"), page.count("</table>")) == (0, 2, 2)
    assert [text for text in (*module.CLAIM, *data["lines"]) if text not in page] == []
    assert all(str(family["ric"])[:4] in page for family in data["families"].values())


@pytest.mark.parametrize("name", studies())
def test_help_names_the_paper_and_every_study_has_a_claim(leadline: Leadline, name: str) -> None:
    source = source_of(study(name))
    assert study(name).CLAIM.text.endswith(".")
    assert "".join(source.split()) in "".join(leadline("study", "--help").out.split())
    assert bool(source) == (name != "proxies")


def test_figures_may_be_png(leadline: Leadline, given: list[object], tmp_path: Path) -> None:
    assert leadline(*given, "-o", tmp_path / "out", "--figures", "png").status == 0
    assert (tmp_path / "out" / "parameter.png").read_bytes().startswith(b"\x89PNG")


def test_positives_only_are_completed_on_request(
    leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q 0 {name} 1\n" for name in "abc"))
    assert "--exhaustive DOCS" in leadline(*given, "-o", tmp_path / "out").err
    (tmp_path / "docs.txt").write_text("".join(f"{name}\n" for name in "abclmn"))
    done = leadline(*given, "-o", tmp_path / "out", "--complete", tmp_path / "docs.txt")
    assert done.status == 0
    assert (tmp_path / "out" / "best.csv").exists()


def test_undefined_numbers_are_null(leadline: Leadline, tmp_path: Path) -> None:
    assert leadline("demo", "--files", tmp_path / "ex", "--collection", "examples").status == 0
    files = [tmp_path / "ex" / name for name in ("qrels.txt", "bm25.run", "dense.run")]
    for name, budget in (("estimate", "--budgets"), ("proxies", "--budget")):
        options = ("--draws", "5", budget, "3", "-o", tmp_path / name)
        done = leadline("study", name, *files, *options)
        assert (done.status, done.err) == (0, "")
        assert " nan " not in done.out
        assert ": null" in (tmp_path / name / f"{name}.json").read_text()


def test_an_unknown_study_is_refused_with_those_there_are(leadline: Leadline) -> None:
    done = leadline("study", "difference-modles")
    assert done.status == 2
    assert "there is no study 'difference-modles'. Choose one of " in done.err


def test_a_study_without_its_options_or_a_folder_is_refused(
    leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    circular = ("study", "circular", *given[2:4])
    assert "Missing option '--machine LABELS'" in leadline(*circular, "-o", tmp_path / "out").err
    assert "Missing option '-o" in leadline(*given).err
    done = leadline(*given, "-o", tmp_path / "grid.tsv")
    assert "is a file. Pass a folder" in done.err
    assert not (tmp_path / "out").exists()


def test_every_study_has_a_help_text(leadline: Leadline) -> None:
    done = leadline("study", "difference-similarity", "--help")
    assert "--team FILE:COLUMN" in done.out
    assert "Example: leadline study difference-similarity" in done.out


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    """Write a collection of three texts, a query for each, and the judgments."""
    docs = [{"doc_id": name, "text": f"{name} wings fly"} for name in "abc"]
    queries = [{"query_id": name, "text": f"the {name} wing"} for name in "abc"]
    for name, rows in (("docs", docs), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.txt").write_text("".join(f"{name} 0 {name} 1\n" for name in "abc"))
    return [tmp_path / "docs.jsonl", tmp_path / "queries.jsonl", tmp_path / "qrels.txt"]


def test_a_study_may_ask_for_documents_and_queries(
    leadline: Leadline, texts: list[Path], tmp_path: Path
) -> None:
    given = texts
    models = ["--model", "TF(dot)", "--model", "BM25"]
    done = leadline("study", "components", *given, *models, "-o", tmp_path / "out")
    assert (done.status, done.err) == (0, "")
    assert "The best component is " in done.out
    data = json.loads((tmp_path / "out" / "components.json").read_text())
    assert [entry["rows"] for entry in data["inputs"]] == [3, 3, 3]
    assert all(entry["sha256"] for entry in data["inputs"])
    assert data["options"]["model"] == ["TF(dot)", "BM25"]
    assert "DOCS QUERIES QRELS" in leadline("study", "components", "--help").out
    assert "Missing argument 'QRELS'" in leadline("study", "components", *given[:2], "-o", "x").err


def test_models_are_tried_on_a_collection_and_on_its_index(
    leadline: Leadline, texts: list[Path], tmp_path: Path
) -> None:
    options = ["--samples", "1,2", "--draws", "3", "--model", "BM25", "--model", "RM1", "--model", "SDM"]
    done = leadline("study", "histogram-models", *texts, *options, "-o", tmp_path / "out")
    assert (done.status, done.err) == (0, "")
    assert "no verdict, because the rule requires 50 queries (3 here)" in done.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *"""
            models.csv correlations.csv sevens.csv bins.csv samples.csv all.svg by-query.svg
            by-model.svg bins.svg samples.svg histogram-models.json index.html
        """.split()
    }
    data = json.loads((tmp_path / "out" / "histogram-models.json").read_text())
    assert list(data["models"]) == ["BM25", "RM1", "SDM"]
    assert list(data["samples"]) == ["1", "2"]
    assert leadline("index", texts[0], "-o", tmp_path / "docs.index").status == 0
    given = [tmp_path / "docs.index", *texts[1:]]
    assert leadline("study", "histogram-models", *given, *options, "-o", tmp_path / "again").status == 0
    again = json.loads((tmp_path / "again" / "histogram-models.json").read_text())
    assert again["samples"] == data["samples"]
    rejected = leadline("study", "histogram-models", *texts, "--bins", "1", "-o", tmp_path / "none")
    assert (rejected.status, rejected.err.count("\n")) == (2, 1)
    assert "--bins must be" in rejected.err


@pytest.mark.parametrize(
    ("options", "said", "unsaid"),
    [
        (["circular", "--machine", "{qrels}", "--depth", "0"], "--depth must be", "no documents"),
        (["histogram-sample", "--draws", "-1"], "--draws must be", "Traceback"),
        (["histogram-ranks", "--level", "nan"], "--level must be", "rel"),
        (["circular", "--machine", "{qrels}", "--measure", "alpha_nDCG@10"], "has no setting", "--config"),
    ],
)
def test_refusals_name_options_of_the_study(
    options: list[str], said: str, unsaid: str, leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    qrels, *runs = given[2:-4]
    name, *rest = (one.format(qrels=qrels) for one in options)
    refused = leadline("study", name, qrels, *runs, *rest, "-o", tmp_path / "none")
    assert refused.status == 2
    assert said in refused.err
    assert unsaid not in refused.err


def test_a_study_that_cannot_write_is_refused_before_it_runs(
    leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    for place, said in (("-", "-o -"), ("", "empty"), (f"{tmp_path}/qrels.txt/out", "qrels.txt/out")):
        refused = leadline(*given, "-o", place)
        assert (refused.status, refused.out) == (2, "")
        assert said in refused.err


def test_the_json_of_a_study_is_refused_as_such(
    leadline: Leadline, given: list[object], tmp_path: Path
) -> None:
    assert leadline(*given, "-o", tmp_path / "out").status == 0
    for command in ("show", "verify"):
        assert "result of a study" in leadline(command, tmp_path / "out" / "difference-models.json").err


def test_a_refusal_advises_the_option_for_ids(leadline: Leadline, texts: list[Path], tmp_path: Path) -> None:
    words = ["study", "histogram-topics", texts[0], "--languages", "title,text", "--topics", "2,3,4"]
    refused = leadline(*words, "--id-column", "x", "-o", tmp_path / "none")
    assert "`--id-column doc_id`" in refused.err
