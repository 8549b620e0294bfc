"""Files compressed by lz4, which pyarrow reads."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import InputError
from leadline.io.read import read_qrels, read_run
from strategies import judged_by

TEXT = b"".join(b"q%03d Q0 d%d 1 %d t\n" % (row // 10, row, -row) for row in range(3000))


def packed(text: bytes) -> bytes:
    target = pa.BufferOutputStream()
    with pa.CompressedOutputStream(target, "lz4") as stream:
        stream.write(text)
    return bytes(target.getvalue())


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("name", ["a.run.lz4", "a.run"])
@pytest.mark.parametrize("frames", [1, 3])
def test_a_file_of_frames_reads_as_the_plain_one(name: str, frames: int, tmp_path: Path) -> None:
    (tmp_path / "plain.run").write_bytes(TEXT)
    step = len(TEXT) // frames
    parts = [TEXT[place : place + step] for place in range(0, len(TEXT), step)]
    (tmp_path / name).write_bytes(b"".join(map(packed, parts)))
    assert read_run(tmp_path / name) == read_run(tmp_path / "plain.run")
    assert read_run(tmp_path / name).name == "a"
    qrels = read_qrels({"q001": {"d11": 1}})
    judged, counts = judged_by(tmp_path / name, qrels, window=300)
    assert (judged.rank.tolist(), counts.rows) == ([2], 3000)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "change", [lambda text: text[:-5], lambda text: text + b"junk", lambda text: text[:20]]
)
def test_a_file_that_ends_early_or_late_is_refused(change: object, tmp_path: Path) -> None:
    (tmp_path / "a.run.lz4").write_bytes(change(packed(TEXT)))  # type: ignore[operator]  # one of two
    with pytest.raises(InputError, match="cannot be read to its end"):
        read_run(tmp_path / "a.run.lz4")


def test_it_comes_through_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(packed(TEXT),), daemon=True).start()
    assert len(read_run(path).scores) == 3000


def test_what_is_written_is_read(tmp_path: Path) -> None:
    run = ll.Run({"q1": {"d1": 0.5}})
    run.write(tmp_path / "a.run.lz4")
    assert (tmp_path / "a.run.lz4").read_bytes()[:4] == b"\x04\x22\x4d\x18"
    assert read_run(tmp_path / "a.run.lz4") == run


def test_without_pyarrow_one_line_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline
) -> None:
    (tmp_path / "a.run").write_bytes(packed(TEXT))
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = leadline("evaluate", tmp_path / "qrels.txt", tmp_path / "a.run")
    assert found.status == 2
    assert "pyarrow" in found.err
    assert len(found.err.splitlines()) == 1
