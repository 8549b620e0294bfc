"""Pools drawn with known probabilities: the pairs to judge, the frame they were drawn from, and how."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leadline.arrays import Flags, Floats
from leadline.errors import InputError
from leadline.formats.lines import lines
from leadline.formats.pools import read_pool
from leadline.formats.writing import deliver
from leadline.vocabulary import is_utf8

COLUMNS = ("query_id", "doc_id", "probability", "order", "contributors")
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
        Inclusion probability of each pair, in (0, 1].
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
    design, rest = _comments(path)
    listed = read_pool(path)
    order = {} if not design else _orders(path)
    frame = list(zip(listed.queries, listed.documents, listed.contributors, strict=True))
    seen = set(listed.pairs())
    rows = [row for row in rest if (row[0], row[1]) not in seen]
    probability = np.concatenate([listed.probability, [row[2] for row in rows]])
    keys = np.array(
        [order.get((query, document), np.nan) for query, document, _ in frame]
        + [row[3] for row in rows],
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


def _comments(path: str) -> tuple[dict[str, Any], list[Row]]:
    """Return the design and the undrawn pairs of the frame, from the comment lines."""
    design: dict[str, Any] = {}
    rows: list[Row] = []
    for number, line in _text(path):
        if line.startswith(HEAD):
            design = _parsed(line.removeprefix(HEAD), path, number)
        elif line.startswith(FRAME):
            rows.append(_row(line.removeprefix(FRAME), path, number))
    return design, rows


def _text(path: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in lines(path) if line.startswith("#"))


def _orders(path: str) -> dict[tuple[str, str], float]:
    """Return the column `order` of the drawn pairs."""
    found: dict[tuple[str, str], float] = {}
    place: dict[str, int] = {}
    for number, line in lines(path):
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
            raise InputError(
                "a row without its order", expected="a number", path=path, line=number
            ) from None
    return found


def _row(text: str, path: str, number: int) -> Row:
    cells = text.split("\t")
    try:
        query, document, share, order, ranks = cells
        found = query, document, float(share), float(order), _parsed(ranks, path, number)
    except ValueError:
        raise InputError(
            f"a frame line of {len(cells)} cells",
            expected="query, document, probability, order, contributors",
            path=path,
            line=number,
        ) from None
    if not 0 < found[2] <= 1:
        raise InputError(
            f"probability {share}", expected="a number in (0, 1]", path=path, line=number
        )
    return found


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
    out.append("\t".join(COLUMNS))
    rows = sorted(range(len(pool.queries)), key=lambda row: (pool.queries[row], pool.order[row]))
    out += ["\t".join(_cells(pool, row, path)) for row in rows if pool.drawn[row]]
    out += [
        FRAME + "\t".join(_cells(pool, row, path))
        for row in rows
        if not pool.drawn[row] and pool.probability[row] > 0
    ]
    deliver(path, ("\n".join(out) + "\n").encode("utf-8", "surrogateescape"))


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
