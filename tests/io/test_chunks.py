"""Chunks: a document takes the place of its best chunk, wherever a run comes from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline, examples
from leadline.data.reading import Reading
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results
from leadline.io.read import counted_run
from run_sources import SOURCES, Run

RUN: Run = {"q1": {"a#1": 4.0, "b#0": 3.0, "a#0": 2.0, "a#2": 1.0, "c#7": 0.5}, "q2": {"b#1": 1.0}}
BEST = {"q1": {"a": 4.0, "b": 3.0, "c": 0.5}, "q2": {"b": 1.0}}
PATTERN = r"^(.*)#\d+$"


def slow(run: Run) -> Run:
    """Go down every list and take a document where it first comes up."""
    found: Run = {}
    for query, chunks in run.items():
        for chunk, score in sorted(chunks.items(), key=lambda pair: -pair[1]):
            found.setdefault(query, {}).setdefault(chunk.rpartition("#")[0], score)
    return found


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_of_chunks_gives_the_same_documents(source: str, tmp_path: Path) -> None:
    table = tmp_path / "chunks.csv"
    names = sorted({chunk for chunks in RUN.values() for chunk in chunks})
    table.write_text("chunk_id,doc_id\n" + "".join(f"{name},{name[0]}\n" for name in names))
    bare = tmp_path / "bare.tsv"
    bare.write_text("".join(f"{name}\t{name[0]}\n" for name in names))
    ways: list[Any] = [PATTERN, re.compile(PATTERN), table, bare, {name: name[0] for name in names}]
    for way in ways:
        run, counts = counted_run(SOURCES[source](RUN, tmp_path), reading=Reading(documents_of=way))
        assert run.to_dict() == BEST
        assert counts.repeated == 2
    qrels = {"q1": {"a": 1, "c": 1}, "q2": {"b": 1}}
    found = ll.evaluate(qrels, {"r": SOURCES[source](RUN, tmp_path)}, ["R@2", "R"], documents_of=PATTERN)
    assert (found.mean("r", "R@2"), found.mean("r", "R")) == (0.75, 1)
    assert {one.code: one.count for one in found.warnings}["repeated_documents"] == 2


def test_ids_of_chunks_may_be_whole_numbers_as_those_of_runs(tmp_path: Path) -> None:
    table = tmp_path / "chunks.jsonl"
    table.write_text('{"chunk_id": 11, "doc_id": 1}\n{"chunk_id": 12, "doc_id": 1}\n')
    run = {"q1": {"11": 1.0, "12": 2.0}}
    assert ll.read_run(run, documents_of=table).to_dict() == {"q1": {"1": 2.0}}


def test_the_other_one_of_two_columns_has_the_chunks(tmp_path: Path) -> None:
    table = tmp_path / "chunks.csv"
    table.write_text("doc_id,segment\n1,11\n1,12\n")
    run = {"q1": {"11": 1.0, "12": 2.0}}
    assert ll.read_run(run, documents_of=table).to_dict() == {"q1": {"1": 2.0}}
    table.write_text("doc_id\n1\n")
    with pytest.raises(InputError, match="no column 'chunk_id'"):
        ll.read_run(run, documents_of=table)


@examples(40)
@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2"]),
        st.dictionaries(
            st.tuples(st.sampled_from("abé"), st.integers(0, 3)).map(lambda pair: f"{pair[0]}#{pair[1]}"),
            st.integers(0, 100).map(float),
            min_size=1,
        ),
        min_size=1,
    )
)
def test_the_first_chunk_of_a_document_counts(run: Run) -> None:
    assert ll.read_run(run, documents_of=PATTERN).to_dict() == slow(run)
    assert ll.read_run(ll.Run(run), documents_of=PATTERN).to_dict() == slow(run)


def test_ranks_and_lists_without_scores_are_documents_too(tmp_path: Path) -> None:
    listed = {"q1": ["a#1", "b#0", "a#0", "c#7"]}
    assert list(ll.read_run(listed, documents_of=PATTERN).to_dict()["q1"]) == ["a", "b", "c"]
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a#1 1 0 t\nq1 Q0 b#0 2 0 t\nq1 Q0 a#0 3 0 t\n")
    assert list(ll.read_run(path, documents_of=PATTERN, order="rank").to_dict()["q1"]) == ["a", "b"]
    kept = ll.read_run(RUN, documents_of=PATTERN, on_duplicate="last")
    assert kept.to_dict()["q1"]["a"] == 1.0


def test_a_chunk_without_a_document_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a#1 1 2 t\nq1 Q0 b 2 1 t\n")
    with pytest.raises(InputError, match=r"run:2: the documents_of pattern .* finds no document id in 'b'"):
        ll.read_run(path, documents_of=PATTERN)
    with pytest.raises(InputError, match=r"Did you mean 'b#0'\? If not, add the chunk"):
        ll.read_run({"q1": {"b#1": 1.0}}, documents_of={"b#0": "b", "zz": "a"})
    table = tmp_path / "chunks.csv"
    table.write_text("chunk_id,doc_id\nx,a\nx,b\n")
    with pytest.raises(InputError, match=r"chunks\.csv:3: chunk 'x' is assigned to two different documents"):
        ll.read_run(path, documents_of=table)
    table.write_text("chunk_id,doc_id\na#1,a\nb,\n")
    with pytest.raises(InputError, match=r"chunks\.csv:3: there is no document id in column 'doc_id'"):
        ll.read_run(path, documents_of=table)
    table.write_text("passage\na#1\n")
    with pytest.raises(InputError, match="no column 'doc_id'"):
        ll.read_run(path, documents_of=table)
    for wrong in ("no such file", "(", 7, {}, {"a": 1}):
        with pytest.raises(UsageError, match="documents_of"):
            ll.read_run(path, documents_of=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", "_#")
def test_chunks_of_judged_documents_are_recognised(mark: str, tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q1 0 doc_1 1\nq1 0 doc_2 1\n")
    run.write_text(f"q1 Q0 doc_1{mark}10 1 2 t\nq1 Q0 doc_1{mark}11 2 1 t\n")
    given_args = ("evaluate", qrels, run, "-m", "R", "-f", "json")
    hint = next(one for one in leadline(*given_args).data["warnings"] if one["code"] == "no_judged_document")
    pattern = re.search(r"documents_of='(.*)'", hint["message"])
    assert pattern is not None
    found = leadline(*given_args, "--config", f"read.documents_of={pattern[1]}").data
    assert found["runs"][0]["mean"] == {"R": 0.5}
    assert found["options"]["documents_of"] == pattern[1]
    if mark == "#":
        whole = {"q1": {"doc_1": 1.0}}
        assert ll.read_run(whole, documents_of=pattern[1]).to_dict() == whole


def test_the_hint_for_chunks_can_be_followed_in_python_and_after_a_merge() -> None:
    qrels = {query: {"parts": 1} for query in ("q1", "q2")}
    parts = [ll.evaluate(qrels, {"r": {query: ["parts#1"]}}, "AP") for query in qrels]
    (said,) = (str(one) for one in parts[0].warnings if one.code == "no_judged_document")
    pattern = r"^(.*?)(?:\#\d+)?$"
    assert f"use documents_of={pattern!r}" in said
    (value,) = ll.evaluate(qrels, {"r": {"q1": ["parts#1"]}}, "AP", documents_of=pattern)["r"].values()
    assert value == 0.5
    (said,) = (str(one) for one in Results.merge(parts).warnings if one.code == "no_judged_document")
    assert "evaluate the parts with " in said
