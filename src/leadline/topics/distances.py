"""Distances of topic distributions, and similar documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.validation import check_whole
from leadline.errors import UsageError
from leadline.io.objects import Run
from leadline.topics.infer import Vectors

DISTANCES = ("hellinger", "js", "cosine")


def similarities(left: Floats, right: Floats, distance: str = "hellinger") -> Floats:
    """Return rows x rows of similarities: the negative distance, or the cosine.

    Hellinger: sqrt(1 - sum sqrt(p q)). Jensen-Shannon: square root of the mean divergence from the midpoint,
    base 2. Both are from 0 to 1.

    >>> similarities(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[-0.0, -1.0]]
    """
    if distance == "hellinger":
        return from_roots(np.sqrt(left), np.sqrt(right))
    if distance == "cosine":
        lengths = np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1))
        return (left @ right.T) / np.where(lengths == 0, 1, lengths)
    if distance == "js":
        return np.stack([_jensen_shannon(row, right) for row in left])
    raise UsageError(f"unknown distance {distance!r}. Use {' or '.join(DISTANCES)}.")


def from_roots(left: Floats, right: Floats) -> Floats:
    """Return the negative Hellinger distances of distributions given by their square roots."""
    negative: Floats = -np.sqrt(np.maximum(1 - left @ right.T, 0))
    return negative


def _jensen_shannon(row: Floats, rows: Floats) -> Floats:
    middle = (row + rows) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(row > 0, row * np.log2(row / middle), 0.0).sum(axis=1)
        right = np.where(rows > 0, rows * np.log2(rows / middle), 0.0).sum(axis=1)
    negative: Floats = -np.sqrt(np.maximum((left + right) / 2, 0))
    return negative


def nearest(
    queries: Vectors, documents: Vectors, *, k: int = 1000, distance: str = "hellinger", name: str = "topics"
) -> Run:
    """Return the k documents with the nearest topics for every query; ties in decreasing order of id."""
    return ranked(
        lambda row: similarities(queries.theta[[row]], documents.theta, distance)[0],
        queries.ids,
        documents.ids,
        k=k,
        name=name,
    )


def ranked(
    scores: Callable[[int], Floats],
    queries: Sequence[str],
    documents: Sequence[str],
    *,
    k: int = 1000,
    own: bool = True,
    name: str = "topics",
) -> Run:
    """Return the k documents with the highest scores for every query; ties in decreasing order of id.

    `scores(row)` are those of all documents for a query. Without `own`, a query does not retrieve its own id.

    >>> table = np.array([[0.0, -0.2, -0.1]])
    >>> ranked(lambda row: table[row], ["a"], ["a", "b", "c"], own=False).to_dict()
    {'a': {'c': -0.1, 'b': -0.2}}
    """
    check_whole(1, k=k)
    names = Vocabulary(documents)
    code = names.encode(map(to_bytes, documents))
    query_ids = Vocabulary(queries)
    row_of = {query: row for row, query in enumerate(queries)}
    themselves = names.encode(map(to_bytes, query_ids)) if not own else np.full(len(query_ids), -1)
    rows, retrieved = [], []
    for query, itself in zip(query_ids, themselves.tolist(), strict=True):
        score = scores(row_of[query])
        order = np.lexsort((-code, -score))
        order = order[code[order] != itself][:k]
        rows.append(code[order])
        retrieved.append(score[order] + 0.0)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Run.of_columns(
        query_ids,
        offsets,
        names,
        np.concatenate(rows).astype(np.int32),
        np.concatenate(retrieved),
        name=name,
        tag=name,
    )


def count_top_mates(run: Run) -> tuple[int, int]:
    """Count the queries whose top document has the query's own id, and those with such a document.

    For translations with the same id the ratio is P@1.
    """
    ids = set(run.documents)
    lists = run.to_dict()
    mated = [query for query in lists if query in ids]
    return sum(next(iter(lists[query])) == query for query in mated), len(mated)
