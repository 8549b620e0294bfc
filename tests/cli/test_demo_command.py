"""`leadline demo`: what it says, what it writes, and that its data are whole and small."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import runpy
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline, Outcome
from leadline.demo import DATA, circular_lists, circular_path, labels_path, qrels_path, run_paths, xquad
from leadline.errors import InputError
from leadline.text.words import stemmed


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test of this file reach for the network."""

    def refuse(*_: object) -> None:
        raise AssertionError("the demo asks the network for nothing")

    monkeypatch.setattr(socket.socket, "connect", refuse)


KEPT: dict[str, tuple[Outcome, str]] = {}


@pytest.fixture
def shown(leadline: Leadline, tmp_path: Path) -> Callable[[str], tuple[Outcome, str]]:
    """Return the output of the demo with one form of the kernels, and its page (made once)."""

    def made(form: str) -> tuple[Outcome, str]:
        if form not in KEPT:
            page = tmp_path / f"{form}.html"
            done = leadline("demo", "-f", form, "-o", page)
            KEPT[form] = (done, page.read_text())
        return KEPT[form]

    return made


def test_its_files_are_written_to_be_tried_on(leadline: Leadline, tmp_path: Path) -> None:
    folder = tmp_path / "cranfield"
    found = leadline("demo", "--files", folder)
    assert found.out.startswith(f"wrote 11 files to {folder}: qrels.txt, bm25-")
    assert len(list(folder.iterdir())) == 11
    runs = sorted(folder.glob("*.run"))
    again = leadline("evaluate", folder / "qrels.txt", *runs, "-m", "AP", "-f", "csv").out
    there = leadline("evaluate", qrels_path(), *run_paths(), "-m", "AP", "-f", "csv").out
    assert again == there


def test_the_runs_that_are_written_have_ranks_and_the_embedded_values(
    leadline: Leadline, tmp_path: Path
) -> None:
    leadline("demo", "--files", tmp_path)
    for path in (*run_paths(), circular_path()):
        written = (tmp_path / Path(path).name.removesuffix(".xz")).read_text().splitlines()
        ranks: dict[str, int] = {}
        with lzma.open(path, "rt") as file:
            for line, embedded in zip(written, file, strict=True):
                words, kept = line.split(" "), embedded.split()
                ranks[words[0]] = ranks.get(words[0], 0) + 1
                assert (words[3], kept[3]) == (str(ranks[words[0]]), "0")
                assert words[:3] + words[4:] == kept[:3] + kept[4:]


def test_the_files_of_the_documentation_are_written(leadline: Leadline, tmp_path: Path) -> None:
    leadline("demo", "--files", tmp_path, "--collection", "examples")
    there = {path.name: path.read_bytes() for path in (REPOSITORY / "docs" / "examples").iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == there


@pytest.mark.parametrize("collection", ["cranfield", "xquad", "examples"])
def test_other_files_of_these_names_are_not_overwritten(
    leadline: Leadline, tmp_path: Path, collection: str
) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    assert (
        str(tmp_path / "qrels.txt")
        in leadline("demo", "--files", tmp_path, "--collection", collection).refusal
    )
    assert (tmp_path / "qrels.txt").read_text() == "q 0 d 1\n"
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / "qrels.txt").unlink()
    leadline("demo", "--files", tmp_path, "--collection", collection)
    assert leadline("demo", "--files", tmp_path, "--collection", collection).status == 0  # the same content


def test_xquad_is_written_in_three_languages_with_its_licence(leadline: Leadline, tmp_path: Path) -> None:
    found = leadline("demo", "--files", tmp_path, "--collection", "xquad")
    assert found.out.startswith("wrote 8 files to ")
    qrels = [line.split() for line in (tmp_path / "qrels.txt").read_text().splitlines()]
    assert len(qrels) == len({row[0] for row in qrels}) == 1190  # each question has one paragraph
    texts = {}
    for language in ("en", "de", "zh"):
        for kind, key in (("docs", "doc_id"), ("queries", "query_id")):
            path = tmp_path / f"{kind}.{language}.jsonl"
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            texts[language, kind] = {row[key]: row["text"] for row in rows}
    for language in ("en", "de", "zh"):
        assert list(texts[language, "queries"]) == [row[0] for row in qrels]
        assert list(texts[language, "docs"]) == list(dict.fromkeys(row[2] for row in qrels))
        assert len(texts[language, "docs"]) == 240
    asked = "56beb4343aeaaa14008c925b"  # as published
    assert texts["en", "queries"][asked] == "How many points did the Panthers defense surrender?"
    assert texts["zh", "queries"][asked] == "黑豹队的防守丢了多少分？"  # noqa: RUF001
    licence = (tmp_path / "LICENSE.txt").read_text(encoding="utf-8")
    assert "CC BY-SA 4.0" in licence
    assert "Section 8" in licence  # the whole text


@pytest.mark.parametrize("language", ["en", "de"])
def test_xquad_is_that_of_the_public_files(shared_data: Path, language: str) -> None:
    folder = shared_data / "xquad-retrieval"
    contents = dict(xquad.files())
    assert contents["qrels.txt"] == (folder / "qrels.txt").read_bytes()
    for name in (f"docs.{language}.jsonl", f"queries.{language}.jsonl"):
        here = [json.loads(line) for line in contents[name].decode().splitlines()]
        there = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        assert here == [{key: row[key] for key in here[0]} for row in there]


def test_xquad_is_packed_from_the_published_form_and_other_questions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def published(language: str, name: str = "q") -> bytes:
        asked = [{"id": name, "question": f"{language}?", "answers": []}]
        article = {"title": "t", "paragraphs": [{"context": language, "qas": asked}]}
        return json.dumps({"data": [article, article]}).encode()

    texts = {language: published(language) for language in xquad.DIGESTS}
    (tmp_path / xquad.PACKED).write_bytes(xquad.pack(texts))
    (tmp_path / xquad.LICENCE).write_text("free")
    monkeypatch.setattr(xquad, "DATA", str(tmp_path))
    contents = dict(xquad.files())
    assert contents["docs.de.jsonl"].decode() == (
        '{"doc_id": "a01p1", "text": "de"}\n{"doc_id": "a02p1", "text": "de"}\n'
    )
    assert contents["qrels.txt"] == b"q 0 a01p1 1\nq 0 a02p1 1\n"
    with pytest.raises(InputError, match=r"question ids in xquad\.zh\.json differ"):
        xquad.pack(texts | {"zh": published("zh", "other")})


def test_a_wheel_downloads_xquad_and_believes_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / xquad.LICENCE).write_text("free")
    monkeypatch.setattr(xquad, "DATA", str(tmp_path / "data"))
    monkeypatch.setattr(xquad, "SOURCE", f"{tmp_path.as_uri()}/")
    asked = ("demo", "--files", tmp_path / "out", "--collection", "xquad")
    assert "xquad.en.json: the file cannot be downloaded" in leadline(*asked).err
    for language in xquad.DIGESTS:
        part = [{"context": language, "qas": [{"id": "q", "question": "?"}]}]
        text = json.dumps({"data": [{"paragraphs": part}]}).encode()
        (tmp_path / f"xquad.{language}.json").write_bytes(text)
    assert "xquad.en.json: the downloaded file does not have the expected SHA-256" in leadline(*asked).err
    assert not (tmp_path / "out" / "qrels.txt").exists()
    monkeypatch.setattr(
        xquad, "DIGESTS", {"en": hashlib.sha256((tmp_path / "xquad.en.json").read_bytes()).hexdigest()}
    )
    assert leadline(*asked).status == 0
    assert (tmp_path / "out" / "qrels.txt").read_text() == "q 0 a01p1 1\n"


def test_a_collection_without_a_folder_is_refused(leadline: Leadline) -> None:
    assert "--files" in leadline("demo", "--collection", "xquad").refusal


def test_it_shows_the_tour_and_writes_the_page_here(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = leadline("demo")
    assert (found.status, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0] == (
        "leadline demo: Cranfield, 225 queries, 1,837 judgments, 8 runs (bundled with leadline, no download)"
    )
    assert lines[2].split() == ["run", "AP", "nDCG@10", "P@5", "R@100", "Judged@10"]
    assert lines[-2] == "wrote leadline-demo.html (open it in a browser)"
    assert lines[-1].startswith("next: `leadline evaluate QRELS RUN...`")
    assert [path.name for path in tmp_path.iterdir()] == ["leadline-demo.html"]


def test_two_pages_are_the_same_bytes(shown: Callable[[str], tuple[Outcome, str]]) -> None:
    assert shown("table")[1] == shown("json")[1]


def test_json_is_the_result_and_nothing_else(shown: Callable[[str], tuple[Outcome, str]]) -> None:
    data = shown("json")[0].data
    assert data["command"] == "demo"
    assert len(data["inputs"]) == 9
    assert {run["name"]: round(run["mean"]["AP"], 2) for run in data["runs"]} == {
        "bm25-k1_0.9-b_0.4": 0.3,
        "bm25-k1_1.2-b_0.75": 0.31,
        "bm25-titles": 0.24,
        "qldirichlet": 0.28,
        "qljelinekmercer": 0.28,
        "tf-dot": 0.25,
        "tf-dot-plain": 0.11,
        "tfidf-cosine": 0.29,
    }


def test_it_ends_with_a_machine_as_judge_and_the_run_made_to_please_it(
    shown: Callable[[str], tuple[Outcome, str]],
) -> None:
    rows = shown("json")[0].data["circular"]
    by_run = {row["run"]: row for row in rows}
    assert len(rows) == 9
    one = by_run["circular"]
    assert one["machine_place"] == 1
    assert one["machine"] > 4 * one["truth"]
    assert abs(one["place"] - one["truth_place"]) <= 1
    assert one["truth_place"] > 4
    inside = sum(row["low"] <= row["truth"] <= row["high"] for row in rows)
    assert inside >= 7
    done, page = shown("table")
    assert (
        done.out.index("title-only") < done.out.index("circular  ") < done.out.index("(open it in a browser)")
    )
    assert "from the labels alone" in page


def test_the_commands_give_what_the_demo_says(
    leadline: Leadline, tmp_path: Path, shown: Callable[[str], tuple[Outcome, str]]
) -> None:
    folder = tmp_path / "cranfield"
    leadline("demo", "--files", folder)
    files = [*sorted(folder.glob("*.run")), folder / "circular.txt"]
    rows = shown("json")[0].data["circular"]
    for column, name in (("machine", "machine-labels.qrels"), ("truth", "qrels.txt")):
        runs = leadline("evaluate", folder / name, *files, "-m", "P@10", "-f", "json").data["runs"]
        assert {run["name"]: run["mean"]["P@10"] for run in runs} == {row["run"]: row[column] for row in rows}


def test_the_circular_run_is_ordered_by_labels_and_then_by_votes() -> None:
    lists = [{"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}]
    found = circular_lists(lists, {"q": {"c": 2.0, "d": 1.0, "a": 0.0}}, depth=3)["q"]
    # votes: a and b have two and are equal, so a is first by name; c and d have one, c is first by name
    assert sorted(found, key=lambda name: -found[name]) == ["c", "a", "b"]  # d is not among the first three


def test_other_forms_are_those_of_evaluate(leadline: Leadline, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert leadline("demo", "-f", "csv", "-o", page).out.startswith("run,AP,nDCG@10,P@5,")
    assert len(leadline("demo", "-f", "jsonl", "-o", page).out.splitlines()) == 8


def test_a_page_that_cannot_be_written_is_one_line(leadline: Leadline, tmp_path: Path) -> None:
    assert "ends in .html" in leadline("demo", "-o", tmp_path / "page.svg").refusal
    assert not (tmp_path / "page.svg").exists()
    found = leadline("demo", "-o", tmp_path / "no" / "page.html")
    assert (found.status, found.err.count("\n")) == (2, 1)


def test_the_data_are_small_and_have_names_for_every_system() -> None:
    files = list(Path(DATA).iterdir())
    assert sum(file.stat().st_size for file in files) < 1_100_000
    assert all(re.fullmatch(r"[a-z0-9._-]+\.xz|xquad\.LICENSE\.txt", file.name) for file in files)


@pytest.mark.parametrize("path", run_paths(), ids=lambda path: Path(path).name)
def test_a_run_holds_ids_and_numbers_in_order_of_its_scores(path: str) -> None:
    last: dict[str, tuple[float, bytes]] = {}
    with lzma.open(path, "rt") as file:
        for line in file:
            query, q0, document, rank, score, tag = line.split(" ")
            assert (q0, tag.strip()) == ("Q0", Path(path).name.removesuffix(".run.xz"))
            assert 1 <= int(query) <= 225
            assert 1 <= int(document) <= 1400
            assert rank == "0"
            key = (float(score), document.encode())
            assert key < last.get(query, (float("inf"), b""))
            last[query] = key
    assert len(last) == 225


def test_the_judgments_are_cranfields() -> None:
    with lzma.open(qrels_path(), "rt") as file:
        rows = [line.split() for line in file]
    assert len(rows) == 1837
    assert {row[3] for row in rows} == {"0", "1", "2", "3", "4"}


@pytest.mark.slow
def test_the_script_makes_the_embedded_runs_again(shared_data: Path, tmp_path: Path) -> None:
    if stemmed(["interval"], "english") != ["interval"]:
        pytest.skip("the runs were made with Snowball 3, which stems some words otherwise")
    script = REPOSITORY / "benchmarks" / "demo_runs.py"
    if not script.exists():
        pytest.skip("benchmarks are not here")
    runpy.run_path(str(script))["main"](str(shared_data / "cranfield"), str(tmp_path))
    for path in (qrels_path(), *run_paths(), labels_path(), circular_path()):
        with lzma.open(path) as old, lzma.open(tmp_path / Path(path).name) as new:
            assert old.read() == new.read()
