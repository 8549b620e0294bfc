"""Write runs and qrels atomically; the suffixes of a path determine format and compression."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

from leadline.data.validation import refusal
from leadline.data.wording import queries
from leadline.errors import InputError, UsageError
from leadline.io import tables
from leadline.io.archives import zstandard_module
from leadline.io.formats import BY_SUFFIX, TREC, Format, suffix_of
from leadline.io.read_paths import check_outputs, refuse_sources
from leadline.io.run_names import STANDARD_INPUT


def write_lists(
    table: tables.OutputTable,
    path: str | os.PathLike[str],
    *,
    suffix: str | None = None,
    sources: tuple[str, ...] = (),
) -> list[str]:
    """Write the rows of a run; return what the format cannot hold, as text."""
    form = write_table(table, path, suffix=suffix, sources=sources)
    if not table.empty or form.name in {"json", "jsonl"}:
        return []
    return [f"{queries(len(table.empty))} without documents, which JSON can hold"]


def write_table(
    found: tables.OutputTable,
    target: str | os.PathLike[str],
    *,
    suffix: str | None = None,
    sources: tuple[str, ...] = (),
) -> Format:
    """Write a table; return its format."""
    path = checked_path(target)
    refuse_sources(path, sources)
    found = found._replace(suffix=suffix_of(path) if suffix is None else suffix)
    form = BY_SUFFIX.get(found.suffix, TREC)
    assert form.write is not None
    try:
        write_bytes(path, form.write(found))
    except InputError as error:
        raise error.at(path) from None
    return form


def checked_path(path: object) -> str:
    """Return a path as text; raise UsageError for anything else."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise refusal("path", path, "a path, or '-' for standard output")
    return text


def write_bytes(path: str, content: bytes | Iterator[bytes]) -> None:
    """Write to a file atomically, compressed according to its suffix, or to standard output."""
    pieces = iter([content]) if isinstance(content, bytes) else content
    if path != STANDARD_INPUT:
        write_whole(path, pieces, compressed=True)
        return
    sys.stdout.flush()  # the same sign means standard output here
    for piece in pieces:
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(piece)
        else:  # a notebook accepts only text
            sys.stdout.write(piece.decode("utf-8", "surrogateescape"))
    sys.stdout.flush()


def _compressing(path: str, file: BinaryIO) -> AbstractContextManager[Any]:
    """Return a file that compresses according to the suffix of a path, reproducibly."""
    if path.endswith(".gz"):
        import gzip

        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    if path.endswith(".bz2"):
        import bz2

        return bz2.BZ2File(file, "wb")
    if path.endswith(".xz"):
        import lzma

        return lzma.LZMAFile(file, "wb")
    if path.endswith(".zst"):
        packed: AbstractContextManager[Any] = zstandard_module().open(file, "wb")
        return packed
    return nullcontext(file)


def write_whole(path: str, content: bytes | Iterator[bytes], *, compressed: bool = False) -> None:
    """Write a file atomically; links are followed, devices and pipes are written directly."""
    import stat
    import tempfile

    check_outputs(path)
    target = os.path.realpath(path)
    temporary = ""
    try:
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        special = mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
        handle: str | int = target
        if not special:
            handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".leadline-")
        with open(handle, "wb") as file, _compressing(path if compressed else "", file) as packed:
            for piece in [content] if isinstance(content, bytes) else content:
                packed.write(piece)
        if not special:
            os.chmod(temporary, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
            os.replace(temporary, target)
            temporary = ""
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
