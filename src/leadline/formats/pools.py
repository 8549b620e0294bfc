"""Pools: the documents to be judged, with the probability that each had to get there, and who brought it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from leadline.arrays import Floats
from leadline.errors import InputError
from leadline.formats import columns
from leadline.formats.kinds import suffix_of
from leadline.formats.opening import first_bytes
from leadline.formats.pairs import read_pairs
from leadline.formats.texts import rows_of
from leadline.formats.trec_lists import looks_trec
from leadline.formats.writing import deliver
from leadline.vocabulary import is_utf8

OTHERS = {".csv", ".json", ".parquet", ".sqlite", ".db"}  # a pool is TSV or JSON Lines
COLUMNS = ("query_id", "doc_id", "probability", "contributors")


class Pooled(NamedTuple):
    """The pairs of a pool, row by row.

    `probability` is that of the document to get into the pool, in (0, 1]; `contributors` gives the rank of
    the document in every run that brought it, none for one that was drawn.
    """

    queries: list[str]
    documents: list[str]
    probability: Floats
    contributors: list[Mapping[str, int]]

    def pairs(self) -> list[tuple[str, str]]:
        """Give (query, document) of every row."""
        return list(zip(self.queries, self.documents, strict=True))

    def by_query(self) -> dict[str, dict[str, float]]:
        """Give `{query: {document: probability}}`."""
        found: dict[str, dict[str, float]] = {}
        for query, document, share in zip(
            self.queries, self.documents, self.probability.tolist(), strict=True
        ):
            found.setdefault(query, {})[document] = share
        return found


def read_pool(path: str | os.PathLike[str]) -> Pooled:
    """Read a pool: a table with the columns query_id, doc_id, probability and contributors.

    Any other pairs are a pool too, qrels and runs among them: each is there with probability 1, brought by
    nobody. A pair that comes twice is refused.
    """
    path = os.fspath(path)
    rows: list[tuple[str, str, float, Mapping[str, int]]] = []
    seen: set[tuple[str, str]] = set()
    for place, query, document, share, ranks in _rows(path):
        if (query, document) in seen:
            raise InputError(
                f"document '{document}' is twice in the pool of query '{query}'", expected="each once",
                path=path, line=place,
            )  # fmt: skip
        seen.add((query, document))
        rows.append((query, document, share, ranks))
    if not rows:
        raise InputError("holds no pairs", expected="query_id and doc_id", path=path)
    queries, documents, shares, brought = map(list, zip(*rows, strict=True))
    return Pooled(queries, documents, np.array(shares, dtype=np.float64), brought)


def _rows(path: str) -> Iterator[tuple[int | None, str, str, float, Mapping[str, int]]]:
    head = first_bytes(path)
    if head is not None and (looks_trec(head) or path.endswith(".json")):
        yield from ((None, *pair, 1.0, {}) for pair in read_pairs(path))
        return
    for place, row in rows_of(path, "query"):
        try:
            yield (
                place,
                *_pair(row),
                columns.share_of(_first(row)),
                _ranks(row.get("contributors")),
            )
        except InputError as error:
            raise InputError(error.found, expected=error.expected, path=path, line=place) from None


def _pair(row: Mapping[str, Any]) -> tuple[str, str]:
    names = columns.find(row, columns.QUERY), columns.find(row, columns.DOCUMENT)
    if names[0] is None or names[1] is None:
        raise InputError(
            f"a pool with columns {', '.join(map(str, row))}", expected="query_id and doc_id"
        )
    pair = row[names[0]], row[names[1]]
    if not all(isinstance(name, str) and name for name in pair):
        raise InputError("a pair without an id", expected="query_id and doc_id as text")
    return pair


def _first(row: Mapping[str, Any]) -> object:
    name = columns.find(row, columns.PROBABILITY)
    return None if name is None else row[name]


def _ranks(given: object) -> Mapping[str, int]:
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            given = 0
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(rank, int) for rank in given.values()):
        raise InputError("contributors that cannot be read", expected='as in {"bm25": 3}')
    return given


def write_pool(pool: Pooled, path: str | os.PathLike[str]) -> None:
    """Write a pool as TSV, or as JSON Lines where the path ends in .jsonl; compressed by the suffix."""
    path = os.fspath(path)
    suffix = suffix_of(path)
    if suffix in OTHERS:
        raise InputError(f"a pool is not written as {suffix}", expected=".tsv or .jsonl", path=path)
    as_json = suffix in {".jsonl", ".ndjson"}
    lines = [] if as_json else ["\t".join(COLUMNS)]
    for query, document, share, ranks in zip(
        pool.queries, pool.documents, pool.probability.tolist(), pool.contributors, strict=True
    ):
        if as_json:
            row = dict(zip(COLUMNS, (query, document, share, dict(ranks)), strict=True))
            lines.append(json.dumps(row))
            continue
        if query.startswith("#") or not all(
            is_utf8(name) and not set(name) & set("\t\r\n") for name in (query, document)
        ):
            raise InputError(
                f"a tab, a line end, a leading # or a byte that is not UTF-8 in id {query!r} or {document!r}",
                expected="a pool called POOL.jsonl, which can hold it",
                path=path,
            )  # fmt: skip
        brought = json.dumps(dict(ranks), ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{query}\t{document}\t{int(share) if share == 1 else repr(share)}\t{brought}")
    content = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    deliver(path, content)
