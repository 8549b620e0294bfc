"""Pools in files: the pairs to judge, their inclusion probabilities, and how they were drawn."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple, Self, TypeAlias
from zlib import crc32

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judgment_tables import DrawnPool, Pooled
from leadline.data.validation import check_nested
from leadline.data.wording import counted, in_code
from leadline.errors import InputError, repeated
from leadline.io import row_columns
from leadline.io.formats import suffix_of
from leadline.io.id_lists import NO_ID, NO_PAIRS, PAIRS, is_table, numbered_pairs, pair_of
from leadline.io.opening import BINARY_TABLES, BOM, SQLITE, first_bytes, lines
from leadline.io.score_cells import json_or_none, number_in
from leadline.io.texts import rows_of
from leadline.io.trec_lists import looks_trec
from leadline.io.write import write_bytes

OTHERS = {".csv", ".json", ".parquet", ".sqlite", ".db"}  # a pool is TSV or JSON Lines
CONTRIBUTORS = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
NO_CELL = re.compile("[\t\r\n\ud800-\udfff]")  # what an id in a cell of TSV cannot have
POOL_COLUMNS = ("query_id", "doc_id", "probability", "contributors")

BROUGHT = 'the contributors must be a JSON object with whole-number ranks, such as {"bm25": 3}'
NO_DESIGN = (
    "the description of the pool, after '# leadline pool', is not a JSON object. Use the complete, "
    "unchanged file"
)


PoolLike: TypeAlias = "str | os.PathLike[str] | DrawnPool | Pooled | Mapping[str, Mapping[str, float]]"


def read_pool(path: str | os.PathLike[str]) -> Pooled:
    """Read the pairs of a pool that are to be judged, as `read_drawn_pool` does."""
    return listed(read_drawn_pool(path))


def pool_of(pool: PoolLike, name: str = "pool") -> DrawnPool:
    """Return a pool from a path, an object or `{query: {document: probability}}`."""
    if isinstance(pool, DrawnPool):
        return pool
    if isinstance(pool, (str, os.PathLike)):
        return read_drawn_pool(pool)
    if isinstance(pool, Pooled):
        rows = list(zip(pool.queries, pool.documents, pool.probability.tolist(), strict=True))
        return replace(DrawnPool.listed(rows), contributors=pool.contributors)
    check_nested("a path, a result of `pool` or {query: {document: probability}}", **{name: pool})
    rows = [
        (query, document, share) for query, documents in pool.items() for document, share in documents.items()
    ]
    for query, document, share in rows:
        if not isinstance(share, (int, float, np.number)) or not 0 < share <= 1:
            raise InputError(
                f"document '{document}' for query '{query}' has probability {in_code(share)}",
                path=name,
                hint="Probabilities must be numbers above 0 and at most 1",
            )
    if not rows:
        raise InputError(NO_PAIRS, path=name)
    return DrawnPool.listed(rows)


def listed(pool: DrawnPool) -> Pooled:
    """Return the pairs of a pool that are to be judged."""
    return pool.pairs(np.flatnonzero(pool.drawn).tolist())


def _listed(path: str, *, ordered: bool) -> _Columns:
    """Return the pairs of any table, qrels or run; `ordered`: of an export, with judged pairs outside it."""
    head = first_bytes(path)
    if head is not None and (looks_trec(head) or (path.endswith(".json") and not is_table(path))):
        return _Columns.of([(*pair, 1.0, math.nan, {}) for pair in numbered_pairs(path)])
    return _Columns.of(list(_rows(path, ordered=ordered)))


def _rows(path: str, *, ordered: bool) -> Iterator[tuple[Any, ...]]:
    for place, row in rows_of(path, "query", quoted=True):
        if ordered and row.get("order") == row.get("probability") == "":
            continue  # judged, but not in the pool
        try:
            order = number_in(str(row["order"])) if ordered and "order" in row else math.nan
            if order is None:
                raise InputError("column 'order' has no number in this row")
            name = row_columns.probability_in(row)
            share = row_columns.share_of(None if name is None else row[name])
            yield place, *pair_of(row, place), share, order, _ranks(row.get("contributors"))
        except InputError as error:
            raise error.at(path, error.line or place) from None


def _ranks(given: object) -> Mapping[str, int]:
    if isinstance(given, str):
        found = json_or_none(given or "{}")
        given = 0 if found is None else found
    if given is None:
        return {}
    if not isinstance(given, dict) or not {*map(type, given.values())} <= {int}:
        raise InputError(BROUGHT)
    return given


def write_pool(pool: Pooled, path: str | os.PathLike[str]) -> None:
    """Write a pool as TSV, or as JSON Lines where the path ends in .jsonl; compressed by the suffix."""
    path = os.fspath(path)
    suffix = suffix_of(path)
    if suffix in OTHERS:
        raise InputError(
            f"a pool cannot be written as {suffix}",
            path=path,
            hint="Use a file name that ends in .tsv or .jsonl",
        )
    as_json = suffix in {".jsonl", ".ndjson"}
    lines = [] if as_json else ["\t".join(POOL_COLUMNS)]
    for query, document, share, ranks in zip(
        pool.queries, pool.documents, pool.probability.tolist(), pool.contributors, strict=True
    ):
        if as_json:
            row = dict(zip(POOL_COLUMNS, (query, document, share, dict(ranks)), strict=True))
            lines.append(json.dumps(row))
            continue
        ids = _pair_cells(query, document, path, hint="Use a file name that ends in .jsonl")
        lines.append("\t".join((*ids, _share_cell(share), CONTRIBUTORS.encode(dict(ranks)))))
    content = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    write_bytes(path, content)


def _pair_cells(
    query: str, document: str, path: str, hint: str = "Change the id wherever it occurs"
) -> list[str]:
    """Return ids as cells of TSV, where a cell that begins with a quote ends with one."""
    cells = []
    for name in (query, document):
        if NO_CELL.search(name):
            raise InputError(
                f"id {name!r} cannot be stored in a TSV file because the id contains a tab, a line break or "
                "an invalid UTF-8 byte",
                path=path,
                hint=hint,
            )
        cells.append('"' + name.replace('"', '""') + '"' if name.startswith('"') else name)
    return cells


def _share_cell(share: float) -> str:
    return "1" if share == 1 else repr(share)


def _split(line: str, path: str, number: int) -> list[str]:
    """Return the cells of a line of TSV."""
    if not line.startswith('"') and '\t"' not in line:
        return line.split("\t")
    try:
        return next(csv.reader([line], delimiter="\t", strict=True))
    except csv.Error as error:
        raise InputError(
            f"invalid TSV ({error})",
            path=path,
            line=number,
            hint="If a cell begins with a double quote, enclose the cell in double quotes and double the "
            "quotes inside it",
        ) from None


DRAWN_COLUMNS = ("query_id", "doc_id", "probability", "order", "contributors")
HEAD = "# leadline pool "
FRAME = "# frame\t"
QUERY_OWNERS = "owners"  # key of the first line: judge of each query
CHECKSUM = "checksum"  # key of the first line: of the design and all pairs
FORMAT = 1
KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("measures", "runs", "for_pair"), list),
    **dict.fromkeys(("format", "depth", "seed", "looks"), int),
    "scale": (int, float),
    QUERY_OWNERS: dict,
}


def read_drawn_pool(path: str | os.PathLike[str]) -> DrawnPool:
    """Read a pool: the frame of `leadline pool --for`, or a table of query_id, doc_id and probability.

    Any other pairs are a pool too, qrels and runs among them: each is there with probability 1, brought by
    nobody. A pair that comes twice is refused.
    """
    path = os.fspath(path)
    header = "\t".join(DRAWN_COLUMNS)
    head = (first_bytes(path) or b"").removeprefix(BOM)
    if head.startswith(SQLITE):
        hint = "Pass the file of the pool, or only the store, which keeps a drawn pool"
        raise InputError("is an SQLite database, not a pool", path=path, hint=hint)
    return pool_of_lines(list(lines(path)) if head.startswith((b"#", header.encode())) else [], path)


def pool_of_lines(every: Sequence[tuple[int, str]], path: str) -> DrawnPool:
    """Return the pool of numbered lines; without any, that of the table at a path."""
    header = "\t".join(DRAWN_COLUMNS)
    top = list(takewhile(lambda numbered: not numbered[1] or numbered[1].startswith("#"), every))
    text = [(number, line) for number, line in every[len(top) :] if line]
    written = bool(text) and text[0][1] == header  # as `write_drawn_pool` writes it
    heads = [(n, line.removeprefix(HEAD)) for n, line in top if line.startswith(HEAD)]
    if not heads and (written or any(line.startswith(FRAME) for _, line in top)):
        raise InputError(
            f"the line '{HEAD}{{...}}' is missing, so leadline cannot tell how the pool was drawn",
            path=path,
            line=1,
            hint="Use the complete, unchanged file",
        )
    design = _design(heads[0][1], path, heads[0][0]) if heads else {}
    drawn = _columns(text[1:], path) if written else _listed(path, ordered=bool(design))
    rest = _columns([(n, line.removeprefix(FRAME)) for n, line in top if line.startswith(FRAME)], path)
    for pairs in (drawn, rest):
        _check_once(pairs, path)
    _check_drawn(drawn, path, design)
    listed = set(zip(drawn.queries, drawn.documents, strict=True))
    kept = [row for row, pair in enumerate(zip(*rest[1:3], strict=True)) if pair not in listed]
    pool = DrawnPool(
        drawn.queries + [rest.queries[row] for row in kept],
        drawn.documents + [rest.documents[row] for row in kept],
        np.concatenate([drawn.probability, rest.probability[kept]]),
        np.concatenate([drawn.order, rest.order[kept]]),
        drawn.contributors + [rest.contributors[row] for row in kept],
        np.arange(len(drawn.queries) + len(kept)) < len(drawn.queries),
        {key: value for key, value in design.items() if key not in (CHECKSUM, QUERY_OWNERS)},
        design.get(QUERY_OWNERS, {}),
    )
    if CHECKSUM in design and design[CHECKSUM] != _checksum(pool):
        raise InputError(
            "the file has changed since leadline wrote it", path=path, hint="Use the complete, unchanged file"
        )
    return pool


def _checksum(pool: DrawnPool) -> int:
    """Return the checksum of a design and its pairs, whatever their order."""
    rows = zip(
        pool.queries,
        pool.documents,
        pool.probability.tolist(),
        pool.order.tolist(),
        pool.contributors,
        pool.drawn.tolist(),
        strict=True,
    )
    total = crc32(json.dumps(pool.design, sort_keys=True).encode())
    return (total + sum(crc32(ascii(row).encode()) for row in rows)) % 2**32


def read_design(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return how a pool was drawn, from its first lines; empty for a plain table of pairs."""
    path = os.fspath(path)
    if (first_bytes(path) or b"").startswith(BINARY_TABLES):
        return {}
    for number, line in lines(path):
        if line.startswith(HEAD):
            return _design(line.removeprefix(HEAD), path, number)
        if not line.startswith("#"):
            break
    return {}


class _Columns(NamedTuple):
    lines: list[int | None]
    queries: list[str]
    documents: list[str]
    probability: Floats
    order: Floats
    contributors: list[Mapping[str, int]]

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Return the columns of rows."""
        columns = map(list, zip(*rows, strict=True)) if rows else ([] for _ in cls._fields)
        places, queries, documents, shares, orders, brought = columns
        return cls(places, queries, documents, np.array(shares), np.array(orders), brought)


def _columns(text: Sequence[tuple[int, str]], path: str) -> _Columns:
    """Return the cells of lines by column."""
    rows = []
    for number, line in text:
        cells = _split(line, path, number)
        try:
            rows.append((number, *_pair(cells)))
        except InputError as error:
            raise error.at(path, number) from None
    return _Columns.of(rows)


def _pair(cells: Sequence[str]) -> tuple[str, str, float, float, Mapping[str, int]]:
    """Return the query, document, probability, order and contributors in the cells of a line."""
    if len(cells) != len(DRAWN_COLUMNS):
        raise InputError(
            f"the row has {counted(len(cells), 'cell')}",
            hint="Each row needs a query, a document, a probability, an order and contributors, separated by "
            "tabs",
        )
    query, document, share, order, ranks = cells
    probability, place = number_in(share), number_in(order)
    if probability is None or not 0 <= probability <= 1:
        raise InputError(f"probability '{share}' is not a number from 0 to 1")
    if place is None:
        raise InputError(f"order '{order}' is not a number")
    return query, document, probability, place, _ranks(ranks)


def _check_drawn(pairs: _Columns, path: str, design: Mapping[str, Any]) -> None:
    """Refuse pairs to judge that are empty or of probability 0."""
    if not pairs.queries:
        size = "--twice" if "twice" in design else "--budget or --total"
        more = f"Draw the pool again with a larger {size}"
        raise InputError(NO_PAIRS, path=path, hint=more if design else PAIRS)
    if "" in pairs.queries or "" in pairs.documents:
        row = next(row for row, pair in enumerate(zip(*pairs[1:3], strict=True)) if "" in pair)
        raise InputError(NO_ID, path=path, line=pairs.lines[row])
    if not pairs.probability.all():
        row = int(np.argmin(pairs.probability))
        raise InputError("the probability must be greater than 0", path=path, line=pairs.lines[row])


def _check_once(pairs: _Columns, path: str) -> None:
    """Refuse a pair that is listed twice."""
    listed = list(zip(pairs.queries, pairs.documents, strict=True))
    if len(set(listed)) < len(listed):
        seen: set[tuple[str, str]] = set()
        for number, (query, document) in zip(pairs.lines, listed, strict=True):
            if (query, document) in seen:
                raise repeated(f"document '{document}'", of=f"query '{query}'", path=path, line=number)
            seen.add((query, document))


def _design(text: str, path: str, number: int) -> dict[str, Any]:
    value = json_or_none(text)
    if not isinstance(value, dict):
        raise InputError(NO_DESIGN, path=path, line=number)
    form = value.get("format", FORMAT)
    if isinstance(form, int) and form > FORMAT:
        found = f"the pool is in format {form}, but this version of leadline supports only format {FORMAT}"
        raise InputError(found, path=path, line=number, hint="Install a newer version of leadline")
    for key, kind in KINDS.items():
        if key in value and not isinstance(value[key], kind):
            found = f"'{key}' in the description of the pool has an invalid value"
            raise InputError(found, path=path, line=number, hint="Use the complete, unchanged file")
    return value


def write_drawn_pool(pool: DrawnPool, path: str | os.PathLike[str], notes: Sequence[str]) -> None:
    """Write a drawn pool as TSV: the design and the undrawn frame as remarks, then the drawn pairs."""
    path = os.fspath(path)
    text = "\n".join(lines_of(pool, path, notes)) + "\n"
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def lines_of(pool: DrawnPool, path: str, notes: Sequence[str] = ()) -> list[str]:
    """Return the lines of a drawn pool in a file."""
    rows = _rows_of(pool, drawn=True)
    header = "\t".join(DRAWN_COLUMNS)
    return [*remarks_of(pool, path, notes), header, *("\t".join(_cells(pool, row, path)) for row in rows)]


def remarks_of(pool: DrawnPool, path: str, notes: Sequence[str] = ()) -> list[str]:
    """Return the design of a drawn pool and its frame without the drawn pairs, as lines of remarks."""
    more = {CHECKSUM: _checksum(pool)} | ({QUERY_OWNERS: dict(pool.owners)} if pool.owners else {})
    out = [HEAD + json.dumps(pool.design | more, ensure_ascii=False)]
    out += [f"# {note}" for note in notes]
    return out + [FRAME + "\t".join(_cells(pool, row, path)) for row in _rows_of(pool, drawn=False)]


def _rows_of(pool: DrawnPool, *, drawn: bool) -> list[int]:
    """Return the rows that were drawn or not, by query and order."""
    keys = list(zip(pool.queries, pool.order.tolist(), strict=True))
    return sorted(np.flatnonzero(pool.drawn == drawn).tolist(), key=keys.__getitem__)


def _cells(pool: DrawnPool, row: int, path: str) -> tuple[str, ...]:
    return (
        *_pair_cells(pool.queries[row], pool.documents[row], path),
        _share_cell(float(pool.probability[row])),
        repr(float(pool.order[row])),
        CONTRIBUTORS.encode(dict(pool.contributors[row])),
    )
