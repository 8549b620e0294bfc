"""Pools in files: the pairs to judge, their inclusion probabilities, and how they were drawn."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.ids import is_utf8
from leadline.errors import InputError
from leadline.io import row_checks
from leadline.io.formats import suffix_of
from leadline.io.id_lists import read_pairs
from leadline.io.lines import lines
from leadline.io.opening import first_bytes
from leadline.io.texts import rows_of
from leadline.io.trec_lists import looks_trec
from leadline.io.write import write_bytes

OTHERS = {".csv", ".json", ".parquet", ".sqlite", ".db"}  # a pool is TSV or JSON Lines
POOL_COLUMNS = ("query_id", "doc_id", "probability", "contributors")


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
        """Return (query, document) of every row."""
        return list(zip(self.queries, self.documents, strict=True))

    def by_query(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: probability}}`."""
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
                f"document '{document}' is twice in the pool of query '{query}'",
                expected="each once",
                path=path,
                line=place,
            )
        seen.add((query, document))
        rows.append((query, document, share, ranks))
    if not rows:
        raise InputError("contains no pairs", expected="query_id and doc_id", path=path)
    queries, documents, shares, brought = map(list, zip(*rows, strict=True))
    return Pooled(queries, documents, np.array(shares, dtype=np.float64), brought)


def _rows(path: str) -> Iterator[tuple[int | None, str, str, float, Mapping[str, int]]]:
    head = first_bytes(path)
    if head is not None and (looks_trec(head) or path.endswith(".json")):
        yield from ((None, *pair, 1.0, {}) for pair in read_pairs(path))
        return
    for place, row in rows_of(path, "query"):
        try:
            yield (place, *_pair(row), row_checks.share_of(_first(row)), _ranks(row.get("contributors")))
        except InputError as error:
            raise InputError(error.found, expected=error.expected, path=path, line=place) from None


def _pair(row: Mapping[str, Any]) -> tuple[str, str]:
    names = row_checks.find(row, row_checks.QUERY), row_checks.find(row, row_checks.DOCUMENT)
    if names[0] is None or names[1] is None:
        raise InputError(f"a pool with columns {', '.join(map(str, row))}", expected="query_id and doc_id")
    pair = row[names[0]], row[names[1]]
    if not all(isinstance(name, str) and name for name in pair):
        raise InputError("a pair without an id", expected="query_id and doc_id as text")
    return pair


def _first(row: Mapping[str, Any]) -> object:
    name = row_checks.find(row, row_checks.PROBABILITY)
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
    lines = [] if as_json else ["\t".join(POOL_COLUMNS)]
    for query, document, share, ranks in zip(
        pool.queries, pool.documents, pool.probability.tolist(), pool.contributors, strict=True
    ):
        if as_json:
            row = dict(zip(POOL_COLUMNS, (query, document, share, dict(ranks)), strict=True))
            lines.append(json.dumps(row))
            continue
        if query.startswith("#") or not all(
            is_utf8(name) and not set(name) & set("\t\r\n") for name in (query, document)
        ):
            raise InputError(
                f"a tab, a line end, a leading # or a byte that is not UTF-8 in id {query!r} or {document!r}",
                expected="a pool called POOL.jsonl, which can hold it",
                path=path,
            )
        brought = json.dumps(dict(ranks), ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{query}\t{document}\t{int(share) if share == 1 else repr(share)}\t{brought}")
    content = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    write_bytes(path, content)


DRAWN_COLUMNS = ("query_id", "doc_id", "probability", "order", "contributors")
HEAD = "# leadline pool "
FRAME = "# frame\t"


@dataclass(frozen=True)
class DrawnPool:
    """The frame of a pool, row by row, and which of its pairs were drawn.

    Attributes
    ----------
    queries, documents : list of str
        The pairs of the frame.
    probability : ndarray of float64
        Inclusion probability of each pair, in (0, 1]; 0 for one that both runs of a compared pair have alike.
    order : ndarray of float64
        Permanent random number over unscaled probability; the pairs of smallest order are a smaller draw.
    contributors : list of mapping
        Rank of the document in every pooled run that has it in the frame.
    drawn : ndarray of bool
        The pairs to be judged.
    design : dict
        How it was drawn: measures, budget, depth, level, seed, scale, runs. Empty for a plain table of pairs.
    """

    queries: list[str]
    documents: list[str]
    probability: Floats
    order: Floats
    contributors: list[Mapping[str, int]]
    drawn: Flags
    design: dict[str, Any] = field(default_factory=dict)


def read_drawn_pool(path: str | os.PathLike[str]) -> DrawnPool:
    """Read a pool of `leadline pool --for`, or any table of query_id, doc_id and probability.

    Raises
    ------
    InputError
        If a line cannot be read, a pair comes twice or a probability is not in (0, 1].
    """
    path = os.fspath(path)
    text = list(lines(path))
    design, rest = _comments(text, path)
    listed = read_pool(path)
    order = {} if not design else _orders(text, path)
    frame = list(zip(listed.queries, listed.documents, listed.contributors, strict=True))
    seen = set(listed.pairs())
    rows = [row for row in rest if (row[0], row[1]) not in seen]
    probability = np.concatenate([listed.probability, [row[2] for row in rows]])
    keys = np.array(
        [order.get((query, document), np.nan) for query, document, _ in frame] + [row[3] for row in rows],
        dtype=np.float64,
    )
    return DrawnPool(
        [query for query, _, _ in frame] + [row[0] for row in rows],
        [document for _, document, _ in frame] + [row[1] for row in rows],
        probability.astype(np.float64),
        keys,
        [ranks for _, _, ranks in frame] + [row[4] for row in rows],
        np.arange(len(frame) + len(rows)) < len(frame),
        design,
    )


Row = tuple[str, str, float, float, Mapping[str, int]]


def _comments(text: Sequence[tuple[int, str]], path: str) -> tuple[dict[str, Any], list[Row]]:
    """Return the design and the undrawn pairs of the frame, from the comment lines."""
    design: dict[str, Any] = {}
    numbers: list[int] = []
    rows: list[list[str]] = []
    for number, line in text:
        if line.startswith(HEAD):
            design = _parsed(line.removeprefix(HEAD), path, number)
        elif line.startswith(FRAME):
            numbers.append(number)
            rows.append(line.removeprefix(FRAME).split("\t"))
    try:  # at once, which is several times as fast
        ranks = json.loads("[" + ",".join(cells[4] for cells in rows) + "]")
    except (ValueError, IndexError, RecursionError):
        ranks = []
    if len(ranks) != len(rows) or not all(isinstance(one, dict) for one in ranks):
        ranks = [None] * len(rows)
    found = zip(rows, ranks, numbers, strict=True)
    return design, [_row(cells, brought, path, number) for cells, brought, number in found]


def _orders(text: Sequence[tuple[int, str]], path: str) -> dict[tuple[str, str], float]:
    """Return the column `order` of the drawn pairs."""
    found: dict[tuple[str, str], float] = {}
    place: dict[str, int] = {}
    for number, line in text:
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if not place:
            place = {name: column for column, name in enumerate(cells)}
            if "order" not in place:
                return {}
            continue
        try:
            pair = cells[place["query_id"]], cells[place["doc_id"]]
            found[pair] = float(cells[place["order"]])
        except (ValueError, IndexError):
            raise InputError("a row without its order", expected="a number", path=path, line=number) from None
    return found


def _row(cells: Sequence[str], brought: Mapping[str, int] | None, path: str, number: int) -> Row:
    """Return a pair of the frame; its contributors are parsed unless they are `brought`."""
    try:
        query, document, share, order, ranks = cells
        chance, key = float(share), float(order)
    except ValueError:
        raise InputError(
            f"a frame line of {len(cells)} cells",
            expected="query, document, probability, order, contributors",
            path=path,
            line=number,
        ) from None
    if not 0 <= chance <= 1:
        raise InputError(f"probability {share}", expected="a number in [0, 1]", path=path, line=number)
    return query, document, chance, key, _parsed(ranks, path, number) if brought is None else brought


def _parsed(text: str, path: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("no JSON object", expected='as in {"bm25": 3}', path=path, line=number)
    return found


def write_drawn_pool(pool: DrawnPool, path: str | os.PathLike[str], notes: Sequence[str]) -> None:
    """Write a drawn pool as TSV: the design, the drawn pairs by query and order, the rest of the frame."""
    path = os.fspath(path)
    out = [HEAD + json.dumps(pool.design, ensure_ascii=False)]
    out += [f"# {note}" for note in notes]
    out.append("\t".join(DRAWN_COLUMNS))
    rows = sorted(range(len(pool.queries)), key=lambda row: (pool.queries[row], pool.order[row]))
    out += ["\t".join(_cells(pool, row, path)) for row in rows if pool.drawn[row]]
    out += [FRAME + "\t".join(_cells(pool, row, path)) for row in rows if not pool.drawn[row]]
    write_bytes(path, ("\n".join(out) + "\n").encode("utf-8", "surrogateescape"))


def _cells(pool: DrawnPool, row: int, path: str) -> tuple[str, ...]:
    query, document = pool.queries[row], pool.documents[row]
    for name in (query, document):
        if not is_utf8(name) or set(name) & set("\t\r\n") or query.startswith("#"):
            raise InputError(
                f"a tab, a line end, a leading # or a byte that is not UTF-8 in id {name!r}",
                expected="ids that a TSV file can hold",
                path=path,
            )
    share = float(pool.probability[row])
    return (
        query,
        document,
        "1" if share == 1 else repr(share),
        repr(float(pool.order[row])),
        json.dumps(dict(pool.contributors[row]), ensure_ascii=False, separators=(",", ":")),
    )
