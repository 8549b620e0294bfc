"""Distances of topic distributions, and similar documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.run import Run
from leadline.data.validation import check_whole
from leadline.errors import InputError, UsageError
from leadline.io.read import QrelsLike, read_qrels
from leadline.io.texts import TextsLike
from leadline.topics.corpus import check_languages, read_columns
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
    raise UsageError(f"distance={distance!r}; expected " + " or ".join(DISTANCES))


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


Record = Mapping[str, str]


class TopicTexts(NamedTuple):
    """Records of all documents, the training documents, and those held out; their languages."""

    languages: list[str]
    all: Sequence[Record]
    train: Sequence[Record]
    held_out: Sequence[Record]

    @property
    def ids(self) -> list[str]:
        """Ids of all documents."""
        return [record["doc_id"] for record in self.all]


class RelevantPairs(NamedTuple):
    """Relevant documents of each document, and the number of relevant ids without a document."""

    pairs: dict[str, list[str]]
    unknown: int = 0


def read_texts(
    docs: TextsLike,
    train: TextsLike | None,
    *,
    languages: Sequence[str] = (),
    held_out: float = 0.1,
    seed: int = 0,
    id_column: str | None = None,
) -> TopicTexts:
    """Read documents; without separate training documents, a random part is held out.

    >>> texts = read_texts({"a": "wing", "b": "heat", "c": "flow"}, None, held_out=0.4)
    >>> len(texts.train), len(texts.held_out)
    (2, 1)
    """
    named = check_languages(languages)
    documents = _records(docs, named, id_column)
    if train is not None:
        return TopicTexts(named, documents, _records(train, named, id_column), documents)
    size = round(held_out * len(documents))
    if not 0 < size < len(documents):
        raise UsageError(f"held_out={held_out:g} of {len(documents)} documents; expected some on either side")
    chosen = set(np.random.default_rng([seed, 6]).choice(len(documents), size, replace=False).tolist())
    return TopicTexts(
        named,
        documents,
        [record for index, record in enumerate(documents) if index not in chosen],
        [documents[index] for index in sorted(chosen)],
    )


def _records(source: TextsLike, languages: Sequence[str], id_column: str | None) -> list[Record]:
    ids, texts = read_columns(source, languages, id_column, "utf-8")
    return [
        {"doc_id": key} | dict(zip(languages, row, strict=True))
        for key, row in zip(ids, zip(*texts, strict=True), strict=True)
    ]


def relevant_pairs(
    qrels: QrelsLike, documents: Sequence[str], *, level: float = 1.0, together: bool = False
) -> RelevantPairs:
    """Return the documents relevant to each document, excluding itself.

    The queries of the qrels are document ids; with `together` they are arbitrary, and the documents relevant
    to a query are relevant to each other. Only `documents` are considered, and only those with a relevant
    one.

    >>> relevant_pairs({"q": {"a": 1, "b": 1, "c": 0, "x": 1}}, ["a", "b", "c"], together=True)
    RelevantPairs(pairs={'a': ['b'], 'b': ['a']}, unknown=1)
    """
    ids = set(documents)
    relevant_of: dict[str, set[str]] = {}
    unknown: set[str] = set()
    table = read_qrels(qrels)
    for query, grades in table.to_dict().items():
        relevant = {name for name, grade in grades.items() if grade >= level}
        common = relevant & ids
        unknown |= relevant - ids
        if not together:
            unknown |= {query} - ids
        for query_id in common if together else {query} & ids:
            relevant_of.setdefault(query_id, set()).update(common - {query_id})
    pairs = {
        query_id: sorted(relevant_of[query_id]) for query_id in sorted(relevant_of) if relevant_of[query_id]
    }
    if not pairs:
        raise InputError(
            "no document has another one that is like it",
            path=table.source,
            expected=f"pairs of grade {level:g} or more, of ids as in DOCS",
            hint="" if together else "--together makes them of judgments for other queries",
        )
    return RelevantPairs(pairs, len(unknown))
