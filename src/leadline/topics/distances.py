"""How far topic distributions are apart, and which documents are nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from leadline.arguments import check_whole
from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.run import Run
from leadline.topics.inference import Vectors
from leadline.vocabulary import Vocabulary, to_bytes

DISTANCES = ("hellinger", "js", "cosine")


def similarities(left: Floats, right: Floats, distance: str = "hellinger") -> Floats:
    """Give rows x rows of scores, larger is nearer: minus the distance, or the cosine.

    Hellinger: sqrt(1 - sum sqrt(p q)). Jensen-Shannon: sqrt of the mean divergence from the middle, base 2.
    Both lie from 0 to 1.

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
    raise UsageError(f"distance={distance!r}; expected " + " or ".join(DISTANCES))


def from_roots(left: Floats, right: Floats) -> Floats:
    """Give minus the Hellinger distances of distributions whose square roots are the rows."""
    found: Floats = -np.sqrt(np.maximum(1 - left @ right.T, 0))
    return found


def _jensen_shannon(row: Floats, others: Floats) -> Floats:
    middle = (row + others) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(row > 0, row * np.log2(row / middle), 0.0).sum(axis=1)
        right = np.where(others > 0, others * np.log2(others / middle), 0.0).sum(axis=1)
    found: Floats = -np.sqrt(np.maximum((left + right) / 2, 0))
    return found


def nearest(
    queries: Vectors, documents: Vectors, *, k: int = 1000, distance: str = "hellinger", name: str = "topics"
) -> Run:  # fmt: skip
    """Give, for every query, the k documents whose topics are nearest; ties: document id falling."""
    return ranked(
        lambda row: similarities(queries.theta[[row]], documents.theta, distance)[0],
        queries.ids, documents.ids, k=k, name=name,
    )  # fmt: skip


def ranked(
    scores: Callable[[int], Floats], queries: Sequence[str], documents: Sequence[str], *, k: int = 1000,
    own: bool = True, name: str = "topics",
) -> Run:  # fmt: skip
    """Give, for every query, the k documents that score highest; ties: document id falling.

    `scores(row)` are those of all documents for a query. Without `own` a query never finds its own id.

    >>> table = np.array([[0.0, -0.2, -0.1]])
    >>> ranked(lambda row: table[row], ["a"], ["a", "b", "c"], own=False).to_dict()
    {'a': {'c': -0.1, 'b': -0.2}}
    """
    check_whole(1, k=k)
    names = Vocabulary(documents)
    code = names.encode(map(to_bytes, documents))
    asked = Vocabulary(queries)
    place = {query: row for row, query in enumerate(queries)}
    themselves = names.encode(map(to_bytes, asked)) if not own else np.full(len(asked), -1)
    rows, found = [], []
    for query, itself in zip(asked, themselves.tolist(), strict=True):
        score = scores(place[query])
        order = np.lexsort((-code, -score))
        order = order[code[order] != itself][:k]
        rows.append(code[order])
        found.append(score[order] + 0.0)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Run(
        asked, offsets, names, np.concatenate(rows).astype(np.int32), np.concatenate(found),
        name=name, tag=name,
    )  # fmt: skip


def mates_first(run: Run) -> tuple[int, int]:
    """Count the queries whose first document has the query's own id, and those that have such a document.

    With translations under one id the share is P@1.
    """
    known = set(run.documents)
    lists = run.to_dict()
    mated = [query for query in lists if query in known]
    return sum(next(iter(lists[query])) == query for query in mated), len(mated)
