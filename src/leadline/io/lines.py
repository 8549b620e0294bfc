"""Read a text file line by line in bounded memory: decompressed, decoded, with the number of each line."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, cast

from leadline.errors import InputError, UsageError
from leadline.io.archives import broken_archives
from leadline.io.opening import BOM, LONGEST_TEXT, PROBE, check_head, open_bytes, read_whole, too_long


def lines(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, without its end; refuses what is not in the encoding."""
    decode = _decoder(encoding)
    for number, raw in raw_lines(path):
        yield number, _decoded(raw.rstrip(b"\r\n"), decode, encoding, path, number)


def whole_text(path: str, *, encoding: str = "utf-8") -> str:
    """Return a whole text; a line of JSON may be of any length."""
    window = read_whole(path, longest=LONGEST_TEXT)
    return _decoded(window.text[: window.end].tobytes(), _decoder(encoding), encoding, path, 1)


def _decoded(raw: bytes, decode: codecs._Decoder, encoding: str, path: str, number: int) -> str:
    try:
        return decode(raw)[0]
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte 0x{raw[error.start]:02x} that is not {encoding}",
            expected=f"text in {encoding}",
            path=path,
            line=number + raw.count(b"\n", 0, error.start),
            hint="`--config read.encoding=latin-1` reads old files",
        ) from None


def raw_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of every line; a line longer than any text should be is refused."""
    stream, file = open_bytes(path)
    stream = _buffered(stream)
    try:
        check_head(stream.peek(PROBE)[:PROBE], path)
        for number, raw in enumerate(iter(partial(stream.readline, LONGEST_TEXT), b""), start=1):
            if len(raw) == LONGEST_TEXT:
                raise too_long(path, f"at line {number:,}", LONGEST_TEXT)
            yield number, raw.removeprefix(BOM) if number == 1 else raw
    except Exception as error:
        if not isinstance(error, (EOFError, OSError, *broken_archives())):
            raise
        raise InputError(f"cannot be read to its end ({error})", expected="a whole file", path=path) from None
    finally:
        stream.close()
        file.close()


def _buffered(stream: BinaryIO) -> io.BufferedReader:
    if isinstance(stream, io.FileIO):
        return io.BufferedReader(stream, 1 << 20)
    return cast(io.BufferedReader, stream)  # or a GzipFile, which has the same methods


def _decoder(encoding: str) -> codecs._Decoder:
    try:
        return codecs.lookup(encoding).decode
    except LookupError:
        raise UsageError(f"unknown encoding '{encoding}'; expected utf-8, latin-1, ...") from None
