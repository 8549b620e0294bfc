"""Tell which format a text has, by its content and then by its suffix."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import BytesIO
from itertools import chain
from numbers import Integral
from pathlib import Path

from leadline.errors import InputError
from leadline.io import row_checks
from leadline.io.opening import ARROW, COMPRESSIONS, PARQUET, STREAM, Chunk
from leadline.io.read import Opened, records_of
from leadline.io.sampled_qrels import is_sample
from leadline.io.tables import delimiter_of
from leadline.io.trec_lists import looks_trec

SUFFIXES = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "parquet",
    ".feather": "parquet",
}


def suffix_of(path: str) -> str:
    """Return the suffix under a compression suffix.

    >>> suffix_of("bm25.json.gz"), suffix_of("bm25.run")
    ('.json', '.run')
    """
    name = Path(path)
    if name.suffix in COMPRESSIONS.values():
        name = name.with_suffix("")
    return name.suffix.lower()


def format_of(window: Chunk) -> str:
    """Return the format of a text: trec, sampled (five columns), parquet, json, jsonl or csv."""
    head = window.text[: min(window.filled, 1 << 20)].tobytes()
    if looks_trec(head):
        return "trec"
    if head.startswith((PARQUET, ARROW, STREAM)):
        return "parquet"
    named = SUFFIXES.get(suffix_of(window.path), "trec")
    start = b"".join(head[:64].split())[:2]
    if start[:1] in {b"{", b"["} and (start[1:] in {b'"', b"{", b"[", b"}", b"]"} or named != "trec"):
        return "jsonl" if named == "jsonl" or _is_record(head) else "json"
    line = head.partition(b"\n")[0].decode("utf-8", "surrogateescape").strip("\r\n")
    names = [cell.strip('"') for cell in line.split(delimiter_of(line))]
    if row_checks.find(names, row_checks.QUERY) or row_checks.find(names, row_checks.DOCUMENT):
        return "csv"
    return "sampled" if named == "trec" and is_sample(head) else named


def is_refused(window: Chunk) -> bool:
    """Return whether the first lines of a text are such that no reader accepts it, whatever follows.

    A run or qrels in TREC's format has four columns at least, and no NUL byte.
    """
    if format_of(window) != "trec":
        return False
    *whole, _ = window.text[: min(window.end, 1 << 16)].tobytes().split(b"\n")
    lines = [line for line in whole if line.strip() and not line.startswith(b"#")]
    return any(b"\0" in line for line in lines) or (bool(lines) and len(lines[0].split(None, 3)) < 4)


def content_of(source: Opened) -> str:
    """Return `run` or `qrels`, told from the columns of a file, else from whether all numbers are whole."""
    if source.whole is None or source.form == "sampled":
        return "qrels"
    if source.form == "trec":
        text = source.whole.text[: source.whole.end].tobytes()
        fields = (line.split() for line in BytesIO(text) if not line.startswith(b"#"))
        rows = filter(None, fields)
        first = next(rows, [])
        four = len(first) == 4
        return "qrels" if four and not _is_ranking(chain([first], rows)) else "run"
    found = records_of(source, "grade")
    if row_checks.find(found.names, (*row_checks.RANK, *row_checks.TAG)):
        return "run"
    if row_checks.find(found.names, row_checks.GRADE):
        return "qrels"
    try:
        return "qrels" if all(_is_whole(row[3]) for row in found.rows) else "run"
    except InputError:
        return "run"


def _is_ranking(rows: Iterable[list[bytes]]) -> bool:
    """Return whether rows of four columns are a ranking: query, document, rank, score."""
    ranks: dict[bytes, set[bytes]] = {}
    seconds: set[bytes] = set()
    for row in rows:
        if len(row) != 4 or not row[2].isdigit():
            return False
        ranks.setdefault(row[0], set()).add(row[2])
        seconds.add(row[1])
    counts = all(found == {b"%d" % rank for rank in range(1, len(found) + 1)} for found in ranks.values())
    return counts and len(seconds) > 1


def _is_whole(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().removeprefix("-").isdecimal()
    return isinstance(value, Integral)


def _is_record(head: bytes) -> bool:
    """Return whether the first line is a whole record, so that the text is JSON Lines."""
    try:
        found = json.loads(head.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict) or row_checks.find(found, row_checks.DOCUMENT) is None:
        return False
    name = row_checks.find(found, row_checks.QUERY)
    return name is not None and not isinstance(found[name], (dict, list))
