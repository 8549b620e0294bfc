"""Ids of queries in a file: a list, a table, topics, judgments or a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from leadline.errors import InputError
from leadline.io.cell_values import json_of, json_or_none
from leadline.io.opening import BINARY_TABLES, read_whole, text_of
from leadline.io.row_columns import DOCUMENT, QUERY, find
from leadline.io.small_tables import FIELD, csv_table, delimiter_of, parquet
from leadline.io.trec_lists import looks_trec
from leadline.kernels import plain

RECORDS = "records with query_id"
QUERY_IDS = (*QUERY, "num", "id", "_id")
WITH_TEXTS = ("id", "_id", "num")  # names of ids in a table of queries, in which `query` is the text


def read_query_ids(path: str) -> list[str]:
    """Return the ids of queries in a file, in their order, each once.

    The file is a list of one id a line; a table of queries, judgments or results with a column of query ids
    (CSV, TSV, JSON, JSON Lines, Parquet); queries in two columns without a header, id and text, with a tab
    between; or qrels or a run in the format of TREC.
    """
    found = dict.fromkeys(_query_ids(path))
    if not found:
        raise InputError("contains no query ids", expected="at least one", path=path)
    return list(found)


def _query_ids(path: str) -> Iterator[str]:
    window = read_whole(path)
    head = window.text[: min(window.filled, 1 << 12)].tobytes()
    if head.startswith(BINARY_TABLES):
        yield from _ids_in(parquet(path), path)
        return
    text = text_of(window)
    start = text.lstrip()[:1]
    if start == "{":
        whole = json_or_none(text)
        if isinstance(whole, dict) and find(whole, QUERY_IDS) is None:
            yield from whole  # {query: {document: number}}
            return
        rows = [(line, raw) for line, raw in enumerate(text.split("\n"), start=1) if raw.strip()]
        parsed = ((line, json_of(raw, path, line, expected=RECORDS)) for line, raw in rows)
        yield from _ids_in(parsed if whole is None else iter([(1, whole)]), path)
        return
    if start == "[":
        yield from _ids_in(enumerate(json_of(text, path, 1, expected=RECORDS), start=1), path)
        return
    header = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    delimiter = delimiter_of(header)
    names = [cell.strip('"') for cell in header.rstrip("\r").split(delimiter)]
    name = _column(names)
    if name is not None and (delimiter in header or text.rstrip().rpartition("\n")[2].strip() != name):
        columns, cells = csv_table(text, path)
        yield from (row[columns.index(name)] for _, row in cells)
        return
    lines_of_ids = [
        (line, raw.decode("utf-8", "surrogateescape").rstrip("\r"))
        for line, raw in plain.data_lines(window.text[: window.end].tobytes())
    ]
    if not lines_of_ids:
        return
    trec = looks_trec(lines_of_ids[0][1].encode("utf-8", "surrogateescape"))
    for line, raw in lines_of_ids:
        words = FIELD.findall(raw)
        if trec or "\t" in raw:
            yield words[0] if trec else raw.split("\t")[0]
        elif len(words) == 1:
            yield words[0]
        else:
            raise InputError(
                f"{len(words)} words",
                expected="one query id a line, or a column query_id",
                path=path,
                line=line,
            )


def _column(names: Iterable[Any]) -> Any:
    """Return the name of the ids of queries; beside documents `id` is none of them.

    >>> _column(["id", "query"]), _column(["id", "query", "docid"]), _column(["text"])
    ('id', 'query', None)
    """
    present = list(names)
    first = find(present, QUERY_IDS)
    texts = first in {"query", "topic"} and find(present, DOCUMENT) is None
    return (find(present, WITH_TEXTS) if texts else None) or first


def _ids_in(rows: Iterable[tuple[int, Any]], path: str) -> Iterator[str]:
    for line, row in rows:
        found = row
        if isinstance(row, Mapping):
            name = _column(row)
            found = None if name is None else row[name]
        if not isinstance(found, str) or not found:
            raise InputError("no query id", expected="a text query_id", path=path, line=line)
        yield found
