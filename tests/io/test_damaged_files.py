"""Files that are damaged, or others than they are taken for: the values they hold, or one line of error."""

from __future__ import annotations

import gzip
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline, examples
from leadline.errors import InputError, LeadlineError
from leadline.scale.saved_files import saved_results

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
EXAMPLES = REPOSITORY / "docs" / "examples"
QRELS, RUN = EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"


def line_of(read: Callable[[], Any]) -> str:
    """Return the error of what must be refused in one line."""
    with pytest.raises(LeadlineError) as refused:
        read()
    assert len(str(refused.value).splitlines()) == 1
    return str(refused.value)


def test_saved_results_that_are_damaged_have_their_values_or_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "saved.parquet"
    results = ll.evaluate(QRELS, RUN, ["AP", "nDCG@10"])
    results.write(path)
    whole, rng = path.read_bytes(), random.Random(3)
    outcomes = {"read": 0, "refused": 0}
    for number in range(examples(200).max_examples):
        damaged = bytearray(whole)
        if number % 4 == 0:
            del damaged[rng.randrange(len(whole)) :]
        else:
            damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        for read in (saved_results, ll.read_scores):
            try:
                found = read(str(path))
            except LeadlineError as error:
                outcomes["refused"] += len(str(error).splitlines()) == 1
            else:
                outcomes["read"] += 1
                assert np.array_equal(found.values, results.values, equal_nan=True)
    assert sum(outcomes.values()) == 2 * examples(200).max_examples
    assert outcomes["refused"] > outcomes["read"]


@pytest.mark.parametrize("key", ["state", "inputs", "command"])
def test_a_manifest_that_lacks_something_is_refused(key: str, tmp_path: Path) -> None:
    path = tmp_path / "saved.parquet"
    ll.evaluate(QRELS, RUN, "AP").write(path)
    table = parquet.read_table(path)
    manifest = json.loads(table.schema.metadata[b"leadline"])
    del manifest[key]
    parquet.write_table(table.replace_schema_metadata({"leadline": json.dumps(manifest)}), path)
    assert "saved.parquet: " in line_of(lambda: saved_results(str(path)))


def stream(table: Any) -> bytes:
    target = pa.BufferOutputStream()
    with pa.ipc.new_stream(target, table.schema) as writer:
        writer.write_table(table)
    return bytes(target.getvalue())


def test_offsets_and_text_of_arrow_are_checked_in_tables_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.arrow"
    table = pa.table({"query": ["q1", "q2"], "AP": [0.5, 1.0]})
    whole = stream(table)
    path.write_bytes(whole)
    assert ll.read_scores(path).values.ravel().tolist() == [0.5, 1.0]
    for right, wrong in (
        (struct.pack("<3i", 0, 2, 4), struct.pack("<3i", 0, 2, 1 << 20)),
        (b"q1q2", b"q1q\xff"),
    ):
        assert whole.count(right) == 1
        path.write_bytes(whole.replace(right, wrong))
        assert "cannot be read" in line_of(lambda: ll.read_scores(path))


@pytest.mark.parametrize("content", ["{}", "[{}]", "[]", "[null]", "1", "[" * 100_000, '{"a":' * 100_000])
def test_json_without_values_is_no_table_of_scores(content: str, tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "scores.json"
    path.write_text(content)
    assert str(path) in line_of(lambda: ll.read_scores(path))
    for words in (("rank", path), ("correlate", path, path), ("why-different", path, path)):
        found = leadline(*words)
        assert (found.status, found.out, len(found.err.splitlines())) == (2, "", 1)


def test_an_error_is_one_line_whatever_the_names(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(stream(pa.table({"query_id": ["q1"], "d\noc\u2028id": ["d1"], "score": [1.0]})))
    assert r"query_id, d\noc\nid, score" in line_of(lambda: ll.read_run(path))


def test_offsets_of_arrow_may_be_followed_by_other_bytes() -> None:
    offsets = pa.py_buffer(np.array([0, 2, 4], dtype=np.int32).tobytes() + b"x")
    ids = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"d1d2"))
    table = pa.table({"query_id": ["q1", "q1"], "doc_id": ids, "score": [1.0, 0.5]})
    assert ll.read_run(table).to_dict() == {"q1": {"d1": 1.0, "d2": 0.5}}


def test_an_archive_within_an_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(gzip.compress(RUN.read_bytes())))
    assert "is compressed twice" in line_of(lambda: ll.read_run(path))


def test_what_trec_eval_prints_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for name in ("num_ret", "num_ret               ", "P_10                  "):  # as trec_eval pads it
        path.write_text(f"{name}\tq1\t10\nmap\tq1\t0.5\nmap\tall\t0.5\n")
        assert "`trec_eval -q`" in line_of(lambda: ll.read_run(path))
        assert "`trec_eval -q`" in line_of(lambda: ll.read_qrels(path))


def test_a_page_of_kilt_with_another_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    pages = [{"wikipedia_id": "d1"}, {"wikipedia_id": {}}]
    path.write_text(json.dumps({"id": "q1", "output": [{"provenance": pages}]}) + "\n")
    assert ":1: id {} in column 'wikipedia_id' is of type object" in line_of(lambda: ll.read_qrels(path))


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"<html>\n", gzip.compress(RUN.read_bytes(), mtime=0)[:40], b"1\n"]
)
def test_a_collection_without_documents_is_refused(
    content: bytes, tmp_path: Path, leadline: Leadline
) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(content)
    found = leadline("collection", path, EXAMPLES / "queries.jsonl", QRELS)
    assert (found.status, found.out, len(found.err.splitlines())) == (2, "", 1)
    checked = leadline("check", RUN, "--qrels", QRELS, "--docs", path)
    assert checked.status == 2
    if content.startswith(b"\x1f"):
        assert "cannot be read to the end" in leadline("index", path, "-o", tmp_path / "x.index").err


def test_ids_in_parquet_are_utf8(tmp_path: Path) -> None:
    ids = pa.StringArray.from_buffers(
        1, pa.py_buffer(np.array([0, 2], dtype=np.int32)), pa.py_buffer(b"\xff1")
    )
    path = tmp_path / "docs.parquet"
    parquet.write_table(pa.table({"doc_id": ids, "text": ["a"]}), path)
    with pytest.raises(InputError, match="Parquet"):
        list(ll.read_documents(path))


def test_sampled_measures_of_a_run_without_relevant_documents_are_0(
    leadline: Leadline, tmp_path: Path
) -> None:
    run = tmp_path / "other.run"
    run.write_text("knots Q0 x1 1 2 t\nknots Q0 x2 2 1 t\n")
    found = leadline("sampled", QRELS, run, "-m", "AP", "--population", 20, "-f", "json")
    assert found.status == 0
    assert found.data["runs"][0]["mean"]["AP"]["value"] == 0
