"""Open any input as plain bytes: files, compressed files, standard input; and read it in windows."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from os.path import isfile
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import numpy as np

from leadline.arrays import Bytes, Integers, bytes_of
from leadline.errors import InputError
from leadline.formats.read_paths import record_input

COMPRESSIONS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
RUN_SUFFIXES = (
    ".run", ".txt", ".trec", ".res", ".out", ".json", ".jsonl", ".csv", ".tsv", ".parquet",
)  # fmt: skip
BOM = b"\xef\xbb\xbf"
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
STANDARD_INPUT = "-"
HEAD = 8  # bytes tell every compression


def run_name(path: str) -> str:
    """Give the name of a run: its file name less one compression suffix and one run suffix.

    >>> run_name("runs/cord19.vespa.ai-bm25.xz"), run_name("bm25.run.gz"), run_name("-")
    ('cord19.vespa.ai-bm25', 'bm25', 'stdin')
    """
    if path == STANDARD_INPUT:
        return "stdin"
    name = Path(path).name
    for suffixes in (tuple(COMPRESSIONS.values()), RUN_SUFFIXES):
        for suffix in suffixes:
            if name.endswith(suffix) and name != suffix:
                name = name[: -len(suffix)]
                break
    return name


def open_bytes(path: str) -> tuple[BinaryIO, BinaryIO]:
    """Open a path (or `-` for standard input) and undo its compression, told by content.

    Gives the plain bytes and the file below them; whoever reads closes both.
    """
    record_input(path)
    raw: io.BufferedReader
    try:
        if path == STANDARD_INPUT:
            piped = cast(io.BufferedReader, sys.stdin.buffer)
            head = _head(piped)
            raw = io.BufferedReader(_Rejoined(head, piped))
        else:
            unbuffered = open(path, "rb", buffering=0)  # noqa: SIM115  # the caller closes it
            head = _head(unbuffered)
            if unbuffered.seekable():
                unbuffered.seek(0)
                raw = cast(io.BufferedReader, unbuffered)
            else:
                raw = io.BufferedReader(_Rejoined(head, unbuffered))
    except IsADirectoryError:
        raise InputError("is a folder", expected="a file", path=path) from None
    except OSError as error:
        raise InputError(
            error.strerror or str(error), expected="a readable file", path=path
        ) from None
    kind = next((kind for magic, kind in COMPRESSIONS.items() if head.startswith(magic)), "")
    return _decompressed(raw, kind), raw


def _head(stream: io.RawIOBase | io.BufferedReader) -> bytes:
    """Read the bytes that tell a compression; a pipe may give fewer at a time."""
    head = b""
    while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
        head += more
    return head


def first_bytes(path: str, size: int = 1 << 12) -> bytes | None:
    """Give the first plain bytes of a file; None for what can be read only once, as pipes can."""
    if path == STANDARD_INPUT or not isfile(path):
        return None
    stream, file = open_bytes(path)
    with file, stream:
        try:
            return stream.read(size)
        except Exception as error:
            if not isinstance(error, (EOFError, OSError, *broken_archives())):
                raise
            return b""  # whoever reads it says what is broken


class _Rejoined(io.RawIOBase):
    """A stream that cannot go back, with its first bytes put in front again."""

    def __init__(self, head: bytes, rest: io.RawIOBase | io.BufferedReader) -> None:
        self.head = head
        self.rest = rest

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, target: memoryview) -> int | None:  # type: ignore[override]  # narrower than Buffer
        """Read into a buffer."""
        if self.head:
            size = min(len(target), len(self.head))
            target[:size] = self.head[:size]
            self.head = self.head[size:]
            return size
        return self.rest.readinto(target)

    def close(self) -> None:
        """Close the stream below too."""
        self.rest.close()
        super().close()


class _Zstandard(io.RawIOBase):
    """A Zstandard archive that says when it ends too early; the library's own reader does not."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.file = file
        self.frame: Any = None
        self.ready = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]  # narrower than Buffer
        """Read into a buffer."""
        import zstandard

        while not self.ready:
            packed = (self.frame.unused_data if self.frame and self.frame.eof else b"") or (
                self.file.read(1 << 17)
            )
            if not packed:
                if self.frame and not self.frame.eof:
                    raise EOFError("it ends before the end-of-frame marker")
                return 0
            if self.frame is None or self.frame.eof:
                self.frame = zstandard.ZstdDecompressor().decompressobj()
            self.ready = self.frame.decompress(packed)
        size = min(len(target), len(self.ready))
        target[:size] = self.ready[:size]
        self.ready = self.ready[size:]
        return size


def _decompressed(raw: io.BufferedReader, kind: str) -> BinaryIO:
    if kind == ".gz":
        import gzip

        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if kind == ".bz2":
        import bz2

        return cast(BinaryIO, bz2.BZ2File(raw))
    if kind == ".xz":
        import lzma

        return cast(BinaryIO, lzma.LZMAFile(raw))
    if kind == ".zst":
        return cast(BinaryIO, io.BufferedReader(_Zstandard(raw)))
    return raw


class Workspace:
    """Memory that is used again and again while texts are read: fresh memory costs more than reading."""

    def __init__(self, size: int = 1 << 22) -> None:
        self.text: Bytes = np.empty(size, dtype=np.uint8)
        self._columns: dict[str, Integers] = {}

    def columns(self, names: Sequence[str], size: int) -> dict[str, Integers]:
        """Give columns of at least a size to write to."""
        if not self._columns or len(self._columns[names[0]]) < size:
            self._columns = {name: np.empty(size, dtype=np.int64) for name in names}
        return self._columns


class Window:
    """A stretch of a text in a reused buffer: `text[:end]` holds whole lines.

    `last` says whether the text ends here. The buffer grows when not even one list fits. With two
    workspaces they take turns, so that one stretch can be used while the next is read.
    """

    def __init__(self, path: str, *workspaces: Workspace) -> None:
        self.path = path
        self.stream, self.file = open_bytes(path)
        self.workspaces = list(workspaces)
        self.filled = 0
        self.end = 0
        self.last = False
        self.read = 0

    @property
    def workspace(self) -> Workspace:
        """Give the workspace of this stretch."""
        return self.workspaces[0]

    @property
    def text(self) -> Bytes:
        """Give the buffer of this stretch."""
        return self.workspaces[0].text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.path != STANDARD_INPUT:
            self.stream.close()
            self.file.close()

    def advance(self, begin: int) -> None:
        """Forget the text before `begin`, keep the rest and read on."""
        rest = self.text[begin : self.filled]
        self.workspaces.append(self.workspaces.pop(0))
        if len(rest) > len(self.text) // 2:
            self.workspace.text = np.empty(2 * max(len(rest), len(self.text)), dtype=np.uint8)
        self.text[: len(rest)] = rest.copy() if len(self.workspaces) == 1 else rest
        self.filled = len(rest)
        first = self.read == 0
        self._fill()
        if first:
            self._check_start()
        if self.last and self.filled and self.text[self.filled - 1] != ord("\n"):
            self.text[self.filled] = ord("\n")
            self.filled += 1
        self.end = self._whole_lines()

    def _fill(self) -> None:
        target = bytes_of(self.text)[:-1]  # one byte is left for a missing final newline
        while self.filled < len(target):
            try:
                size = self.stream.readinto(target[self.filled :])  # type: ignore[attr-defined]  # typeshed
            except Exception as error:
                if not isinstance(error, (EOFError, OSError, *broken_archives())):
                    raise
                raise InputError(
                    f"cannot be read to its end ({error})", expected="a whole file", path=self.path
                ) from None
            if not size:
                self.last = True
                return
            self.filled += size
            self.read += size

    def _check_start(self) -> None:
        head = self.text[: min(self.filled, 3)].tobytes()
        if head.startswith(WIDE_BOMS):
            raise InputError(
                "a UTF-16 byte order mark", expected="a text file in UTF-8", path=self.path, line=1
            )
        if head == BOM:
            self.filled -= 3
            self.text[: self.filled] = self.text[3 : self.filled + 3].copy()

    def _whole_lines(self) -> int:
        if self.last:
            return self.filled
        step = 1 << 14
        for stop in range(self.filled, 0, -step):
            start = max(0, stop - step)
            ends = np.flatnonzero(self.text[start:stop] == ord("\n"))
            if len(ends):
                return start + int(ends[-1]) + 1
        return 0


def broken_archives() -> tuple[type[Exception], ...]:
    """Give the errors that a broken archive raises and that are no OSError."""
    found: list[type[Exception]] = []
    if "lzma" in sys.modules:
        found.append(sys.modules["lzma"].LZMAError)
    if "zlib" in sys.modules:
        found.append(sys.modules["zlib"].error)
    if "zstandard" in sys.modules:
        found.append(sys.modules["zstandard"].ZstdError)
    return tuple(found)


def read_whole(path: str) -> Window:
    """Read a whole text into one window."""
    size = 1 << 16
    if path != STANDARD_INPUT and Path(path).is_file():
        size = max(size, Path(path).stat().st_size + 2)
    with Window(path, Workspace(size)) as window:
        window.advance(0)
        while not window.last:
            window.advance(0)
    return window


def text_of(window: Window) -> str:
    """Decode what a window holds; bytes that are not UTF-8 are kept as surrogates."""
    return window.text[: window.end].tobytes().decode("utf-8", "surrogateescape")
