"""The command topics: fit, infer, perplexity, search."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Leadline
from leadline.io.objects import read_run
from leadline.topics.infer import read_vectors
from leadline.topics.model import read_model

SUBJECTS = ("wing tail lift\tflügel auftrieb", "heat flow slab\twärme platte")
PAIRS = "pair_id\ten\tde\n" + "".join(f"{place}\t{SUBJECTS[place % 2]}\n" for place in range(20))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    done = leadline(
        *"topics fit pairs.tsv -T 2 --languages de,en --config text.id_column=pair_id".split(),
        *"-C topics.alpha=0.1 -C topics.sweeps=50 -o model.npz -f json".split(),
    )
    assert (done.data["command"], done.data["documents"]) == ("topics fit", 20)
    return tmp_path


def test_a_model_is_fitted_and_used(folder: Path, leadline: Leadline) -> None:
    assert read_model(folder / "model.npz").languages == ["de", "en"]
    done = leadline(
        "topics", "infer", "model.npz", "pairs.tsv", "--config", "text.id_column=pair_id", "-o", "v.jsonl"
    )
    assert done.status == 0
    assert len(read_vectors(folder / "v.jsonl").ids) == 20
    (folder / "new.jsonl").write_text('{"doc_id": "d1", "text": "wing nowhere"}\n')
    done = leadline(
        *"topics perplexity model.npz new.jsonl --language en -C topics.field=text -f json".split()
    )
    assert (done.data["tokens"], done.data["unknown_tokens"]) == (1, 1)
    assert 1 < done.data["perplexity"] < 40
    assert [warning["code"] for warning in done.data["warnings"]] == ["unknown_tokens"]


def test_translations_are_searched_and_p_at_1_is_told(folder: Path, leadline: Leadline) -> None:
    done = leadline(
        *"topics search model.npz pairs.tsv pairs.tsv --config text.id_column=pair_id".split(),
        *"--query-language de --language en -o p.run -f json".split(),
    )
    assert done.data["mates"] == 20
    assert 0 < done.data["p1"] <= 1
    assert len(read_run(str(folder / "p.run")).scores) == 400
    (folder / "german.jsonl").write_text('{"doc_id": "1", "de": "platte"}\n')
    done = leadline(*"topics search model.npz german.jsonl german.jsonl -o p.run".split())
    assert "--query-language and --language" in done.refusal


@pytest.mark.parametrize(
    "queries",
    ["query_id\ttext\nq1\tred\n", "key\ttitle\ttext\nq1\t\tred\n", "<top>\n<num> q1\n<title> red\n</top>\n"],
)
def test_queries_are_read_as_queries(folder: Path, leadline: Leadline, queries: str) -> None:
    (folder / "docs.tsv").write_text("key\ttitle\ttext\nd1\t\tred sun\nd2\t\tblue moon\n")
    (folder / "queries").write_text(queries)
    leadline(
        "topics",
        "fit",
        "docs.tsv",
        "-T",
        2,
        "-C",
        "text.id_column=key",
        "-o",
        "one.npz",
        "-C",
        "topics.sweeps=5",
    )
    done = leadline(
        "topics", "search", "one.npz", "docs.tsv", "queries", "-C", "text.id_column=key", "-o", "p.run"
    )
    assert done.status == 0, done.err
    assert list(read_run(str(folder / "p.run")).queries) == ["q1"]


@pytest.mark.usefixtures("folder")
def test_bad_requests_are_one_line(leadline: Leadline) -> None:
    for line, message in {
        "search model.npz pairs.tsv pairs.tsv --query-language de": "--query-language needs --language",
        "infer pairs.tsv pairs.tsv": "not a complete topic model",
        "infer model.npz pairs.tsv": "pairs.tsv:1: the document has no column 'doc_id'",
        "fit pairs.tsv -T 2 --languages de,klingon": "unknown language",
    }.items():
        assert message in leadline("topics", *line.split(), "-o", "x").refusal
