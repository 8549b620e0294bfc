"""Decompress files, by what their first bytes say."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, cast

from leadline.data.wording import counted
from leadline.errors import MissingPackageError

COMPRESSIONS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
LZ4 = b"\x04\x22\x4d\x18"
ZIP = b"PK\x03\x04"  # as of a book of Quepid
ZSTANDARD = ("compression.zstd", "backports.zstd")  # modules for .zst
PIECE = 1 << 17  # number of bytes read from a file at a time
LEAST = 1 << 12  # number of bytes asked of a decompressor, at least


class Streams(io.RawIOBase):
    """Decompress a file of one or more consecutive streams, to the last byte.

    The readers of the standard library take a damaged second stream of .bz2 and .xz for the end of the file.
    Here every byte belongs to a whole stream or, in .xz, to the padding that the format allows: NUL bytes,
    four at a time.
    """

    def __init__(self, file: io.BufferedReader, make: Callable[[], Any], *, padded: bool = False) -> None:
        self.file = file
        self.make = make
        self.padded = padded
        self.stream: Any = None
        self.packed = b""
        self.ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]  # narrower than Buffer
        """Read into a buffer."""
        while not self.ready:
            if self.stream is None:
                if not self._begins():
                    return 0
                self.stream = self.make()
            self.ready = memoryview(self._decompress(max(len(target), LEAST)))
            if self.stream.eof:
                self.packed = self.stream.unused_data + self.packed
                self.stream = None
        size = min(len(target), len(self.ready))
        target[:size] = self.ready[:size]
        self.ready = self.ready[size:]
        return size

    def _begins(self) -> bool:
        """Return whether another stream begins, after padding if the format allows it."""
        self.packed = self.packed or self.file.read(PIECE)
        padding = 0
        while self.padded and self.packed.startswith(b"\0"):
            rest = self.packed.lstrip(b"\0")
            padding += len(self.packed) - len(rest)
            self.packed = rest or self.file.read(PIECE)
        if padding % 4:
            raise EOFError(f"the padding is {counted(padding, 'byte')} long, which is not a multiple of 4")
        return bool(self.packed)

    def _decompress(self, most: int) -> bytes:
        """Decompress some more bytes."""
        packed = b""
        if self.stream.needs_input:
            packed, self.packed = self.packed or self.file.read(PIECE), b""
            if not packed:
                raise EOFError("the compressed data ends too early")
        found: bytes = self.stream.decompress(packed, most)
        return found


def decompressed(raw: io.BufferedReader, kind: str) -> io.BufferedReader:
    """Return the plain bytes of a file, of which the first bytes tell how it is compressed."""
    if kind == ".gz":
        import gzip

        return cast(io.BufferedReader, gzip.GzipFile(fileobj=raw))  # which has the same methods
    if kind == ".bz2":
        import bz2

        streams = Streams(raw, bz2.BZ2Decompressor)
    elif kind == ".xz":
        import lzma

        streams = Streams(raw, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ), padded=True)
    else:
        streams = Streams(raw, zstandard_module().ZstdDecompressor)
    return io.BufferedReader(streams, 1 << 16)


def zstandard_module() -> ModuleType:
    """Return the module for .zst, of Python 3.14 or its backport."""
    for name in ZSTANDARD:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise MissingPackageError(
        "backports.zstd, needed for .zst files, is not installed. Install it with `pip install "
        "backports.zstd`."
    )


def broken_archives() -> tuple[type[Exception], ...]:
    """Return the exceptions of damaged archives other than OSError."""
    found: list[type[Exception]] = []
    if "lzma" in sys.modules:
        found.append(sys.modules["lzma"].LZMAError)
    if "zlib" in sys.modules:
        found.append(sys.modules["zlib"].error)
    found += [sys.modules[name].ZstdError for name in ZSTANDARD if name in sys.modules]
    return tuple(found)
