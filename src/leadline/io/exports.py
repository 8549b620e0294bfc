"""Judgments for other programs: a folder of BEIR, and requests of Elasticsearch's `_rank_eval`."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from leadline.data.qrels import QrelsColumns
from leadline.errors import InputError, UsageError
from leadline.io import tables
from leadline.io.formats import BEIR_SPLIT
from leadline.io.read_paths import refuse_sources
from leadline.io.texts import Document
from leadline.io.write import checked_path, write_bytes

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
    root = checked_path(folder)
    rows = _whole_rows(qrels, "BEIR")
    table = tables.OutputTable(BEIR_COLUMNS, rows, suffix=".tsv")
    target = os.path.join(root, "qrels", f"{BEIR_SPLIT}.tsv")
    texts = {"queries.jsonl": queries, "corpus.jsonl": documents}
    written = [target, *(os.path.join(root, name) for name, found in texts.items() if found is not None)]
    for path in written:
        refuse_sources(path, qrels.sources)
        if os.path.exists(path):
            raise UsageError(f"{path}: exists; expected a new folder")
    try:
        os.makedirs(os.path.join(root, "qrels"), exist_ok=True)
    except OSError as error:
        raise UsageError(f"{root}: cannot be written ({error.strerror})") from None
    write_bytes(target, tables.write_csv(table))
    for name, found in texts.items():
        if found is not None:
            lines = (_text_line(document, titled=name == "corpus.jsonl") for document in found)
            packed = (line.encode("utf-8", "surrogateescape") for line in lines)
            write_bytes(os.path.join(root, name), packed)
    return written


def _text_line(document: Document, *, titled: bool) -> str:
    r"""Return a document, or a query without a title, as a line of JSON.

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
                f"grade {grade} of document '{document}' of query '{query}'",
                expected="0 or more, which _rank_eval reads",
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
        raise InputError(f"no text of query '{query}'", expected="one for every query that is judged")
    return {"multi_match": {"query": queries[query]}}


def _whole_rows(qrels: QrelsColumns, program: str) -> Collection[tuple[Any, ...]]:
    """Return judgments as rows; refuse what a program without subtopics and fractions cannot read."""
    table = tables.table_of_qrels(qrels)
    if table.columns != tables.QRELS_COLUMNS:
        raise InputError(
            f"a column {table.columns[-1]}",
            expected=f"query, document and grade, which {program} reads",
            path=qrels.source,
        )
    for query, document, grade in table.rows:
        if not isinstance(grade, int):
            raise InputError(
                f"grade {grade!r} of document '{document}' of query '{query}'",
                expected=f"a whole number, which {program} reads",
                path=qrels.source,
            )
    return table.rows
