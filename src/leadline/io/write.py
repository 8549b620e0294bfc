"""Write runs and qrels atomically; the suffixes of a path determine format and compression."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

from leadline.data.records import MACHINE_LABELS
from leadline.data.validation import refusal
from leadline.data.wording import queries
from leadline.errors import InputError, UsageError
from leadline.io import tables
from leadline.io.archives import zstandard_module
from leadline.io.formats import BY_SUFFIX, TREC, Format, suffix_of
from leadline.io.read import QrelsLike, RunLike, read_qrels, read_run
from leadline.io.read_paths import check_outputs, public, refuse_sources
from leadline.io.row_columns import MACHINE_LINE
from leadline.io.run_names import STANDARD_INPUT


@public
def write_run(run: RunLike, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
    """Write a run given in any form that `read_run` accepts, with scores to full precision.

    `suffix` determines the format in place of the suffix of the path. Only JSON and JSON Lines can hold
    queries for which nothing was found; other formats lack them.

    >>> write_run(read_run({"q1": {"d1": 0.5}}, name="mine"), "-")
    q1 Q0 d1 1 0.5 mine
    """
    found = read_run(run)
    if not len(found.scores):
        raise InputError("contains no documents", expected="a run", path=found.name)
    write_lists(tables.table_of_run(found), path, suffix=suffix, sources=found.sources)


def write_lists(
    table: tables.OutputTable,
    path: str | os.PathLike[str],
    *,
    suffix: str | None = None,
    sources: tuple[str, ...] = (),
) -> list[str]:
    """Write the rows of a run; return what the format cannot hold, as text."""
    form = _write(table, path, suffix, sources)
    if not table.empty or form.name in {"json", "jsonl"}:
        return []
    return [f"{queries(len(table.empty))} without documents, which JSON can hold"]


@public
def write_qrels(qrels: QrelsLike, path: str | os.PathLike[str], *, suffix: str | None = None) -> None:
    """Write judgments given in any form that `read_qrels` accepts, with subtopics if read with them.

    >>> write_qrels({"q1": {"d1": 1}}, "-", suffix=".csv")
    query_id,doc_id,relevance
    q1,d1,1
    """
    qrels = read_qrels(qrels)
    found = tables.table_of_qrels(qrels)
    for code, words, _ in qrels.remarks:
        if code == MACHINE_LABELS:
            name = words.partition("(")[2].partition(")")[0].removeprefix("machine: ") or "unknown"
            found = found._replace(header=f"{MACHINE_LINE} {name}\n".encode())
    _write(found, path, suffix, qrels.sources)


def write_judgments(
    judgments: tables.OutputTable, path: str | os.PathLike[str], *, suffix: str | None = None
) -> None:
    """Write a table of judgments."""
    _write(judgments, path, suffix)


def _write(
    found: tables.OutputTable,
    target: str | os.PathLike[str],
    suffix: str | None,
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
