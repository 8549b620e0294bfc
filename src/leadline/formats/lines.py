"""Read a text file line by line in bounded memory: decompressed, decoded, with the number of each line."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, cast

from leadline.errors import InputError, UsageError
from leadline.formats.opening import BOM, STANDARD_INPUT, WIDE_BOMS, broken_archives, open_bytes


def lines(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Give number and text of every line, without its end; refuses what is not in the encoding."""
    decode = _decoder(encoding)
    for number, raw in raw_lines(path):
        try:
            yield number, decode(raw.rstrip(b"\r\n"))[0]
        except UnicodeDecodeError as error:
            raise InputError(
                f"byte 0x{raw[error.start]:02x} that is not {encoding}", expected=f"text in {encoding}",
                path=path, line=number, hint="`--encoding latin-1` reads old files",
            ) from None  # fmt: skip


def raw_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Give number and bytes of every line."""
    stream, file = open_bytes(path)
    stream = _buffered(stream)
    try:
        for number, raw in enumerate(stream, start=1):
            if number == 1 and raw.startswith(WIDE_BOMS):
                raise InputError(
                    "a UTF-16 byte order mark", expected="a text file in UTF-8", path=path, line=1
                )
            yield number, raw.removeprefix(BOM) if number == 1 else raw
    except Exception as error:
        if not isinstance(error, (EOFError, OSError, *broken_archives())):
            raise
        raise InputError(
            f"cannot be read to its end ({error})", expected="a whole file", path=path
        ) from None
    finally:
        if path != STANDARD_INPUT:
            stream.close()
            file.close()


def _buffered(stream: BinaryIO) -> BinaryIO:
    if isinstance(stream, io.FileIO):
        return cast(BinaryIO, io.BufferedReader(stream, 1 << 20))
    return stream


def _decoder(encoding: str) -> codecs._Decoder:
    try:
        return codecs.lookup(encoding).decode
    except LookupError:
        raise UsageError(f"unknown encoding '{encoding}'; expected utf-8, latin-1, ...") from None
