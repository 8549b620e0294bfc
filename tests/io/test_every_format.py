"""Runs and qrels in every format: what is read, what is refused, and that ids and numbers survive."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline
from leadline.data.reading import OnDuplicate, Order, Reading
from leadline.errors import InputError, MissingPackageError, UsageError
from leadline.evaluation.join import judge
from leadline.io import formats, objects
from leadline.io.formats import FORMATS
from leadline.io.objects import Qrels, Run, read_qrels, read_run
from leadline.io.run_lists import ReadCounts
from leadline.io.run_names import RUN_SUFFIXES, run_name

pyarrow = pytest.importorskip("pyarrow")

SUFFIXES = (
    ".run",
    *(suffix for each in FORMATS if each.write and each.name != "quepid" for suffix in each.suffixes),
)
TEXTS = (".json", ".jsonl", ".csv", ".tsv")
QRELS = {"q1": {"d1": 2, "d2": 0}, "01": {"NA": 1, "null": -1}}
RUN = {"q1": {"d2": 2.5, "d1": 0.1}, "01": {"NA": 1e-300, "null": -7.0}}
NASTY = (
    *"01 1 1.0 NA null nan None true".split(),
    '"',
    "'",
    '"a"',
    "a,b",
    "a;b",
    "a'b",
    "é",
    "日本",
    "d\u00a01",
    "\ufeffd",
    "#1",
    "\\",
    "\u2028",
    "[",
    "{}",
    "%s",
    "x" * 3000,
)
SCHOOLS = {
    "ir_measures": (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
    "PyTerrier": (("qid", "docno", "label"), ("qid", "docno", "score")),
    "ranx": (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score")),
    "trectools": (("query", "docid", "rel"), ("query", "docid", "score")),
    "BEIR": (("query-id", "corpus-id", "score"), ("query-id", "corpus-id", "score")),
}


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


def rows_of(table: dict[str, dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(query, name, number) for query, found in table.items() for name, number in found.items()]


def refusal(read: Any, *given: Any, **options: Any) -> str:
    with pytest.raises(InputError) as rejected:
        read(*given, **options)
    assert "\n" not in str(rejected.value)
    return str(rejected.value)


def file_of(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def table_text(suffix: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> bytes:
    """Write a table without our own writers."""
    frame = pl.DataFrame(rows, schema=list(columns), orient="row")
    if suffix == ".json":
        return json.dumps([dict(zip(columns, row, strict=True)) for row in rows]).encode()
    if suffix == ".jsonl":
        return frame.write_ndjson().encode()
    if suffix in {".csv", ".tsv"}:
        return frame.write_csv(separator="\t" if suffix == ".tsv" else ",").encode()
    target = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(target)
    else:
        frame.write_ipc(target)
    return target.getvalue()


# Reading


def test_a_run_is_named_without_the_suffix_of_any_format() -> None:
    suffixes = {suffix for each in FORMATS for suffix in (*each.suffixes, *each.other_suffixes)}
    assert suffixes - set(RUN_SUFFIXES) == {".quepid"}  # holds judgments only
    assert [run_name(f"bm25{suffix}") for suffix in RUN_SUFFIXES] == ["bm25"] * len(RUN_SUFFIXES)


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
@pytest.mark.parametrize("school", SCHOOLS)
def test_the_column_names_of_the_field_are_known_in_files(school: str, suffix: str, tmp_path: Path) -> None:
    qrels, run = SCHOOLS[school]
    path = file_of(tmp_path, f"qrels{suffix}", table_text(suffix, qrels, rows_of(QRELS)))
    assert read_qrels(path).to_dict() == QRELS
    path = file_of(tmp_path, f"mine{suffix}", table_text(suffix, run, rows_of(RUN)))
    found = read_run(path)
    assert (found.to_dict(), found.name) == (RUN, run_name(str(path)))
    _, judged, tally = judge(str(path), read_qrels(QRELS))
    assert judged.rank.tolist() == [1, 2, 1, 2]
    assert (tally.rows, tally.queries) == (4, 2)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_format_is_told_by_content_without_a_suffix(suffix: str, tmp_path: Path) -> None:
    written = tmp_path / f"sys{suffix}"
    objects.write_run(read_run(RUN), written)
    positional = file_of(tmp_path, "sys", written.read_bytes())
    archive = file_of(tmp_path, "archive", gzip.compress(written.read_bytes()))
    assert read_run(positional).to_dict() == read_run(archive).to_dict() == RUN


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("compressed", [False, True])
def test_every_format_is_read_from_standard_input(
    suffix: str, compressed: bool, tmp_path: Path, leadline: Leadline
) -> None:
    qrels, run = tmp_path / "q.txt", tmp_path / f"sys{suffix}"
    objects.write_qrels(read_qrels(QRELS), qrels)
    objects.write_run(read_run(RUN), run)
    stdin = gzip.compress(run.read_bytes()) if compressed else run.read_bytes()
    found = leadline("evaluate", qrels, "-", "-m", "RR", "-f", "json", stdin=stdin)
    assert found.data["runs"][0]["mean"] == {"RR": 0.75}
    judgments = tmp_path / f"qrels{suffix}"
    objects.write_qrels(read_qrels(QRELS), judgments)
    found = leadline("evaluate", "-", run, "-m", "RR", "-f", "json", stdin=judgments.read_bytes())
    assert found.data["runs"][0]["mean"] == {"RR": 0.75}


@pytest.mark.parametrize(
    "text", ['[["q1", "d1", 2.5], ["q2", "d1", 1]]', '{"q1": {"d1": 2.5}, "q2": {"d1": 1}}']
)
def test_json_may_be_rows_or_an_object(text: str, tmp_path: Path) -> None:
    assert read_run(file_of(tmp_path, "a.json", text)).to_dict() == {"q1": {"d1": 2.5}, "q2": {"d1": 1}}
    assert read_run(file_of(tmp_path, "a", "\n" + text)).to_dict() == {"q1": {"d1": 2.5}, "q2": {"d1": 1}}


def test_trec_lines_stay_trec_lines(tmp_path: Path) -> None:
    text = '{"q Q0 {"d 1 2 t\nquery_id,doc_id,score Q0 d 1 1 t\n[[ Q0 d 1 1 t\n'
    for name in ("a.json", "a.csv", "a"):
        run = read_run(file_of(tmp_path, name, text))
        assert set(run.queries) == {'{"q', "query_id,doc_id,score", "[["}


def test_bare_ranked_lists_are_runs(tmp_path: Path) -> None:
    lists = {"q1": ["x", "d1", "x", "d2"], "q2": ["d3"]}
    qrels = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}
    for source in (lists, str(file_of(tmp_path, "a.json", json.dumps(lists)))):
        _, judged, tally = judge(source, read_qrels(qrels))
        assert judged.rank.tolist() == [2, 4, 1]  # the repeat holds rank 3
        assert (tally.held, tally.repeated) == (1, 0)
        (said,) = (one for one in ll.evaluate(qrels, source).warnings if one.code == "held_documents")
        assert said.message.endswith("(repeats keep their ranks and count as non-relevant)")
        run = read_run(source)
        assert run.to_dict() == {"q1": {"x": -1, "d1": -2, "x (repeat 1)": -3, "d2": -4}, "q2": {"d3": -1}}
    assert ll.evaluate(qrels, lists, ["RankOf(n=2)"]).value("run", "q1", "RankOf(n=2)") == 4
    assert ll.evaluate(qrels, {"mine": lists}, ["RR"]).names == ["mine"]
    whole: Any = {"q1": ["d1", 7]}
    assert read_run(whole).to_dict() == {"q1": {"d1": -1, "7": -2}}
    assert refusal(judge, {"q1": ["d1", 7.5]}, read_qrels(qrels)).startswith(
        "run, place 2 of query 'q1': id 7.5"
    )


def test_lists_and_sets_of_ids_are_relevant_documents_in_qrels(tmp_path: Path) -> None:
    relevant = {"q1": ["d1", "d2"], "q2": ["d3"]}
    expected = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}
    sets = {query: set(documents) for query, documents in relevant.items()}
    for source in (relevant, sets, str(file_of(tmp_path, "a.json", json.dumps(relevant)))):
        found = read_qrels(source)
        assert found.to_dict() == expected
        assert [(code, count) for code, _, count in found.remarks] == [("relevant_sets", 3)]
    assert "judged twice" in refusal(read_qrels, {"q1": ["d1", "d1"]})
    assert "the value for query 'q2' is of type int" in refusal(read_qrels, {"q1": ["d1"], "q2": 1})


def test_rows_are_tuples_named_tuples_dictionaries_and_generators() -> None:
    run, qrels = rows_of(RUN), rows_of(QRELS)
    names = ("query_id", "doc_id", "score")
    loose = namedtuple("loose", "qid docno score")  # noqa: PYI024  # as peers make them
    for source in (
        run,
        tuple(run),
        iter(run),
        (row for row in run),
        [ScoredDoc(*row) for row in run],
        [loose(*row) for row in run],
        [dict(zip(names, row, strict=True)) for row in run],
    ):
        assert read_run(source).to_dict() == RUN
    for judgments in (qrels, iter(qrels), [Judgment(*row) for row in qrels]):
        assert read_qrels(judgments).to_dict() == QRELS
    results = ll.evaluate([Judgment(*row) for row in qrels], [ScoredDoc(*row) for row in run], ["RR"])
    assert results.mean("run", "RR") == 0.75
    assert ll.evaluate(qrels, [run, iter(run)][1:], ["RR"]).mean("run", "RR") == 0.75
    assert ll.evaluate(qrels, {"a": iter(run), "b": run}, ["RR"]).names == ["a", "b"]


def test_a_generator_is_gone_through_once() -> None:
    taken = []

    def rows() -> Iterator[tuple[str, str, float]]:
        for row in rows_of(RUN):
            taken.append(row)
            yield row

    source = rows()
    assert read_run(source).to_dict() == RUN
    assert len(taken) == 4
    assert refusal(read_run, source) == "run: contains no documents"


def test_ir_measures_shapes_are_known() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run = [ir_measures.ScoredDoc(*row) for row in rows_of(RUN)]
    assert read_run(run).to_dict() == RUN
    assert read_qrels([ir_measures.Qrel(*row) for row in rows_of(QRELS)]).to_dict() == QRELS


def test_frames_of_pandas_polars_and_arrow_give_the_same() -> None:
    columns = {
        name: [row[place] for row in rows_of(RUN)] for place, name in enumerate(("qid", "docno", "score"))
    }
    for source in (
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        pyarrow.table(columns),
    ):
        assert read_run(source).to_dict() == RUN


@pytest.mark.parametrize("order", ["score", "rank"])
@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_order_rank_takes_the_rank_column(suffix: str, order: Order, tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [("q1", "d1", 1.0, 1), ("q1", "d2", 2.0, 2)]
    path = file_of(tmp_path, f"a{suffix}", table_text(suffix, ("qid", "docno", "score", "rank"), rows))
    expected = ["d2", "d1"] if order == "score" else ["d1", "d2"]
    assert list(read_run(path, order=order).to_dict()["q1"]) == expected
    tally = judge(str(path), read_qrels({"q1": {"d1": 1}}))[2]
    assert tally.disordered == 1
    rows = [("q1", "d1", 1.0), ("q1", "d2", 2.0)]
    path = file_of(tmp_path, f"a{suffix}", table_text(suffix, ("qid", "docno", "score"), rows))
    found = "no ranks were found among the columns qid, docno, score because no column is called rank or Doc "
    assert f"{found}Position" in refusal(read_run, path, order="rank")


REPEATED = [("q1", "d1", 1.0), ("q1", "d2", 2.0), ("q1", "d1", 3.0)]


@pytest.mark.parametrize(("policy", "score"), [("first", 1), ("last", 3), ("max", 3)])
@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_repeats_are_refused_or_repaired_in_every_format(
    suffix: str, policy: OnDuplicate, score: float, tmp_path: Path
) -> None:
    path = file_of(tmp_path, f"a{suffix}", table_text(suffix, ("qid", "docno", "score"), REPEATED))
    place = {".jsonl": f"{path}:3", ".csv": f"{path}:4", ".tsv": f"{path}:4"}.get(
        suffix, f"{path}, {'record' if suffix == '.json' else 'row'} 3"
    )
    assert refusal(read_run, path).startswith(
        f"{place}: document 'd1' appears twice for query 'q1' (first at "
    )
    assert "is judged twice" in refusal(read_qrels, path)
    assert read_run(path, on_duplicate=policy).to_dict()["q1"]["d1"] == score


def test_a_document_twice_in_a_json_object_is_not_silent(tmp_path: Path) -> None:
    path = file_of(tmp_path, "a.json", '{"q1": {"d1": 1, "d1": 2}}')
    assert refusal(read_qrels, path) == (
        f"{path}, record 2: document 'd1' is judged twice for query 'q1' (first at record 1)"
    )
    path = file_of(tmp_path, "b.json", '{"q1": {"d1": 1}, "q1": {"d2": 2}}')
    assert read_qrels(path).to_dict() == {"q1": {"d1": 1, "d2": 2}}


@pytest.mark.parametrize("suffix", [*TEXTS, ".parquet"])
def test_nan_is_refused_or_dropped(suffix: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 1.0), ("q1", "d2", float("nan"))]
    columns = ("qid", "docno", "score")
    text = table_text(suffix, columns, rows)
    if suffix == ".jsonl":  # polars writes null
        text = b'{"qid": "q1", "docno": "d1", "score": 1.0}\n{"qid": "q1", "docno": "d2", "score": NaN}\n'
    path = file_of(tmp_path, f"a{suffix}", text)
    shown = "'NaN'" if suffix in {".csv", ".tsv"} else "nan"
    assert f"score {shown} of document 'd2' for query 'q1' is not a number" in refusal(read_run, path)
    assert read_run(path, on_nan="drop").to_dict() == {"q1": {"d1": 1.0}}
    tally: ReadCounts = judge(str(path), read_qrels({"q1": {"d1": 1}}), reading=Reading(on_nan="drop"))[2]
    assert tally.dropped == 1


def test_a_run_of_nan_alone_is_refused_in_every_form(tmp_path: Path) -> None:
    nan: Any = {"q1": {"d1": float("nan")}}
    forms = {
        "a.run": "q1 Q0 d1 1 nan x\n",
        "a.json": json.dumps(nan),
        "a.csv": "qid,docno,score\nq1,d1,nan\n",
    }
    for source in (nan, *(file_of(tmp_path, name, text) for name, text in forms.items())):
        with pytest.raises(InputError, match="only NaN scores"):
            judge(source, read_qrels({"q1": {"d1": 1}}), reading=Reading(on_nan="drop"))


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".parquet", ".arrow"])
def test_ids_that_are_fractions_are_refused_and_the_column_is_named(suffix: str, tmp_path: Path) -> None:
    for place, column in enumerate(("qid", "docno")):
        row = tuple(7.5 if at == place else value for at, value in enumerate(("q1", "d1", 1.0)))
        path = file_of(tmp_path, f"a{suffix}", table_text(suffix, ("qid", "docno", "score"), [row]))
        for read in (read_run, read_qrels):
            assert f"id 7.5 in column '{column}' is of type float, not a string" in refusal(read, path)


FAULTS = {
    ("a.json", '{"q1": {"d1": 1}'): ":1: invalid JSON at column 17: expecting ',' delimiter",
    ("a.json", "[" * 100_000): ": the JSON is nested too deeply",
    ("a.json", '"text"'): ": the JSON value is of type text, not an object or a list",
    (
        "a.json",
        '{"q1": {"d1": "2"}}',
    ): ", record 1: score '2' of document 'd1' for query 'q1' is text, not a number",
    ("a.json", '{"q1": 7}'): ": the value for query 'q1' is of type int. Use the form {document: score}.",
    ("a.json", "{}"): ": contains no documents",
    ("a.json", "[]"): ": contains no documents",
    ("a.json", '["q1", "d1"]'): ", record 1: the record is of type text. Use {query: [document, ...]}, or "
    "rows that all have the form [query, document, number] or all have the fields query_id, doc_id and score "
    "(in qrels, relevance).",
    (
        "a.json",
        '[{"qid": "q1"}]',
    ): ", record 1: no document ids were found in column 'qid' because no column is called doc_id, docno, "
    "docid, corpus-id, corpus_id, item_id, document, Doc ID, doc, chunk_id, passage_id, pid, text_id or id. "
    "Add a column 'doc_id' with the document ids.",
    (
        "a.jsonl",
        '{"qid": "q1", "docno": "d1", "score": 1}\n{"qid": "q1", "score": 1}\n',
    ): ":2: the line has qid, score, but needs qid, docno, score",
    (
        "a.jsonl",
        '{"qid": "q1", "docno": "d1", "score": 1}\n{}\n',
    ): ":2: the line has no fields, but needs qid, docno, score",
    (
        "a.jsonl",
        '{"qid": "q1", "docno": "d1", "score": 1}\n[1]\n',
    ): ":2: the JSON value is of type list, not an object",
    (
        "a.jsonl",
        '{"qid": "q1", "docno": "d1", "score": 1}\n{"qid\n',
    ): ":2: invalid JSON at column 2: unterminated string",
    (
        "a.csv",
        "qid,docno,score\nq1,d1,abc\n",
    ): ":2: score 'abc' of document 'd1' for query 'q1' is not a number",
    ("a.csv", "qid,docno,score\nq1,d1,\n"): ":2: score '' of document 'd1' for query 'q1' is not a number",
    ("a.csv", "qid,docno,score\nq1,d1\n"): ":2: the row has 2 cells, but the header has 3",
    ("a.csv", "qid,docno,score\nq1,,1\n"): ":2: there is no id in column 'docno'",
    (
        "a.csv",
        'qid,docno,score\nq1,"d1"x,1\n',
    ): ":2: invalid CSV (',' expected after '\"'). Quote each cell that contains a separator, a quote or a "
    "line break, and double the quotes inside it.",
    (
        "a.csv",
        "qid,docno,number\nq1,d1,1\n",
    ): ":1: no scores were found among the columns qid, docno, number because no column is called score, "
    "similarity or relevance_score. Rename the column with the scores to 'score'.",
    (
        "a.csv",
        "qid,docno,probability\nq1,d1,1\n",
    ): ":1: no scores were found among the columns qid, docno, probability because no column is called "
    "score, similarity or relevance_score. Add a column 'score' with the scores.",
    ("a.csv", "qid,docno,score\n"): ": contains no documents",
    ("a.parquet", "PAR1 and nothing else"): "cannot be read",
    ("a.arrow", "ARROW1 and nothing else"): "cannot be read",
}


@pytest.mark.parametrize(("name", "text"), list(FAULTS), ids=lambda text: text[:40])
def test_bad_input_is_one_line_in_every_format(
    name: str, text: str, tmp_path: Path, leadline: Leadline
) -> None:
    path, qrels = file_of(tmp_path, name, text), file_of(tmp_path, "q.txt", "q1 0 d1 1\n")
    status, out, err = leadline("evaluate", qrels, path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    expected = FAULTS[name, text]
    assert expected in err if expected.startswith("cannot") else err == f"leadline: error: {path}{expected}\n"


def test_parquet_without_pyarrow_names_the_extra(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    path = file_of(tmp_path, "a.parquet", "PAR1")
    with pytest.raises(MissingPackageError, match=r'pip install "leadline\[frames\]"'):
        read_run(path)
    assert leadline("evaluate", path, path).status == 2


def test_qrels_of_ir_datasets_are_read_by_name(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    judgments = [Judgment("q1", "d1", 1), Judgment("q1", "d2", 0)]
    known = {
        "small/test": SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: iter(judgments)),
        "bare": SimpleNamespace(has_qrels=lambda: False),
    }
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=known.__getitem__))
    assert read_qrels("ir_datasets:small/test").to_dict() == {"q1": {"d1": 1, "d2": 0}}
    assert "no such collection" in refusal(read_qrels, "ir_datasets:other")
    assert "ir_datasets:bare: has no qrels" in refusal(read_qrels, "ir_datasets:bare")
    assert "s judgments, not a run" in refusal(read_run, "ir_datasets:bare")
    run = file_of(tmp_path, "a.run", "q1 Q0 d1 1 1 t\n")
    found = leadline("evaluate", "ir_datasets:small/test", run, "-m", "RR", "-f", "json").data
    assert found["inputs"][0] == {"path": "ir_datasets:small/test", "sha256": None, "rows": 2}
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingPackageError, match=r"leadline\[ir-datasets\]"):
        read_qrels("ir_datasets:small/test")


# Writing


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("archive", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_round_trip_keeps_everything(suffix: str, archive: str, tmp_path: Path) -> None:
    path = tmp_path / f"sys{suffix}{archive}"
    objects.write_run(read_run(RUN), path)
    assert read_run(path).to_dict() == RUN
    assert read_run(path).name == run_name(str(path))
    objects.write_qrels(read_qrels(QRELS), path)
    assert read_qrels(path).to_dict() == QRELS
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nasty_ids_survive(suffix: str, tmp_path: Path) -> None:
    run = {name: {other: 1 / (place + 3) for place, other in enumerate(NASTY)} for name in NASTY}
    qrels = {name: dict.fromkeys(NASTY, 1) for name in NASTY}
    path = tmp_path / f"sys{suffix}"
    objects.write_run(read_run(run), path)
    assert read_run(path).to_dict() == run
    objects.write_qrels(read_qrels(qrels), path)
    assert read_qrels(path).to_dict() == qrels


@pytest.mark.parametrize("suffix", [".run", ".json", ".jsonl", ".csv"])
def test_ids_that_are_not_utf8_survive_in_texts(suffix: str, tmp_path: Path) -> None:
    run = Run.of([(b"q\xff", b"\xfe\xff", 1.0), (b"\xff\xfe", b"BZh", 0.1)], name="mine")
    path = tmp_path / f"sys{suffix}"
    objects.write_run(run, path)
    assert read_run(path) == run
    assert "an id is not valid UTF-8" in refusal(objects.write_run, run, tmp_path / "a.parquet")


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
plain_ids = ids.filter(
    lambda text: (
        len(text.encode().split()) == 1 and text.encode().split()[0] == text.encode() and "\0" not in text
    )
)
tables = st.dictionaries(
    plain_ids,
    st.dictionaries(plain_ids, st.floats(allow_nan=False), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(table=tables)
def test_any_run_survives(suffix: str, tmp_path: Path, table: dict[str, dict[str, float]]) -> None:
    path = tmp_path / f"sys{suffix}"
    objects.write_run(read_run(table), path)
    assert read_run(path).to_dict() == table


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".tsv", ".parquet"])
def test_ids_with_blanks_survive_where_a_format_can_hold_them(suffix: str, tmp_path: Path) -> None:
    run = {"q 1": {"a b": 1.0, "a\tb": 2.0, "a\nb": 3.0, "a\r\nb": 4.0, "\0": 5.0}}
    path = tmp_path / f"sys{suffix}"
    objects.write_run(read_run(run), path)
    assert read_run(path).to_dict() == run


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "a\0", "\n"])
def test_ids_that_a_trec_file_cannot_hold_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    assert "one column of TREC text" in refusal(objects.write_run, read_run({"q1": {name: 1.0}}), path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot"):
        objects.write_run(read_run(RUN), tmp_path / "nowhere" / "a.run")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot"):
        objects.write_run(read_run(RUN), tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_subtopics_survive(suffix: str, tmp_path: Path) -> None:
    judged = {"q1": {"s1": {"d1": 1, "d2": 0}, "s2": {"d1": 2}}}
    qrels = read_qrels(judged, subtopics=True)
    path = tmp_path / f"qrels{suffix}"
    objects.write_qrels(qrels, path)
    assert read_qrels(path, subtopics=True).by_subtopic() == judged


def test_subtopics_are_a_column_of_frames_and_a_field_of_named_tuples() -> None:
    rows = [("q1", "d1", 1, "s1"), ("q1", "d1", 2, "s2")]
    columns = ("query_id", "doc_id", "relevance", "iteration")
    frame = pd.DataFrame(rows, columns=list(columns))
    for source in (frame, [Judgment(*row) for row in rows]):
        found = read_qrels(source, subtopics=True)
        assert found.by_subtopic() == {"q1": {"s1": {"d1": 1}, "s2": {"d1": 2}}}
        assert "is judged twice" in refusal(read_qrels, source)
    assert "qrels: has no subtopics, but subtopics=True needs a column 'subtopic'" in refusal(
        read_qrels, [row[:3] for row in rows], subtopics=True
    )
    twice = pd.DataFrame([rows[0], rows[0]], columns=list(columns))
    assert refusal(read_qrels, twice, subtopics=True) == (
        "qrels, row 2: document 'd1' is judged twice for subtopic 's1' of query 'q1'"
    )


def real_files(shared_data: Path) -> list[tuple[Path, Path]]:
    found = []
    for name in ("trec-covid-r1", "trec-dl-2019-passage"):
        run = min((shared_data / name / "runs").iterdir(), key=lambda path: (path.stat().st_size, path.name))
        found.append((shared_data / name / "qrels.txt", run))
    return found


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_real_runs_survive_and_measure_the_same(suffix: str, shared_data: Path, tmp_path: Path) -> None:
    for qrels_path, run_path in real_files(shared_data):
        qrels, run = read_qrels(qrels_path), read_run(run_path)
        objects.write_qrels(qrels, tmp_path / f"qrels{suffix}.gz")
        objects.write_run(run, tmp_path / f"sys{suffix}")
        assert read_qrels(tmp_path / f"qrels{suffix}.gz") == qrels
        again = read_run(tmp_path / f"sys{suffix}")
        assert again == run
        assert list(again.document) == list(run.document)
        before = ll.evaluate(qrels, str(run_path), ["AP", "nDCG@10"])
        after = ll.evaluate(
            str(tmp_path / f"qrels{suffix}.gz"), str(tmp_path / f"sys{suffix}"), ["AP", "nDCG@10"]
        )
        assert np.array_equal(before.values, after.values, equal_nan=True)


# Results


def test_results_go_to_frames_and_json() -> None:
    results = ll.evaluate(
        {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"a": {"q1": {"d1": 1.0}}, "b": RUN}, ["AP", "RR"]
    )
    long = [("a", "q1", "AP", 1.0), ("a", "q1", "RR", 1.0), ("a", "q2", "AP", 0.0), ("a", "q2", "RR", 0.0)]
    assert results.to_pandas().to_dict() == {"AP": {"a": 0.5, "b": 0.25}, "RR": {"a": 0.5, "b": 0.25}}
    frame = results.to_pandas(per_query=True)
    assert list(frame.columns) == ["run", "query", "measure", "value"]
    shown = [tuple(row) for row in frame.fillna(0.0).itertuples(index=False)]
    assert shown[:4] == long
    assert results.to_polars(per_query=True).fill_nan(0.0).rows()[:4] == long
    means = results.to_polars(long=True)
    assert results.to_polars(per_query=False).equals(means)
    assert means.columns == ["run", "measure", "value"]
    assert means.rows()[:2] == [("a", "AP", 0.5), ("a", "RR", 0.5)]
    assert results.to_pandas(per_query=False)["value"].tolist() == results.means.ravel().tolist()
    saved = json.loads(results.to_json())
    assert {key: saved[key] for key in ("measures", "queries", "runs")} == results.to_dict(per_query=True)


def test_frames_without_their_library_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    results = ll.evaluate(QRELS, RUN, ["AP"])
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingPackageError, match=f"{name} is not installed"):
            getattr(results, f"to_{name}")()


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    columns = ["qid", "docno", "docno", "score"]
    frame = pd.DataFrame([["q", "d", "e", 1.0]], columns=columns)
    assert refusal(read_run, frame) == "the data frame has more than one column called 'docno'"
    path = file_of(tmp_path, "a.csv", ",".join(columns) + "\nq,d,e,1\n")
    assert refusal(read_run, path) == f"{path}:1: column 'docno' appears twice"


def test_lists_that_are_empty_are_ranked_lists_too() -> None:
    results = ll.evaluate({"q2": {"d": 1}}, {"q1": [], "q2": ["x", "d"]}, ["RR"])
    assert results.mean("run", "RR") == 0.5


def test_a_format_without_a_writer_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(formats.BY_SUFFIX, ".read", FORMATS[0]._replace(write=None))
    with pytest.raises(UsageError, match="does not write it"):
        ll.write_run(ll.read_run({"q1": {"d1": 1.0}}), tmp_path / "a.read")


def test_empty_and_unknown_things_are_refused() -> None:
    assert refusal(objects.write_run, Run.of([], name="none"), "a.run") == "none: contains no documents"
    assert isinstance(read_qrels([("q1", "d1", 1)]), Qrels)
    assert "rows that all have the form [query, document, number]" in refusal(read_run, [1, 2])
    assert "run, record 1: the record is of type tuple and has length 2" in refusal(read_run, [("q1", "d1")])
