"""Lines that are not grouped by query: merged in memory, or in a temporary file where the text is large."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Leadline
from leadline.data.reading import Reading
from leadline.errors import InputError, UsageError
from leadline.io import lines_by_query, opening, trec_qrels, trec_runs
from leadline.io.objects import read_qrels, read_run
from leadline.io.read import counted_run
from strategies import FORMS, ORIGINAL, columns_of, in_form, judged_by

compiled_only = pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Group every text on disk, in parts of 200 bytes; gives the inputs that were grouped."""
    made: list[str] = []

    class Parts(lines_by_query.Parts):
        def __init__(self, path: str, size: int) -> None:
            super().__init__(path, size)
            made.append(path)

    monkeypatch.setattr(lines_by_query, "PART", 200)
    for module in (trec_qrels, trec_runs):
        monkeypatch.setattr(module, "LARGE", -1)
        monkeypatch.setattr(module, "Parts", Parts)
    return made


def shuffled_run(seed: int, *, queries: int = 40, documents: int = 12) -> list[str]:
    rng = random.Random(seed)
    lines = [
        f"q{query} Q0 d{place} {place} {rng.randint(0, 9)} tag{' more' * (place % 3 == 0)}\n"
        for query in range(queries)
        for place in range(documents)
    ]
    rng.shuffle(lines)
    return ["# a remark\n", *lines[:50], "\n", "#\tQ0 d1 1 2 tag\n", *lines[50:]]


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines))
    return path


QRELS = {f"q{query}": {f"d{place}": place % 3 for place in range(0, 12, 2)} for query in range(0, 40, 3)}


@compiled_only
@pytest.mark.parametrize("window", [64, 500, 1 << 16])
@pytest.mark.parametrize("seed", range(3))
def test_a_run_grouped_on_disk_is_the_one_grouped_in_memory(
    seed: int, window: int, tmp_path: Path, on_disk: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.run", shuffled_run(seed))
    qrels = read_qrels(QRELS)
    judged, counts = judged_by(path, qrels, window=window)
    whole = read_run(path)
    assert on_disk == [str(path)] * 2
    monkeypatch.setattr(trec_runs, "LARGE", 1 << 30)
    in_memory, expected = judged_by(path, qrels, window=window)
    assert columns_of(judged) == columns_of(in_memory)
    assert counts == expected
    assert whole == read_run(path)


@pytest.mark.parametrize("order", ["by document", "shuffled"])
def test_judgments_grouped_on_disk_are_those_grouped_in_memory(
    order: str, tmp_path: Path, on_disk: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(4)
    lines = [f"q{query} 0 doc{place} {(query + place) % 4}\n" for place in range(30) for query in range(20)]
    if order == "shuffled":
        rng.shuffle(lines)
    path = written(tmp_path / "qrels.txt", lines)
    found = read_qrels(path)
    assert on_disk == ([] if ORIGINAL is None else [str(path)])
    monkeypatch.setattr(trec_qrels, "LARGE", 1 << 30)
    with in_form(None):
        expected = read_qrels(path)
    assert found == expected
    assert found.ideal.gain.tolist() == expected.ideal.gain.tolist()
    run = written(tmp_path / "a.run", [f"q3 Q0 doc{place} 1 {place} t\n" for place in range(40)])
    assert judged_by(run, found)[0].grade.tolist() == judged_by(run, expected)[0].grade.tolist()


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ("q1 Q0 d0 1 x t\n", {}),
        ("q1 Q0 d0 1 nan t\n", {}),
        ("q1 Q0 d0 1 nan t\n", {"on_nan": "drop"}),
        ("q1 Q0 d0 1 5 t\n", {}),
        ("q1 Q0 d0 1 5 t\n", {"on_duplicate": "last"}),
        ("q1 Q0 d0 1 5 t\n", {"on_duplicate": "max"}),
        ("q1 Q0 d0 1 5 t\n", {"on_duplicate": "hold"}),
        ("q1 Q0 dx 12 5 t\n", {"order": "rank"}),
    ],
)
def test_faults_are_told_and_repaired_as_in_memory(
    change: str, options: dict[str, Any], tmp_path: Path, on_disk: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.run", [*shuffled_run(1), change])

    def outcome() -> object:
        try:
            judged, counts = judged_by(path, read_qrels(QRELS), reading=Reading(**options))
            run, _ = counted_run(path, reading=Reading(**options))
        except InputError as error:
            return str(error)
        return columns_of(judged), counts.repeated + counts.held, counts.dropped, run.to_dict()

    found = outcome()
    assert on_disk or ORIGINAL is None or " x " in change or " nan " in change or "order" in options
    monkeypatch.setattr(trec_runs, "LARGE", 1 << 30)
    assert found == outcome()


@compiled_only
@pytest.mark.usefixtures("on_disk")
def test_no_temporary_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    path = written(tmp_path / "a.run", shuffled_run(2))
    seen: list[list[str]] = []
    deliver = trec_runs._deliver

    def stopped(*given: Any) -> Any:
        seen.append(os.listdir(folder))
        if len(seen) == 2:
            raise KeyboardInterrupt
        return deliver(*given)

    monkeypatch.setattr(trec_runs, "_deliver", stopped)
    with pytest.raises(KeyboardInterrupt):
        read_run(path)
    assert len(seen) == 2
    assert os.listdir(folder) == []


@compiled_only
def test_a_full_disk_is_one_line(
    tmp_path: Path, on_disk: list[str], monkeypatch: pytest.MonkeyPatch, leadline: Leadline
) -> None:
    path = written(tmp_path / "a.run", shuffled_run(2))
    qrels = written(tmp_path / "qrels.txt", ["q1 0 d1 1\n"])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lines_by_query, "bytes_of", full)
    found = leadline("evaluate", qrels, path).refusal
    assert "No space left on device" in found
    assert "TMPDIR" in found
    assert on_disk
    with pytest.raises(UsageError, match="by query"):
        read_run(path)
    monkeypatch.setattr(pickle, "dump", full)
    short = written(tmp_path / "b.run", ["q1 Q0 d1 1 3 x\n"])
    assert "TMPDIR" in leadline("convert", short, tmp_path / "b.json").refusal


# A pipe: read once, chunk by chunk, and a second time only from what was kept of it.

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress}


def piped(path: Path, text: bytes) -> Path:
    """Return a FIFO into which another thread writes a text."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)

    def write() -> None:
        with open(path, "wb") as pipe:
            pipe.write(text)

    threading.Thread(target=write, daemon=True).start()
    return path


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(opening.Buffers):
        def __init__(self, size: int = 300) -> None:
            super().__init__(min(size, 300))

    monkeypatch.setattr(opening, "Buffers", Small)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("order", ["grouped", "shuffled", "shuffled, on disk", "csv"])
def test_a_pipe_is_read_like_a_file(
    order: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    lines = shuffled_run(7)
    if order == "grouped":
        lines.sort()
    if order == "shuffled, on disk":
        request.getfixturevalue("on_disk")
    if order == "csv":
        lines = ["query_id,doc_id,score\n", *(f"q{row // 9},d{row},{row}\n" for row in range(300))]
    path = written(tmp_path / "a.run", lines)
    text = COMPRESS[kind](path.read_bytes())
    qrels = read_qrels(QRELS)
    for form in FORMS:
        with in_form(form):
            expected, counts = judged_by(path, qrels)
            found, piped_counts = judged_by(piped(tmp_path / "pipe", text), qrels)
            assert columns_of(found) == columns_of(expected)
            assert piped_counts == counts
            for policy in ("refuse", "hold"):
                again = read_run(piped(tmp_path / "pipe", text), on_duplicate=policy)
                assert again == read_run(path, on_duplicate=policy)


@pytest.mark.usefixtures("small_chunks")
def test_the_first_list_of_a_pipe_may_be_larger_than_a_chunk(tmp_path: Path) -> None:
    text = b"".join(b"q1 Q0 d%d 1 %d t\n" % (place, -place) for place in range(100))
    for form in FORMS:
        with in_form(form):
            judged, counts = judged_by(piped(tmp_path / "pipe", text), read_qrels({"q1": {"d50": 1}}))
            assert (judged.rank.tolist(), counts.rows) == ([51], 100)


@pytest.mark.usefixtures("small_chunks")
def test_qrels_come_through_a_pipe(tmp_path: Path) -> None:
    lines = [f"q{query} 0 d{place} 1\n" for query in range(20) for place in range(20)]
    path = written(tmp_path / "qrels.txt", lines)
    for form in FORMS:
        with in_form(form):
            assert read_qrels(piped(tmp_path / "pipe", path.read_bytes())) == read_qrels(path)


def test_a_pipe_that_cannot_be_kept_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(UsageError, match=r"\(No space left on device\)"):
        read_run(piped(tmp_path / "pipe", b"q1 Q0 d1 1 1 t\n"))


def test_a_pipe_without_any_folder_to_keep_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "TemporaryFile", none)
    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(UsageError, match=r"\(No usable temporary directory found\)"):
        read_run(piped(tmp_path / "pipe", b"q1 Q0 d1 1 1 t\n"))
