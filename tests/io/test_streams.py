"""Archives of several streams are read to the last byte, or refused."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from conftest import Leadline
from leadline.errors import InputError, MissingPackageError
from leadline.io import archives
from leadline.io.archives import ZSTANDARD
from leadline.io.objects import read_run
from leadline.io.write import write_bytes

FIRST = b"".join(b"q1 Q0 a%d 1 %d t\n" % (row, 100 - row) for row in range(50))
SECOND = b"".join(b"q2 Q0 b%d 1 %d t\n" % (row, 100 - row) for row in range(50))
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda text: zstandard.ZstdCompressor(write_checksum=True).compress(text),
}
ARCHIVES = sorted(COMPRESS)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ARCHIVES)
def test_every_change_of_a_byte_in_the_second_stream_is_refused_or_harmless(
    kind: str, tmp_path: Path
) -> None:
    first, second = COMPRESS[kind](FIRST), COMPRESS[kind](SECOND)
    whole = read_run(written(tmp_path / f"a.run{kind}", first + second)).to_dict()
    assert list(whole) == ["q1", "q2"]
    rejected = 0
    for place in range(len(second)):
        damaged = bytearray(second)
        damaged[place] ^= 0x55
        path = written(tmp_path / f"b.run{kind}", first + bytes(damaged))
        try:
            assert read_run(path).to_dict() == whole
        except InputError:
            rejected += 1
    assert rejected > len(second) * 0.9


@pytest.mark.parametrize("kind", ARCHIVES)
def test_every_cut_inside_the_second_stream_is_refused(kind: str, tmp_path: Path) -> None:
    first, second = COMPRESS[kind](FIRST), COMPRESS[kind](SECOND)
    for size in range(1, len(second)):
        path = written(tmp_path / f"a.run{kind}", first + second[:size])
        with pytest.raises(InputError, match="cannot be read to the end"):
            read_run(path)


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize("rest", [b"junk", b"\0\0\0\1", b"BZ", b"\xfd7zXZ", b"\x1f"])
def test_what_follows_the_last_stream_is_refused(kind: str, rest: bytes, tmp_path: Path) -> None:
    path = written(tmp_path / f"a.run{kind}", COMPRESS[kind](FIRST) + rest)
    with pytest.raises(InputError, match="cannot be read to the end"):
        read_run(path)


@pytest.mark.parametrize("size", [4, 8, 512, 1 << 17, (1 << 17) + 4])
def test_padding_of_xz_is_valid_in_fours(size: int, tmp_path: Path) -> None:
    first, second = lzma.compress(FIRST), lzma.compress(SECOND)
    whole = read_run(written(tmp_path / "a.run.xz", first + second)).to_dict()
    between = written(tmp_path / "b.run.xz", first + bytes(size) + second + bytes(size))
    assert read_run(between).to_dict() == whole
    for odd in (1, 2, 3):
        path = written(tmp_path / "c.run.xz", first + second + bytes(size + odd))
        with pytest.raises(InputError, match="padding"):
            read_run(path)


def test_padding_of_gzip_is_valid(tmp_path: Path) -> None:
    path = written(tmp_path / "a.run.gz", gzip.compress(FIRST) + bytes(7) + gzip.compress(SECOND))
    assert list(read_run(path).queries) == ["q1", "q2"]


@pytest.mark.parametrize("kind", ARCHIVES)
def test_many_streams_of_any_size_are_one_text(kind: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    text = b"".join(
        b"q%04d Q0 d%d 1 %r t\n" % (row // 10, row, rng.random()) for row in range(20_000)
    ).replace(b"'", b"")
    parts, place = [], 0
    while place < len(text):
        size = rng.choice([0, 1, 50, 5_000, 300_000])
        parts.append(COMPRESS[kind](text[place : place + size]))
        place += size
    path = written(tmp_path / f"a.run{kind}", b"".join(parts))
    plain = written(tmp_path / "b.run", text)
    assert read_run(path).to_dict() == read_run(plain).to_dict()


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("kind", [".bz2", ".xz"])
def test_a_damaged_second_stream_ends_with_status_2(kind: str, tmp_path: Path, leadline: Leadline) -> None:
    second = bytearray(COMPRESS[kind](SECOND))
    second[0] ^= 0x55
    run = written(tmp_path / f"a.run{kind}", COMPRESS[kind](FIRST) + bytes(second))
    qrels = written(tmp_path / "qrels.txt", b"q1 0 a1 1\nq2 0 b1 1\n")
    assert leadline("evaluate", qrels, run).refusal


@pytest.mark.parametrize("name", ZSTANDARD)
def test_every_module_for_zst_reads_what_another_wrote(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)
    monkeypatch.setattr(archives, "ZSTANDARD", (name,))
    rows = b"".join(b"q3 Q0 d%d 1 %d t\n" % (number, number) for number in range(20_000))
    packed = b"".join(COMPRESS[".zst"](text) for text in (FIRST, SECOND, rows))
    assert read_run(written(tmp_path / "a.run.zst", packed)) == read_run(
        written(tmp_path / "a.run", FIRST + SECOND + rows)
    )
    write_bytes(str(tmp_path / "b.zst"), rows)
    made = (tmp_path / "b.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(made) == rows
    for content in (made[:-5], made[:50] + b"?" + made[51:], made + b"more"):
        with pytest.raises(InputError):
            read_run(written(tmp_path / "c.run.zst", content))


def test_no_module_for_zst_is_an_error_that_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "ZSTANDARD", ())
    with pytest.raises(MissingPackageError, match=r"pip install backports\.zstd"):
        write_bytes(str(tmp_path / "b.zst"), b"")
    assert not list(tmp_path.iterdir())
