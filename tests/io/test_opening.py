"""Any file that can be read is read alike; what cannot be read is one line."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import leadline as ll
from conftest import Leadline
from leadline.comparison.baselines import read_baseline
from leadline.comparison.suite_evaluation import read_suite
from leadline.data.reading import Reading
from leadline.errors import InputError
from leadline.evaluation.score_results import read_scores
from leadline.io import read_paths
from leadline.io.objects import read_qrels, read_run
from leadline.io.opening import Buffers, Chunk, first_bytes, read_whole
from leadline.io.pool_files import read_pool
from leadline.io.read import counted_run
from leadline.io.run_names import run_name
from strategies import judged_by

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
TEXT = b"q1 Q0 x 1 3 t\nq1 Q0 d1 2 2 t\nq2 Q0 d2 1 1 t\n"
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda text: zstandard.ZstdCompressor().compress(text),
}
ARCHIVES = sorted(COMPRESS.keys() - {""})


def content(path: object) -> bytes:
    window = read_whole(str(path))
    return window.text[: window.end].tobytes()


def long_text(lines: int = 3000) -> bytes:
    rng = random.Random(7)
    return b"".join(b"q%03d Q0 d%d 1 %.6f t\n" % (row // 10, row, rng.random()) for row in range(lines))


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_compressed_file_reads_as_the_plain_one(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"sys.run{kind}"
    path.write_bytes(COMPRESS[kind](TEXT))
    assert content(path) == TEXT
    assert read_run(path).to_dict() == {"q1": {"x": 3, "d1": 2}, "q2": {"d2": 1}}
    assert read_run(path).name == "sys"


@pytest.mark.parametrize("kind", ARCHIVES)
def test_compression_is_told_by_content(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    path.write_bytes(COMPRESS[kind](TEXT))
    assert content(path) == TEXT


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_plain_file_with_the_suffix_of_an_archive_is_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"sys.run{kind}"
    path.write_bytes(TEXT)
    assert content(path) == TEXT


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_in_one_file_follow_each_other(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"sys.run{kind}"
    path.write_bytes(COMPRESS[kind](TEXT[:14]) + COMPRESS[kind](TEXT[14:]))
    assert content(path) == TEXT


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("lost", [1, 4, 400])
@pytest.mark.parametrize("kind", [".gz", ".bz2", ".xz", ".zst"])
def test_an_archive_that_ends_too_early_is_refused(kind: str, lost: int, tmp_path: Path) -> None:
    path = tmp_path / f"sys.run{kind}"
    path.write_bytes(COMPRESS[kind](long_text())[:-lost])
    for read in (read_run, read_qrels, lambda path: judged_by(path, read_qrels(QRELS))):
        with pytest.raises(InputError, match=r"cannot be read to the end"):
            read(path)


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_with_a_broken_middle_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"sys.run{kind}"
    whole = bytearray(COMPRESS[kind](long_text()))
    for place in range(len(whole) // 2, len(whole) // 2 + 60):
        whole[place] ^= 0x55
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"sys\.run"):
        read_run(path)


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_of_nothing_holds_no_run(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"sys.run{kind}"
    path.write_bytes(COMPRESS[kind](b""))
    with pytest.raises(InputError, match="contains no run lines"):
        read_run(path)


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x1f\x8bjunk"])
def test_a_file_that_only_begins_like_an_archive_is_refused(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    path.write_bytes(head)
    with pytest.raises(InputError, match=r"sys\.run"):
        read_run(path)


def test_no_file_is_left_open(tmp_path: Path) -> None:
    for kind, compress in COMPRESS.items():
        path = tmp_path / f"sys.run{kind}"
        path.write_bytes(compress(TEXT))
        read_run(path)
        judged_by(path, read_qrels(QRELS), window=16)
    held = [os.readlink(f"/proc/self/fd/{name}") for name in _descriptors()]
    assert not [name for name in held if str(tmp_path) in name]


def _descriptors() -> list[str]:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not list open files")
    return [name for name in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{name}")]


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("kind", COMPRESS)
def test_standard_input_is_read_and_undone_like_a_file(kind: str, tmp_path: Path, leadline: Leadline) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\n")
    asked = ("evaluate", qrels, "-", "-m", "AP", "-f", "json")
    found = leadline(*asked, stdin=COMPRESS[kind](TEXT)).data
    assert found["runs"][0]["mean"]["AP"] == 0.75
    assert found["runs"][0]["name"] == "stdin"
    assert found["inputs"][1] == {"path": "-", "run": "stdin", "sha256": None, "rows": 3}


@pytest.mark.usefixtures("form")
def test_standard_input_may_hold_the_queries_in_any_order(tmp_path: Path, leadline: Leadline) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\n")
    shuffled = b"".join(reversed(TEXT.splitlines(keepends=True)[::2])) + TEXT.splitlines()[1]
    found = leadline("evaluate", qrels, "-", "-m", "AP", "-f", "json", stdin=shuffled).data
    assert found["runs"][0]["mean"]["AP"] == 0.75


def test_qrels_come_from_standard_input_too(tmp_path: Path, leadline: Leadline) -> None:
    run = tmp_path / "sys.run"
    run.write_bytes(TEXT)
    found = leadline("evaluate", "-", run, "-m", "AP", "-f", "json", stdin=b"q1 0 d1 1\nq2 0 d2 1\n")
    assert found.data["runs"][0]["mean"]["AP"] == 0.75


def feed(path: Path, text: bytes, times: int = 1) -> threading.Thread:
    """Write into a FIFO from another thread, as `<(zcat run.gz)` does."""

    def write() -> None:
        for _ in range(times):
            with open(path, "wb", buffering=0) as pipe:
                for place in range(0, len(text), 5):
                    pipe.write(text[place : place + 5])
                    if place < 10:  # the reader gets these few bytes alone
                        time.sleep(0.02)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_fifo_is_read_like_a_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "pipe.run"
    os.mkfifo(path)
    writer = feed(path, COMPRESS[kind](TEXT))
    judged, tally = judged_by(path, read_qrels(QRELS), window=16)
    writer.join()
    assert tally.rows == 3
    assert judged.rank.tolist() == [2, 1]


@pytest.mark.usefixtures("form")
def test_a_fifo_may_hold_the_queries_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "pipe.run"
    os.mkfifo(path)
    first, second, third = TEXT.splitlines(keepends=True)
    writer = feed(path, first + third + second)
    found: list[list[int]] = []
    qrels = read_qrels(QRELS)
    reader = threading.Thread(
        target=lambda: found.append(judged_by(path, qrels, window=16)[0].rank.tolist()), daemon=True
    )
    reader.start()
    reader.join(timeout=1)
    waits = reader.is_alive()
    if waits:  # let it go
        feed(path, TEXT).join()
        reader.join()
    writer.join()
    assert not waits
    assert found == [[2, 1]]


def test_a_fifo_has_no_digest(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "pipe.run"
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\n")
    os.mkfifo(run)
    feed(run, TEXT)
    found = subprocess.run(
        [sys.executable, "-m", "leadline", "evaluate", str(qrels), str(run), "-f", "json"],
        capture_output=True,
        check=True,
        timeout=2,
    )
    assert json.loads(found.stdout)["inputs"][1] == {
        "path": str(run),
        "run": "pipe",
        "sha256": None,
        "rows": 3,
    }


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as rejected:
        read_run(tmp_path)
    assert str(rejected.value) == f"{tmp_path}: is a folder, not a file"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as rejected:
        read_run(tmp_path / "none.run")
    found = f"{tmp_path}/none.run: no such file"
    assert str(rejected.value) == found


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    path.write_bytes(TEXT)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(InputError, match="Permission denied"):
        read_run(path)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_byte_order_mark_is_skipped(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    path.write_bytes(COMPRESS[kind](b"\xef\xbb\xbf" + TEXT))
    assert list(read_run(path).queries) == ["q1", "q2"]
    judged, _ = judged_by(path, read_qrels(QRELS), window=16)
    assert judged.present.tolist() == [True, True]


@pytest.mark.usefixtures("form")
def test_a_byte_order_mark_before_a_comment_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"\xef\xbb\xbf# judged by hand\nq1 0 d1 1\n")
    assert read_qrels(path).to_dict() == {"q1": {"d1": 1}}


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_utf_16_is_refused_by_name(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path.write_bytes(mark + TEXT.decode().encode(encoding))
    with pytest.raises(InputError) as rejected:
        read_run(path)
    found = f"{path}: starts with a UTF-16 byte order mark. Convert the file to UTF-8."
    assert str(rejected.value) == found


@pytest.mark.usefixtures("form")
def test_utf_16_without_a_mark_is_refused_for_its_nul_bytes(tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    path.write_bytes(TEXT.decode().encode("utf-16-le"))
    with pytest.raises(InputError) as rejected:
        read_run(path)
    assert (
        str(rejected.value)
        == f"{path}:1: the line contains a NUL byte, so the file is binary or not in UTF-8"
    )


@pytest.mark.usefixtures("form")
def test_a_missing_final_newline_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    for size in range(14, 40):  # the file ends at, before and behind the end of a window
        path.write_bytes(TEXT[:-1])
        judged, tally = judged_by(path, read_qrels(QRELS), window=size)
        assert (tally.rows, judged.rank.tolist(), tally.tag) == (3, [2, 1], "t")


@pytest.mark.usefixtures("form")
def test_windows_of_any_size_hold_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "sys.run"
    text = long_text(200)
    path.write_bytes(text)
    for size in (8, 31, 64, 1000, len(text), len(text) + 1, len(text) + 2):
        with Chunk(str(path), Buffers(size)) as window:
            begin, parts = 0, []
            while not window.last:
                window.advance(begin)
                parts.append(window.text[: window.end].tobytes())
                begin = window.end
        assert b"".join(parts) == text
        assert all(part.endswith(b"\n") for part in parts if part)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("bm25.run", "bm25"),
        ("runs/bm25.run.gz", "bm25"),
        ("cord19.vespa.ai-bm25.xz", "cord19.vespa.ai-bm25"),
        ("input.bm25", "input.bm25"),
        ("bm25.txt.bz2", "bm25"),
        ("bm25.trec.zst", "bm25"),
        ("bm25.res", "bm25"),
        ("bm25.out", "bm25"),
        ("bm25.json", "bm25"),
        ("bm25.jsonl.gz", "bm25"),
        ("bm25.csv", "bm25"),
        ("bm25.tsv", "bm25"),
        ("bm25.parquet", "bm25"),
        ("bm25.run.txt", "bm25.run"),
        ("bm25.gz.xz", "bm25.gz"),
        ("bm25.txt.gz.run", "bm25.txt.gz"),
        ("bm25", "bm25"),
        ("a.b.c", "a.b.c"),
        (".run", ".run"),
        (".gz", ".gz"),
        (".run.gz", ".run"),
        ("runs.run/bm25", "bm25"),
        ("BM25.RUN", "BM25.RUN"),
        ("k1=1.2,b=0.75.run", "k1=1.2,b=0.75"),
        ("ü\udcff.run", "ü\udcff"),
        ("-", "stdin"),
        ("./-", "-"),
    ],
)
def test_a_runs_name_is_its_file_less_one_compression_and_one_suffix(path: str, name: str) -> None:
    assert run_name(path) == name


def test_tags_are_counted_only_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 2 old\nq1 Q0 d2 2 1 new\n")
    readings = (Reading(), Reading(name_by="tag"))
    counts = [counted_run(str(path), reading=reading)[1].other_tags for reading in readings]
    assert counts == [0, 1]


def test_a_folder_or_a_pattern_is_all_its_files(tmp_path: Path, leadline: Leadline) -> None:
    folder = tmp_path / "runs"
    (folder / "inner").mkdir(parents=True)
    for name in ("b.run", "a.run", "c.txt", ".hidden"):
        (folder / name).write_text("q1 Q0 d1 1 1 t\n")
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\n")
    for given, names in (
        (folder, ["a", "b", "c"]),
        (folder / "*.run", ["a", "b"]),
        (folder / "[ab].*", ["a", "b"]),
    ):
        found = leadline("evaluate", qrels, given, "-m", "RR", "-f", "json").data
        assert [run["name"] for run in found["runs"]] == names
        assert len(found["inputs"]) == 1 + len(names)
        assert ll.evaluate(qrels, given, ["RR"]).names == names
    runs: list[str | Path] = [str(folder / "a.run"), folder / "c*"]
    assert ll.evaluate(qrels, runs, ["RR"]).names == ["a", "c"]
    odd = folder / "d[1].run"
    odd.write_text("q1 Q0 d1 1 1 t\n")
    assert ll.evaluate(qrels, odd, ["RR"]).names == ["d[1]"]
    for empty in (folder / "inner", folder / "*.json"):
        assert str(empty) in leadline("evaluate", qrels, empty, "-m", "RR").refusal


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
@pytest.mark.parametrize("read", [read_run, read_qrels, read_suite, read_pool, read_baseline, read_scores])
def test_what_cannot_be_the_name_of_a_file_is_refused(read: Callable[[str], object], name: str) -> None:
    with pytest.raises(InputError):
        read(name)


CHANGES: dict[str, Callable[[Path], object]] = {
    "shorter": lambda path: os.truncate(path, 40),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"z Q0 d1 1 1 t\n"),
    "rewritten": lambda path: os.utime(path, ns=(1, 1)),
}


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["a.run", "a.run.gz", "a.csv", "a.jsonl", "qrels.txt", "a.parquet"])
def test_a_file_that_is_written_to_while_it_is_read_is_refused(
    name: str, change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    if name == "qrels.txt":
        ll.write_qrels({f"q{place}": {"d1": 1} for place in range(50)}, path)
    else:
        ll.write_run({f"q{place}": {"d1": 1.5, "d2": 0.5} for place in range(50)}, path)
    read = read_qrels if name == "qrels.txt" else read_run
    expected = read(path).to_dict()
    states: list[read_paths.State | None] = []
    whole = read_paths.state_of

    def state(target: str | int) -> read_paths.State | None:
        if len(states) == begun:
            CHANGES[change](path)
        states.append(whole(target))
        return states[-1]

    begun = -1
    monkeypatch.setattr(read_paths, "state_of", state)
    assert read(path).to_dict() == expected
    begun, states[:] = len(states) - 1, []  # before the last look, that at the end
    with pytest.raises(InputError) as refused:
        read(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_file_of_the_same_name_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = tmp_path / "a.run", tmp_path / "b.run"
    path.write_bytes(long_text(400))  # longer than what tells its format
    expected = read_run(path)
    other.write_bytes(b"q1 Q0 other 1 3 t\n")
    check = read_paths.Watch.check

    def replaced(watch: read_paths.Watch) -> None:
        if other.exists():
            os.replace(other, path)
        check(watch)

    monkeypatch.setattr(read_paths.Watch, "check", replaced)
    assert read_run(path) == expected
    assert not other.exists()


def test_a_plain_file_that_fails_after_its_start_is_reported_where_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(TEXT)
    read = read_paths.SteadyFile.readinto

    def failing(file: read_paths.SteadyFile, target: memoryview) -> int | None:
        if file.tell():
            raise OSError(5, "Input/output error")
        return read(file, target)

    monkeypatch.setattr(read_paths.SteadyFile, "readinto", failing)
    assert first_bytes(str(path)) == TEXT
