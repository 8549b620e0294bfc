"""Tell per-query values, such as the output of `trec_eval -q`, from judgments and runs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from leadline.io.opening import ARROW, BINARY_TABLES, PARQUET, first_bytes
from leadline.io.python_inputs import rows_of_columns
from leadline.io.row_columns import DOCUMENT
from leadline.io.run_names import STANDARD_INPUT
from leadline.io.saved_results import MANIFEST
from leadline.io.score_cells import json_or_none
from leadline.io.score_tables import (
    INDEX,
    MEASURE,
    QUERY,
    RUN,
    TEXT_MEASURES,
    TEXTS,
    VALUE,
    find,
    modern,
    three,
)
from leadline.io.small_tables import unguarded

Known = Callable[[str], bool]  # whether a name is that of a measure
HEAD = 1 << 16  # bytes that tell what a file holds
SAVED = ({"leadline", "command"}, {"command", "runs"}, {"measures", "queries"})  # keys of our own JSON
OTHER_DOCUMENTS = ("doc", "chunk_id", "passage_id", "pid", "text_id", "id", "doc_no", "document_id")


def is_values(path: str, known: Known, *, saved: bool = True) -> bool:
    """Return whether a file, or the first of a folder, begins like per-query values, or `saved` ones."""
    file = first_file(path)
    head = first_bytes(file, HEAD) if file else None
    if not head:
        return False
    if head.startswith(BINARY_TABLES):
        return _in_arrow(file, head, saved)
    text = head.decode("utf-8", "replace").lstrip("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        return _in_json(text.strip(), known, saved)
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#"]
    cells = three(lines[0]) if lines else []
    if len(cells) == 3 and not any(sign in lines[0] for sign in ",;"):
        names = {modern(cells[0]), cells[1]} - TEXT_MEASURES
        return len(names) < 2 or (any(map(known, names)) and find(cells, QUERY) is None)
    for sign in "\t,;":
        if lines and sign in lines[0]:
            return _is_header([unguarded(cell.strip(' "\r')) for cell in lines[0].split(sign)])
    return False


def first_file(path: str) -> str:
    """Return the file of a path, or the first one of a folder or pattern; empty if there is none."""
    if path == STANDARD_INPUT:
        return ""
    if os.path.isdir(path):
        inside = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in sorted(names))
        return next(inside, "")
    if os.path.lexists(path):
        return path
    return next(iter(sorted(glob.glob(path))), "")


def _is_header(names: Iterable[str]) -> bool:
    """Return whether columns are of values: a measure and its value or run, or a query without a document."""
    header = list(names)
    if find(header, MEASURE) is not None and find(header, (*VALUE, *RUN)) is not None:
        return True
    query = find(header, QUERY)
    if query is None or find(header, (*DOCUMENT, *OTHER_DOCUMENTS)) is not None:
        return False
    return any(name not in (*INDEX, header[query]) and name.lower() not in TEXTS for name in header)


def _in_arrow(path: str, head: bytes, saved: bool) -> bool:  # one caller
    from leadline.data.optional import import_optional

    lib = import_optional("pyarrow.lib")
    try:
        if head.startswith(PARQUET):
            schema = import_optional("pyarrow.parquet").read_schema(path)
        else:
            ipc = import_optional("pyarrow.ipc")
            opened = ipc.open_file if head.startswith(ARROW) else ipc.open_stream
            with open(path, "rb") as file:
                schema = opened(file).schema
    except (lib.ArrowException, OSError):
        return False  # reading it reports the fault
    return saved if MANIFEST in (schema.metadata or {}) else _is_header(schema.names)


def _in_json(text: str, known: Known, saved: bool) -> bool:  # one caller
    """Return whether JSON is a saved result, records of values, or has measures as outer or inner keys."""
    found = _beginning(text)
    if isinstance(found, list):
        found = found[0] if found and isinstance(found[0], dict) else {}
    if any(names <= set(found) for names in SAVED):
        return saved
    if {"task_name", "scores"} <= set(found) or {"run_name", "inputs"} <= set(found):
        return True  # of MTEB or Haystack
    if rows := rows_of_columns(found, QUERY):
        return any(isinstance(cell, Real) for cell in rows[0].values()) and _is_header(rows[0])
    inner = [value for value in found.values() if isinstance(value, Mapping)]
    if any(isinstance(value.get("hits"), list) for value in inner):
        return False  # a response of Elasticsearch
    if not inner:
        lists = [value for value in found.values() if isinstance(value, list)]
        single = [name for name, value in found.items() if not isinstance(value, list)]
        return _is_header(single) and not any(isinstance(one, Mapping) for value in lists for one in value)
    keys = {key for value in inner for key in (_keys(value) if _nested(value) else value)}
    return all(map(known, found)) or (bool(keys) and all(map(known, keys)))


def _nested(value: Mapping[str, Any]) -> bool:
    return any(isinstance(one, Mapping) for one in value.values())


def _keys(value: Mapping[str, Any]) -> list[str]:
    return [key for one in value.values() if isinstance(one, Mapping) for key in one]


def _beginning(text: str) -> Any:
    """Return the JSON of a text, of its first line, or of as much of it as can be closed."""
    for part in (text, text.partition("\n")[0]):
        if (found := json_or_none(part)) is not None:
            return found
    cut = text[: text.rfind(",")]
    closing = ""
    for sign in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', cut):
        if sign in "{[":
            closing = "}]"["{[".index(sign)] + closing
        elif sign in "}]":
            closing = closing[1:]
    found = json_or_none(cut + closing)
    return {} if found is None else found
