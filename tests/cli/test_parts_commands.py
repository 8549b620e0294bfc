"""`evaluate --parts`, `--engine` and `--save`; `merge` and `verify`."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import Leadline
from leadline.io.saved_results import sealed_parquet
from whole_runs import Split, split_run

pytest.importorskip("pyarrow")


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Split:
    """Write a run in three parts, and work in their folder."""
    split = split_run(tmp_path, 11, parts=3)
    folder = tmp_path / "bm25"
    folder.mkdir()
    parts = [shutil.move(part, folder) for part in split.parts]
    monkeypatch.chdir(tmp_path)
    return split._replace(qrels="qrels.txt", run="bm25.run", parts=[f"bm25/{Path(p).name}" for p in parts])


def values(data: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a result says about its runs."""
    return data["measures"], data["queries"], data["runs"], data["warnings"]


def test_a_folder_with_parts_is_one_run(split: Split, leadline: Leadline) -> None:
    whole = leadline("evaluate", split.qrels, split.run, "-f", "json", "-q").data
    parts = leadline("evaluate", split.qrels, "bm25", "--parts", "-f", "json", "-q").data
    assert values(parts) == values(whole)
    assert [info["path"] for info in parts["inputs"]] == [split.qrels, *split.parts]
    assert all(len(info["sha256"]) == 64 for info in parts["inputs"])
    pattern = leadline("evaluate", split.qrels, "bm25/*", "--parts")
    assert pattern.out == leadline("evaluate", split.qrels, split.run).out
    without = leadline("evaluate", split.qrels, "bm25", "-f", "json").data
    assert len(without["runs"]) == 3


def test_trec_text_and_engines_give_the_same(split: Split, leadline: Leadline) -> None:
    whole = leadline("evaluate", split.qrels, split.run, "-f", "trec", "-q", "-m", "all_trec")
    for engine in ("local", "processes:2"):
        done = leadline(
            *("evaluate", split.qrels, "bm25", "--parts", "-f", "trec", "-q", "-m", "all_trec"),
            *("--engine", engine),
        )
        assert done.out == whole.out
    many = leadline("evaluate", split.qrels, *split.parts, "--engine", "processes:2", "-f", "csv", "-q")
    assert many.out == leadline("evaluate", split.qrels, *split.parts, "-f", "csv", "-q").out


def test_saved_parts_merge_and_verify(split: Split, leadline: Leadline) -> None:
    whole = leadline(
        "evaluate", split.qrels, split.run, "-f", "json", "-q", "--config", "read.name_by=tag"
    ).data
    files = []
    for number, part in enumerate(split.parts):
        files.append(f"{number}.parquet")
        done = leadline("evaluate", split.qrels, part, "--config", "read.name_by=tag", "-o", files[-1])
        assert done.status == 0
    merged = leadline("merge", *files, "-o", "all.parquet", "-f", "json", "-q")
    assert values(merged.data) == values(whole)
    assert merged.data["command"] == "merge"
    verified = leadline("verify", "all.parquet", "-f", "json")
    assert verified.status == 0
    assert verified.data["verified"] is True
    assert {check["ok"] for check in verified.data["checks"]} == {True}
    assert [check["kind"] for check in verified.data["checks"]] == [*["input"] * 4, "values"]
    compared = leadline("compare", "all.parquet", "-f", "json")
    assert compared.status == 2  # one run
    both = leadline("merge", *files, "-C", "queries=both", "-f", "json").data
    assert both["options"]["queries"] == "both"
    assert both["runs"] != merged.data["runs"]
    assert "0.parquet was passed twice" in leadline("merge", files[0], files[0]).refusal


def test_verify_lists_values_that_it_does_not_recompute(split: Split, leadline: Leadline) -> None:
    leadline("pool", split.run, "--for", "P@2", "--budget", "2", "-o", "pool.tsv")
    leadline("judge", "pool.tsv", "--simulate", split.qrels, "--store", "judged.db")
    leadline("evaluate", "judged.db", split.run, "-o", "estimates.json")
    leadline("evaluate", split.qrels, split.run, "-o", "exact.json")
    Path(split.qrels).write_text(Path(split.qrels).read_text() + "new 0 d 1\n")
    for name, found in (
        ("estimates.json", "not recomputed: the results use a pool or a sample of judgments"),
        ("exact.json", "not recomputed: the judgments have changed or cannot be read again"),
    ):
        last = leadline("verify", name, "-f", "json").data["checks"][-1]
        assert (last["kind"], last["ok"], last["found"]) == ("values", None, found)


def test_verify_does_not_miss_judgments_in_a_folder(split: Split, leadline: Leadline) -> None:
    leadline("convert", split.qrels, "collection", "--to", "beir")
    leadline("evaluate", "collection", split.run, "-o", "saved.json")
    folder, *_, last = leadline("verify", "saved.json", "-f", "json").data["checks"]
    assert (folder["name"], folder["ok"], folder["found"]) == (
        "collection",
        None,
        "its SHA-256 was not saved",
    )
    assert (last["kind"], last["ok"]) == ("values", True)


@pytest.mark.parametrize("judged", ["file", "other", "memory"])
def test_verify_recomputes_what_python_saved_if_its_judgments_are_those_of_a_file(
    judged: str, split: Split
) -> None:
    qrels: Any = {"1": {"x": 1}} if judged == "memory" else ll.read_qrels(split.qrels).to_dict()
    runs: Any = {"bm25": {"1": {"x": 1.0}}} if judged == "memory" else [split.run, split.parts[0]]
    known = split.known if judged == "other" else None
    ll.evaluate(split.qrels if judged == "file" else qrels, runs, ["AP"], known=known).write("saved.parquet")
    checks = ll.verify("saved.parquet").checks
    inputs = [check["ok"] for check in checks if check["kind"] == "input"]
    assert inputs == [True] * 3 * (judged != "memory")
    recomputed = [check["ok"] for check in checks if check["kind"] == "values"]
    assert recomputed == ([True, True] if judged == "file" else [None])


def test_verify_recomputes_results_over_some_queries(split: Split, leadline: Leadline) -> None:
    chosen = sorted({*ll.read_qrels(split.qrels).queries} & {*ll.read_run(split.parts[0]).queries})[:2]

    def outcome(name: str, *words: str) -> list[bool | None]:
        checks = leadline("verify", name, "-f", "json", *words).data["checks"]
        return [check["ok"] for check in checks if check["kind"] == "values"]

    ll.evaluate(split.qrels, split.run, ["AP"], queries_in=chosen).write("ids.parquet")
    assert outcome("ids.parquet") == [True]
    Path("some.txt").write_text("".join(f"{query}\n" for query in chosen))
    for name in ("file.json", "file.parquet"):
        leadline("evaluate", split.qrels, split.run, "--config", "read.queries_in=some.txt", "-o", name)
        assert outcome(name) == [True]
    leadline("evaluate", split.qrels, "bm25", "--parts", "-C", "queries_in=some.txt", "-o", "parts.parquet")
    assert outcome("parts.parquet") == [True]  # the other parts have none of the queries
    Path("some.txt").write_text(f"{chosen[0]}\n")
    assert outcome("file.json") == [None]
    Path("some.txt").unlink()
    assert outcome("file.json") == [None]


CHUNKS = {"a": "a", "b#1": "b", "b#2": "b"}


@pytest.mark.usefixtures("split")  # it works in a folder of its own
@pytest.mark.parametrize(
    ("measure", "settings", "recomputed"),
    [
        ("RR", {"drop_identical_ids": True}, True),
        ("RR", {"documents_of": "([^#]*)"}, True),
        ("R@40tokens", {"documents_of": "chunks.csv", "lengths": "lengths.csv:tokens"}, True),
        ("RR", {"documents_of": CHUNKS}, None),
        ("R@40tokens", {"lengths": dict.fromkeys(CHUNKS, 30)}, None),
        ("RR", {"known": {"a": ["b"]}}, True),
    ],
)
def test_verify_reads_runs_as_the_results_did(
    measure: str, settings: dict[str, Any], recomputed: bool | None, leadline: Leadline
) -> None:
    Path("q.txt").write_text("a 0 b 1\na 0 a 0\n")
    Path("r.run").write_text("a Q0 a 1 3 r\na Q0 b#1 2 2 r\na Q0 b#2 2 1 r\n")
    Path("chunks.csv").write_text("chunk_id,doc_id\na,a\nb#1,b\nb#2,b\n")
    Path("lengths.csv").write_text("chunk_id,tokens\na,9\nb#1,30\nb#2,30\n")
    ll.evaluate("q.txt", "r.run", [measure], **settings).write("same.parquet")
    verified = leadline("verify", "same.parquet", "-f", "json")
    assert verified.status == 0
    assert verified.data["checks"][-1]["ok"] is recomputed


@pytest.mark.usefixtures("split")  # it works in a folder of its own
@pytest.mark.parametrize(
    ("option", "file"),
    [
        ("known", "gone.csv"),
        ("queries_in", "gone.csv"),
        ("documents_of", "gone.csv"),
        ("lengths", "gone.csv:tokens"),
    ],
)
def test_verify_names_the_file_of_an_option_that_is_gone(option: str, file: str, leadline: Leadline) -> None:
    Path("q.txt").write_text("a 0 b 1\na 0 a 0\n")
    Path("r.run").write_text("a Q0 a 1 3 r\na Q0 b 2 2 r\n")
    texts = {"documents_of": "chunk_id,doc_id\na,a\nb,b\n", "lengths": "doc_id,tokens\na,9\nb,30\n"}
    Path("gone.csv").write_text(texts.get(option, "a 0 a 1\n"))
    measure = "R@40tokens" if option == "lengths" else "RR"
    ll.evaluate("q.txt", "r.run", measure, **{option: file}).write("saved.json")  # type: ignore[arg-type]
    Path("gone.csv").unlink()
    verified = leadline("verify", "saved.json", "-f", "json")
    last = verified.data["checks"][-1]
    assert (verified.status, last["kind"], last["ok"], "gone.csv" in last["found"]) == (
        0,
        "values",
        None,
        True,
    )


def test_verify_does_not_read_standard_input(split: Split, leadline: Leadline) -> None:
    known = Path(split.qrels).read_bytes()
    words = ("-m", "Novelty", "-C", "known=-", "-o", "saved.json")
    assert leadline("evaluate", split.qrels, split.run, *words, stdin=known).status == 0
    verified = leadline("verify", "saved.json", "-f", "json", stdin=known)
    assert (verified.status, verified.data["checks"][-1]["ok"]) == (0, None)
    assert sys.stdin.buffer.read() == known


def test_verify_does_not_call_a_run_without_judged_queries_changed(split: Split, leadline: Leadline) -> None:
    Path("other.run").write_text("other Q0 d1 1 1 t\n")
    leadline("evaluate", split.qrels, split.run, "other.run", "-o", "saved.parquet")
    last = leadline("verify", "saved.parquet", "-f", "json").data["checks"][-1]
    assert (last["name"], last["ok"]) == ("other", None)
    assert "have changed" not in last["found"]


def test_verify_does_not_call_the_inputs_of_a_run_in_memory_changed(split: Split) -> None:
    ll.evaluate(split.qrels, [ll.read_run(split.run), ll.read_run(split.parts[0])], "AP").write("saved.json")
    checks = ll.verify("saved.json").checks
    assert [check["ok"] for check in checks] == [True, True, True, None, None]
    assert not any("have changed" in check["found"] for check in checks)


def test_verify_finds_what_was_changed(split: Split, leadline: Leadline) -> None:
    leadline("evaluate", split.qrels, "bm25", "--parts", "-o", "saved.parquet")
    assert leadline("verify", "saved.parquet").status == 0
    part = Path(split.parts[0])
    before = part.read_text()
    part.write_text(before.replace(" Q0 ", " Q1 "))
    changed = leadline("verify", "saved.parquet", "-f", "json")
    assert changed.status == 1
    assert [check["name"] for check in changed.data["checks"] if check["ok"] is False] == [split.parts[0]]
    part.unlink()
    gone = leadline("verify", "saved.parquet", "-f", "json")
    assert gone.status == 0
    assert [check["ok"] for check in gone.data["checks"]][1] is None
    part.write_text(before)
    tampered(Path("saved.parquet"), 0.123)
    done = leadline("verify", "saved.parquet", "-f", "json")
    assert done.status == 1
    (wrong,) = (check for check in done.data["checks"] if check["ok"] is False)
    assert wrong["kind"] == "values"
    assert re.fullmatch(
        r"recomputed the values of [0-9]+ queries, and those of 1 differ \(\w+\)", wrong["found"]
    ), wrong


def tampered(path: Path, value: float) -> None:
    """Put a value in the place of the first that a file has, as somebody would who can compute a checksum."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(path)
    numbers = table["value"].to_pylist()
    row = next(place for place, one in enumerate(numbers) if one)
    numbers[row] = value
    place = table.column_names.index("value")
    changed = table.set_column(place, "value", pa.array(numbers, pa.float64()))
    path.write_bytes(sealed_parquet(changed))


def test_the_rest_is_saved_where_a_part_fails_and_merges_with_the_part(
    split: Split, leadline: Leadline
) -> None:
    whole = leadline("evaluate", split.qrels, split.run, "-f", "json", "-q").data
    part = Path(split.parts[1])
    text = part.read_text()
    part.write_text(text.rsplit(" ", 2)[0] + " high bm25\n")
    failed = leadline("evaluate", split.qrels, "bm25", "--parts", "-o", "rest.parquet")
    assert failed.status == 2
    assert failed.err.startswith("wrote rest.parquet\n")
    assert str(part) in failed.err
    assert ". The values that could be computed are in rest.parquet.\n" in failed.err
    part.write_text(text)
    one = ("evaluate", split.qrels, part, "--parts", "-o", "part.parquet")
    assert leadline(*one).status == 0
    assert "`leadline merge --name NAME`" in leadline("merge", "rest.parquet", "part.parquet").err
    merged = leadline("merge", "rest.parquet", "part.parquet", "--name", "bm25", "-f", "json", "-q")
    assert merged.status == 0, merged.err
    assert values(merged.data) == values(whole)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "qrels.txt", "bm25", "--group-parts"), "--group-parts needs --parts"),
        (
            ("evaluate", "qrels.txt", "bm25", "--parts", "--config", "read.name_by=tag"),
            "cannot be named after its tag",
        ),
        (("evaluate", "qrels.txt", "bm25", "--parts", "--engine", "ray"), "Use local, processes"),
        (("merge", "qrels.txt"), "is neither valid JSON nor Parquet"),
        (("merge", "absent.parquet"), "absent.parquet: no such file\n"),
        (("merge", "absent.json", "absent.parquet"), "absent.json: no such file\n"),
        (("merge", "bm25"), "bm25: is a folder, not a file\n"),
        (("verify", "absent.json"), "absent.json: no such file\n"),
        (("verify", "qrels.txt"), "is neither valid JSON nor Parquet"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    words: tuple[str, ...], message: str, split: Split, leadline: Leadline
) -> None:
    del split
    assert message in leadline(*words).refusal


def test_a_result_that_was_only_printed_cannot_be_merged(split: Split, leadline: Leadline) -> None:
    Path("printed.json").write_text(leadline("evaluate", split.qrels, split.run, "-f", "json").out)
    assert leadline("merge", "printed.json").refusal.endswith(
        "lacks the data needed to restore the result. Save the result with -o FILE.json or -o FILE.parquet "
        "(in Python, with write(path)).\n"
    )
