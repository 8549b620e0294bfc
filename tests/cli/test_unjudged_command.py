"""`leadline unjudged`: shapes of the result, options, refusals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Leadline
from leadline.topics.infer import Vectors, write_vectors

LISTS = {"a": "uvw", "b": "uv", "c": "xu", "d": "vu", "e": "yu"}


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Write five runs of one query."""
    for name, documents in LISTS.items():
        lines = [f"q Q0 {one} 1 {-rank} t{name}\n" for rank, one in enumerate(documents)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    table = "run\tteam\n" + "".join(f"{name}\t{'x' if name < 'c' else name}\n" for name in LISTS)
    (tmp_path / "runs.tsv").write_text(table)
    return [tmp_path / f"{name}.run" for name in LISTS]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, runs: list[Path]) -> None:
    data = leadline("unjudged", *runs, "--method", "aslam-savell", "-f", "json").data
    assert (data["command"], data["method"]) == ("unjudged", "aslam-savell")
    assert list(data["scores"]) == list(data["used"]) == list(LISTS)
    assert data["used"]["a"] == 3
    assert [one["rows"] for one in data["inputs"]] == [3, 2, 2, 2, 2]
    assert "queries" not in data
    more = leadline("unjudged", *runs, "--method", "aslam-savell", "-f", "json", "-q").data
    assert more["queries"]["q"]["scores"] == data["scores"]


def test_the_best_stands_first_with_its_documents(leadline: Leadline, runs: list[Path]) -> None:
    text = leadline("unjudged", *runs, "--method", "reference-count").out
    assert text.splitlines()[0].split() == ["system", "reference-count", "documents"]
    assert text.splitlines()[1].split() == ["a", "6.0000", "3.0000"]


def test_the_parameters_and_the_seed_of_draws_are_printed(leadline: Leadline, runs: list[Path]) -> None:
    text = leadline("unjudged", *runs, "--method", "soboroff", "--seed", 3).out
    assert "Soboroff(depth=100,draws=50,share_mean=0.05,share_sd=0.03), seed 3: " in text
    assert "seed" not in leadline("unjudged", *runs, "--method", "nruns", "--seed", 3).out


def test_csv_and_lines_hold_one_system_a_row(leadline: Leadline, runs: list[Path]) -> None:
    done = leadline("unjudged", *runs, "-f", "csv")
    rows = list(csv.reader(io.StringIO(done.out)))
    assert rows[0] == ["system", "nruns", "documents"]
    assert len(rows) == 6
    assert "only 5 voting systems" in done.err
    lines = [json.loads(line) for line in leadline("unjudged", *runs, "-f", "jsonl").out.splitlines()]
    assert sorted(line["name"] for line in lines) == list(LISTS)


def test_depth_teams_and_shares_are_options(leadline: Leadline, runs: list[Path]) -> None:
    table = runs[0].parent / "runs.tsv"
    data = leadline(
        "unjudged", *runs, *f"--method NRuns(pseudo=1) --depth 1 --one-vote-per {table}:team -f json".split()
    ).data
    assert data["estimator"] == "NRuns(depth=1,pseudo=1)"
    # u, v, x and y stand first once per team; u has the lowest id, and is second in d
    assert data["scores"] == {"a": 1, "b": 1, "c": 0.5, "d": 0.5, "e": 0.5}
    assert data["options"]["one_vote_per"] == f"{table}:team"


def test_soboroff_can_learn_its_share(leadline: Leadline, runs: list[Path]) -> None:
    qrels = runs[0].parent / "qrels.txt"
    qrels.write_text("q 0 u 1\nq 0 v 0\nq 0 w 0\nq 0 x 0\n")
    data = leadline("unjudged", *runs, "--method", "soboroff", "--share-from", qrels, "-f", "json").data
    assert data["estimator"] == "Soboroff(share_mean=0.25,share_sd=0)"
    done = leadline("unjudged", *runs, "--share-from", qrels)
    assert (done.status, "Use --method soboroff" in done.err) == (2, True)


def test_vectors_and_texts_serve_deshato(leadline: Leadline, runs: list[Path]) -> None:
    path = runs[0].parent / "vectors.jsonl"
    theta = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    write_vectors(Vectors(["u", "v", "w"], theta), path)
    data = leadline("unjudged", *runs, "--method", "deshato", "--topics", path, "-f", "json").data
    assert data["used"] == {"a": 3, "b": 2, "c": 1, "d": 2, "e": 1}
    assert list(data["terms"]) == ["k(S)", "s(S)", "k(M)", "s(M)", "k(P)", "s(P)"]
    assert data["scores"]["b"] == pytest.approx(data["scores"]["d"])
    docs = runs[0].parent / "docs.jsonl"
    docs.write_text("".join(json.dumps({"doc_id": one, "text": f"wing {one}"}) + "\n" for one in "uvwxy"))
    fitted = leadline(
        "unjudged", *runs, *f"--method deshato --docs {docs} -T 3 -C topics.fits=2 -C topics.sweeps=5".split()
    )
    assert fitted.status == 0
    assert "spread: standard deviation of the score over 2 LDA fits" in fitted.out
    assert "DeShaTo(depth=30), seed 0: 5 systems" in fitted.out


def test_one_system_of_one_document_has_a_score_and_a_warning(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 u 1 1.0 t\n")
    (tmp_path / "v.jsonl").write_text('{"doc_id": "u", "topics": [0.8, 0.1, 0.1]}\n')
    call = ("unjudged", tmp_path / "a.run", "--method", "deshato", "--topics", tmp_path / "v.jsonl")
    done = leadline(*call)
    assert done.status == 0
    assert "DeShaTo(depth=30): 1 system, mean over 1 query" in done.out
    assert "1 list with a topic vector for only one document" in done.out
    # S, M and P are the document's vector, whose shape is that of (1, 0, 0): 3 * (1.5 + sqrt(1/2))
    assert done.out.splitlines()[1].split()[:2] == ["a", "6.6213"]
    for method in ("nruns", "soboroff", "aslam-savell", "reference-count", "spoerri"):
        assert (
            f"{method} needs at least" in leadline("unjudged", tmp_path / "a.run", "--method", method).refusal
        )


def test_two_topics_have_no_shape(leadline: Leadline, runs: list[Path]) -> None:
    path = runs[0].parent / "v.jsonl"
    path.write_text('{"doc_id": "u", "topics": [0.8, 0.2]}\n')
    call = ("unjudged", *runs, "--topics", path)
    assert (
        "deshato needs topic vectors of at least 3 dimensions, not 2"
        in leadline(*call, "--method", "deshato").refusal
    )
    assert leadline(*call, "--method", "DeShaTo(of=sd)").status == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "best"], "unknown method 'best'"),
        (["--method", "deshato"], "Add `--topics VECTORS` or `--docs DOCUMENTS`"),
        (["--topics", "x.jsonl"], "method nruns does not use topics"),
        (["--depth", "0"], "0 is not between 1"),
    ],
    ids=str,
)
def test_refusals_are_one_line(
    leadline: Leadline, runs: list[Path], arguments: list[str], words: str
) -> None:
    assert words in leadline("unjudged", *runs, *arguments).refusal
