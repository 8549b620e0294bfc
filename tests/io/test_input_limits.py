"""A line has a limit, so that no file takes memory without end; both forms of reading keep it."""

from __future__ import annotations

import contextlib
import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from conftest import Leadline
from leadline.errors import InputError
from leadline.io.objects import read_qrels, read_run
from leadline.io.opening import BLOCK, LONGEST_LINE, LONGEST_TEXT
from leadline.io.texts import read_documents
from strategies import judged_by

HEADS = {
    "sys.run": b"q1 Q0 d1 1 2 t\nq2 Q0 ",
    "sys.jsonl": b'{"query_id": "',
    "sys.csv": b"query_id,doc_id,score\nq1,",
    "sys.json": b'{"q1": {"',
}
# A megabyte of one letter is a kilobyte of archive: the way by which a small file takes all memory.
MEGABYTE = b"a" * (1 << 20)
PIECE = gzip.compress(8 * MEGABYTE)  # an archive may have many streams
MEASURED = """
import re, sys
from leadline.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print(end.code, re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def measured(*arguments: object) -> tuple[int, int]:
    """Run a command in a process of its own; return its status and its largest size in kilobytes."""
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory a process took")
    found = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert len(found.stderr.splitlines()) == 1, found.stderr
    status, size = found.stdout.split()[-2:]
    return int(status), int(size)


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 d1 1\n")
    return path


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("place", "window"),
    [
        *((place, 1 << 22) for place in (0, 1, 15, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK - 3)),
        (15, 16),
        (BLOCK, 16),
    ],
)
def test_a_line_up_to_the_limit_is_read_and_a_longer_one_refused(
    place: int, window: int, tmp_path: Path
) -> None:
    table = read_qrels({"q1": {"d1": 1}, "q2": {"d2": 1}})
    path = tmp_path / "sys.run"
    before = (b"# " + b"#" * place)[: max(place - 1, 0)] + b"\n" * (place > 0)
    before = before if place < LONGEST_LINE else b"#\n" * (place // 2) + b"\n" * (place % 2)
    for over in (0, 1):
        line = b"q1 Q0 " + b"d" * (LONGEST_LINE + over - 12) + b" 1 1 t"
        assert len(line) == LONGEST_LINE + over
        path.write_bytes(before + line + b"\nq2 Q0 d2 1 1 t\n")
        if over:
            with pytest.raises(InputError, match=f"line longer than 1 MiB, starting at byte {place:,}"):
                judged_by(path, table, window=window)
            with pytest.raises(
                InputError, match=f"contains a line longer than 1 MiB, starting at byte {place:,}"
            ):
                read_run(path)
        else:
            assert judged_by(path, table, window=window)[0].present.tolist() == [True, True]
            assert len(read_run(path).scores) == 2


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("name", HEADS)
def test_a_file_of_one_line_is_refused(name: str, qrels: Path, tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / name
    path.write_bytes(HEADS[name] + 3 * MEGABYTE)
    for asked in ([qrels, path], [path, qrels]):
        assert "MiB" in leadline("evaluate", *asked).refusal


@pytest.mark.parametrize("name", HEADS)
def test_a_small_archive_of_a_huge_line_takes_little_memory(name: str, qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(HEADS[name]) + 40 * PIECE)
    status, size = measured("evaluate", qrels, path)
    assert status == 2
    assert size < 150_000


def test_a_zstandard_archive_is_decompressed_in_small_pieces(qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / "sys.run.zst"
    compressor = zstandard.ZstdCompressor().compressobj()
    content = b"".join(compressor.compress(MEGABYTE) for _ in range(1000))
    path.write_bytes(content + compressor.flush())
    status, size = measured("evaluate", qrels, path)
    assert status == 2
    assert size < 400_000


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize(
    "asked",
    [
        ["evaluate", "{qrels}", "{device}"],
        ["evaluate", "{device}", "{qrels}"],
        ["check", "{device}"],
        ["index", "{device}", "-o", "{folder}/ix"],
        ["agreement", "{device}", "{qrels}"],
        ["suite", "{device}"],
        ["compare", "{qrels}", "{qrels}", "--baseline-file", "{device}"],
    ],
)
def test_a_file_without_end_is_refused_at_once(
    device: str, asked: list[str], qrels: Path, tmp_path: Path, leadline: Leadline
) -> None:
    if not Path(device).exists():
        pytest.skip(f"this system has no {device}")
    given = [part.format(qrels=qrels, device=device, folder=tmp_path) for part in asked]
    found = leadline(*given)
    assert found.status == 2
    assert len(found.err.splitlines()) == 1
    assert not (tmp_path / "ix").exists()


# First bytes that a format accepts, so that only what follows can be refused; random bytes may begin so.
PLAUSIBLE = {
    "comment": b"#\n",
    "comments": b"# a\n" * 2000,
    "JSON": b'{"a": {\n',
    "list": b'[["a",\n',
    "CSV": b"query_id,doc_id,score\nq1,d1,1\n",
    "run": b"q1 Q0 d1 1 2 t\n" * 400,
    "text": b"a" * 5000 + b"\n",
}


@pytest.mark.parametrize("head", PLAUSIBLE)
@pytest.mark.parametrize(
    "asked", [["evaluate", "{qrels}", "-"], ["evaluate", "-", "{qrels}"], ["check", "-"]], ids=" ".join
)
def test_binary_data_without_end_are_refused_however_they_begin(
    head: str, asked: list[str], qrels: Path
) -> None:
    command = [sys.executable, "-m", "leadline", *(part.format(qrels=qrels) for part in asked)]
    noise = np.random.default_rng(3).integers(0, 256, 1 << 20, dtype=np.uint8).tobytes()
    given = 0
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            process.stdin.write(PLAUSIBLE[head])
            while given < 64:
                process.stdin.write(noise)
                given += 1
        except BrokenPipeError:
            pass
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        assert len(process.stderr.read().splitlines()) == 1
    assert process.returncode == 2
    assert given < 32


def test_the_rest_of_a_text_that_no_reader_accepts_is_not_read(qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / "sys.run.gz"
    path.write_bytes(40 * gzip.compress(b"a\n" * (1 << 22)))
    assert measured("evaluate", qrels, path)[1] < 150_000
    assert measured("evaluate", path, qrels)[1] < 150_000


@pytest.mark.parametrize(
    ("name", "head", "found"),
    [
        ("docs.jsonl", b'{"id": "d1", "text": "', ":1: the line is"),
        ("docs.csv", b"id,text\nd1,", ":2: the line is"),
        ("docs.tsv", b"id\ttext\nd1\t", ":2: the line is"),
        ("docs.json", b'[{"id": "d1", "text": "', ": contains a line or JSON string"),
        ("docs.trec", b"<DOC>\n<DOCNO>d1</DOCNO>\n", ":3: the line is"),
        ("docs.all", b".I 1\n.W\n", ":3: the line is"),
    ],
)
def test_texts_have_a_larger_limit(name: str, head: bytes, found: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(head) + ((LONGEST_TEXT >> 23) + 1) * PIECE)
    byte = ", starting at byte 23" if name == "docs.json" else ""
    with pytest.raises(InputError) as caught:
        list(read_documents(path))
    assert str(caught.value) == f"{path}{found} longer than 64 MiB{byte}"


@pytest.mark.parametrize("end", [b"a" * 4095 + b"\n", b"a " * 2048 + b"\n"])
@pytest.mark.parametrize(
    ("head", "noun"), [(b"<DOC>\n<DOCNO>d1</DOCNO>\n", "<DOC>"), (b".I 1\n.W\n", "record")]
)
def test_a_document_of_many_lines_has_the_limit_of_a_line(
    head: bytes, noun: str, end: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "docs.txt.gz"
    lines = gzip.compress(end * (1 << 11))
    path.write_bytes(gzip.compress(head) + lines * ((LONGEST_TEXT >> 23) + 1))
    with pytest.raises(InputError, match=f"contains a {noun} longer than 64 MiB, starting at line 1"):
        list(read_documents(path))


def test_one_line_of_json_may_be_long(tmp_path: Path) -> None:
    names = ", ".join(f'"d{row}": {row}.5' for row in range(200_000))
    text = f'{{"q1": {{{names}}}}}'.encode()
    assert len(text) > 2 * LONGEST_LINE
    path = tmp_path / "sys.json"
    path.write_bytes(text)
    assert len(read_run(path).scores) == 200_000
    documents = tmp_path / "docs.json"
    documents.write_bytes(b'[{"id": "d1", "text": "' + 3 * MEGABYTE + b'"}]')
    assert len(next(iter(read_documents(documents))).text) == 3 << 20


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "shape", [lambda text: text, lambda text: b"# made by hand\n" + text], ids=["bare", "commented"]
)
def test_a_nul_byte_is_found_early_where_it_cannot_be_right(
    shape: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "sys.run"
    path.write_bytes(shape(b"q1 Q0 d1 1 1 t\0\n"))
    with pytest.raises(InputError, match="a NUL byte"):
        read_run(path)
