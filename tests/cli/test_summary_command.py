"""`leadline summary`: from documents and from an index, as text, JSON and HTML; what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Leadline

DOCS = [
    {"doc_id": "d1", "title": "Wings & tails", "text": "Wings lift. A swept <b>wing</b> lifts less."},
    {"doc_id": "d2", "title": "", "text": "\u202eevil\u202c שלום \x1b[31m"},
    {"doc_id": "d3", "title": "Only a title", "text": ""},
]


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a file of documents."""
    monkeypatch.chdir(tmp_path)
    Path("docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DOCS))
    return "docs.jsonl"


def test_a_dynamic_summary_marks_its_matches(docs: str, leadline: Leadline) -> None:
    done = leadline("summary", docs, "--doc", "d1", "--query", "swept wings", "-f", "json")
    assert done.data["summary"] == "Wings lift. A swept <b>wing</b> lifts less."
    marked = [done.data["summary"][begin:end] for begin, end in done.data["highlights"]]
    assert marked == ["Wings", "swept", "wing"]
    assert done.data["options"]["kind"] == "dynamic"
    shown = leadline("summary", docs, "--doc", "d1", "--query", "swept wings")
    assert shown.out == "Wings & tails\n[Wings] lift. A [swept] <b>[wing]</b> lifts less.\n"


def test_a_page_gets_nothing_but_escaped_text(docs: str, leadline: Leadline) -> None:
    done = leadline("summary", docs, "--doc", "d1", "--query", "swept", "-f", "html")
    assert done.out == (
        '<h3 dir="auto">Wings &amp; tails</h3>\n'
        '<p dir="auto">Wings lift. A <mark>swept</mark> &lt;b&gt;wing&lt;/b&gt; lifts less.</p>\n'
    )
    assert leadline("summary", docs, "--doc", "d2").out == "evil שלום [31m\n"


def test_an_index_gives_the_same_summary_as_its_documents(docs: str, leadline: Leadline) -> None:
    assert leadline("index", docs, "-o", "stored", "--store-text").status == 0
    for more in (["--query", "swept wing"], ["--words", "3"], ["--static", "sentences"]):
        from_index = leadline("summary", "stored", "--doc", "d1", *more, "-f", "json").data
        from_documents = leadline("summary", docs, "--doc", "d1", *more, "-f", "json").data
        for key in ("title", "summary", "highlights", "doc"):
            assert from_index[key] == from_documents[key]
    assert leadline("summary", "stored", "--doc", "d3").out == "Only a title\n"
    leadline("index", docs, "-o", "short", "--store-text", "-C", "index.prefix=20")
    assert "the index stores only the first 20 bytes" in leadline("summary", "short", "--doc", "d1").out


def test_what_cannot_be_summarised_is_said(docs: str, leadline: Leadline) -> None:
    done = leadline("summary", docs, "--doc", "d1", "--query", "zebra")
    assert done.out.endswith("no query term occurs in the text, so its first words are shown\n")
    leadline("index", docs, "-o", "bare")
    for arguments, said in (
        (
            ["bare", "--doc", "d1"],
            "contains no document texts. Rebuild it with `leadline index DOCS -o INDEX --store-text",
        ),
        (["bare", "--doc", "d7"], "no document 'd7' in bare. Did you mean 'd"),
        ([docs, "--doc", "d7"], "no document 'd7' in docs.jsonl. Did you mean 'd"),
        ([docs, "--doc", "d1", "--words", "0"], "0 is not between 1"),
        ([docs, "--doc", "d1", "--query", "a", "--static", "first"], "use only one of --query and --static"),
        (["none.jsonl", "--doc", "d1"], "none.jsonl"),
    ):
        assert said in leadline("summary", *arguments).refusal
