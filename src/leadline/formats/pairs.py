"""Pairs of query and document: a table with these two columns, qrels, or a run."""

from __future__ import annotations

import os
from collections.abc import Iterator

from leadline.errors import InputError
from leadline.formats import columns, read_qrels
from leadline.formats.lines import lines
from leadline.formats.opening import first_bytes
from leadline.formats.texts import rows_of
from leadline.formats.trec_lists import looks_trec


def read_pairs(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read pairs from a TSV, CSV, JSON Lines or Parquet table, or from qrels or a run in TREC's format.

    In TREC's formats the query is the first column and the document the third.
    """
    found = list(_pairs(os.fspath(path)))
    if not found:
        raise InputError("holds no pairs", expected="query_id and doc_id", path=os.fspath(path))
    return found


def _pairs(path: str) -> Iterator[tuple[str, str]]:
    head = first_bytes(path)
    if head is not None and looks_trec(head):
        for number, line in lines(path):
            if line.startswith("#") or not line.strip():
                continue
            cells = line.split(maxsplit=3)
            if len(cells) < 4:
                raise InputError(
                    f"{len(cells)} columns", expected="qrels of 4 or a run of 6", path=path, line=number
                )  # fmt: skip
            yield cells[0], cells[2]
        return
    if head is not None and path.endswith(".json"):
        for query, documents in read_qrels(path).to_dict().items():
            yield from ((query, document) for document in documents)
        return
    for place, row in rows_of(path, "query"):
        names = columns.find(row, columns.QUERY), columns.find(row, columns.DOCUMENT)
        if names[0] is None or names[1] is None:
            raise InputError(
                f"pairs with columns {', '.join(map(str, row))}", expected="query_id and doc_id",
                path=path, line=place,
            )  # fmt: skip
        yield row[names[0]], row[names[1]]
