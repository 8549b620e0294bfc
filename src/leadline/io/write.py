"""Write runs and qrels atomically; the suffixes of a path determine format and compression."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from leadline.data.qrels import QrelsColumns
from leadline.data.validation import refusal
from leadline.data.wording import queries
from leadline.errors import InputError, UsageError
from leadline.io import tables
from leadline.io.archives import zstandard_module
from leadline.io.formats import BEIR_SPLIT, BY_SUFFIX, TREC, Format, suffix_of
from leadline.io.opening import BOM, first_bytes
from leadline.io.read_paths import check_outputs, refuse_sources
from leadline.io.run_names import STANDARD_INPUT

if TYPE_CHECKING:
    from leadline.io.texts import Document


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
    return [f"{queries(len(table.empty))} without documents (only JSON can store an empty ranking)"]


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
    found = found._replace(suffix=suffix_of(path) if suffix is None else f".{suffix.removeprefix('.')}")
    form = BY_SUFFIX.get(found.suffix, TREC)
    if form.write is None:
        raise UsageError(f"leadline reads {form.name}, but does not write it. Choose another suffix.")
    try:
        write_bytes(path, form.write(found.marked(form.name)))
    except InputError as error:
        raise error.at(path) from None
    return form


def checked_path(path: object, *, expected: str = "a file path, or '-' for standard output") -> str:
    """Return a path as text; raise UsageError for anything else."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise refusal("path", path, expected)
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
    if path.endswith(("/", os.sep)):  # which realpath would leave out
        raise UsageError(f"cannot write {path}, because a name that ends in '{path[-1]}' is a folder name")
    target = os.path.realpath(path)
    temporary = ""
    try:
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        special = mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
        handle: str | int = target
        if mode is not None and not os.access(target, os.W_OK):  # replacing the file would not need it
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if not special:
            handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".leadline-")
        with open(handle, "wb") as file, _compressing(path if compressed else "", file) as packed:
            for piece in [content] if isinstance(content, bytes) else content:
                packed.write(piece)
        if not special:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask if mode is None else stat.S_IMODE(mode))
            os.replace(temporary, target)
            temporary = ""
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror})") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


BEIR_COLUMNS = ("query-id", "corpus-id", "score")


def write_beir(
    qrels: QrelsColumns,
    folder: str | os.PathLike[str],
    *,
    queries: Iterable[Document] | None = None,
    documents: Iterable[Document] | None = None,
) -> list[str]:
    """Write a data set in the layout of BEIR and return the paths of its files.

    `qrels/test.tsv` has the columns query-id, corpus-id and score; `queries.jsonl` and `corpus.jsonl` are
    written if there are queries and documents.
    """
    root = checked_path(folder, expected="a folder path")
    rows = _whole_rows(qrels, "BEIR")
    table = tables.OutputTable(BEIR_COLUMNS, rows, suffix=".tsv")
    target = os.path.join(root, "qrels", f"{BEIR_SPLIT}.tsv")
    texts = {"queries.jsonl": queries, "corpus.jsonl": documents}
    written = [target, *(os.path.join(root, name) for name, found in texts.items() if found is not None)]
    for path in written:
        refuse_sources(path, qrels.sources)
        if os.path.exists(path):
            raise UsageError(f"{path} already exists. Choose a new folder.")
    try:
        os.makedirs(os.path.join(root, "qrels"), exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {root} ({error.strerror})") from None
    write_bytes(target, tables.write_csv(table))
    for name, found in texts.items():
        if found is not None:
            lines = (_text_line(document, titled=name == "corpus.jsonl") for document in found)
            packed = (line.encode("utf-8", "surrogateescape") for line in lines)
            write_bytes(os.path.join(root, name), packed)
    return written


def _text_line(document: Document, *, titled: bool) -> str:
    r"""Return a document, or a query without a title, as a line of JSON.

    >>> from leadline.io.texts import Document
    >>> _text_line(Document("d1", "Wings", "They lift."), titled=True)
    '{"_id": "d1", "title": "Wings", "text": "They lift."}\n'
    """
    record: dict[str, Any] = {"_id": document.id}
    record |= {"title": document.title, "text": document.text} if titled else {"text": document.content}
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_rank_eval(
    qrels: QrelsColumns, path: str | os.PathLike[str], *, index: str, queries: Mapping[str, str] | None = None
) -> None:
    """Write the body of a request to `_rank_eval` of Elasticsearch or OpenSearch, one request a query."""
    target = checked_path(path)
    refuse_sources(target, qrels.sources)
    ratings: dict[str, list[dict[str, Any]]] = {}
    for query, document, grade in _whole_rows(qrels, "_rank_eval"):
        if grade < 0:
            raise InputError(
                f"grade {grade} of document '{document}' for query '{query}' is negative, but _rank_eval "
                "accepts only grades of 0 or more",
                path=qrels.source,
            )
        ratings.setdefault(query, []).append({"_index": index, "_id": document, "rating": grade})
    requests = [
        {"id": query, "request": {"query": _search(query, queries)}, "ratings": found}
        for query, found in ratings.items()
    ]
    text = json.dumps({"requests": requests}, ensure_ascii=False, indent=1) + "\n"
    write_bytes(target, text.encode("utf-8", "surrogateescape"))


def _search(query: str, queries: Mapping[str, str] | None) -> dict[str, Any]:
    if queries is None:
        return {"match_all": {}}
    if query not in queries:
        raise InputError(f"query '{query}' has no text. Add every judged query to the queries file")
    return {"multi_match": {"query": queries[query]}}


def _whole_rows(qrels: QrelsColumns, program: str) -> Collection[tuple[Any, ...]]:
    """Return judgments as rows; refuse what a program without subtopics and fractions cannot read."""
    table = tables.table_of_qrels(qrels).marked(program)
    if table.columns != tables.QRELS_COLUMNS:
        raise InputError(
            f"{program} reads only queries, documents and grades, not {tables.NOT_STORED[table.columns[-1]]}",
            path=qrels.source,
        )
    for query, document, grade in table.rows:
        if not isinstance(grade, int):
            raise InputError(
                f"grade {grade!r} of document '{document}' for query '{query}' is not a whole number, but "
                f"{program} accepts only whole numbers",
                path=qrels.source,
            )
    return table.rows


START, END = b"# ir_metadata.start", b"# ir_metadata.end"
LONGEST = 1 << 20  # bytes: where the end of a header is looked for


def header_in(text: bytes) -> bytes:
    r"""Return the lines of the header at the beginning of a text, with both marks; empty without one.

    A header without an end mark ends before the first line that is no comment.

    >>> header_in(b"# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n1 Q0 d 1 2 bm25\n")
    b'# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n'
    >>> header_in(b"# a comment\n1 Q0 d 1 2 bm25\n")
    b''
    """
    text = text.removeprefix(BOM)
    if not text.startswith(START):
        return b""
    kept = []
    for line in text.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        kept.append(line.rstrip(b"\r\n") + b"\n")
        if line.rstrip() == END:
            break
    return b"".join(kept)


def header_of(path: str) -> str | None:
    """Return the YAML in the header of a file, without the comment signs; None without a header."""
    head = first_bytes(path)
    if not head or not head.removeprefix(BOM).startswith(START):
        return None
    lines = header_in(first_bytes(path, LONGEST) or b"").splitlines()
    inner = [line[1:].removeprefix(b" ") for line in lines if line.rstrip() not in {START, END}]
    return b"\n".join(inner).decode("utf-8", "surrogateescape") + "\n"
