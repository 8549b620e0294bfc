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
) -> Run:
    """Give, for every query, the k documents whose topics are nearest; ties: document id falling."""
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
    return Run.of_columns(
        asked,
        offsets,
        names,
        np.concatenate(rows).astype(np.int32),
        np.concatenate(found),
        name=name,
        tag=name,
    )


def mates_first(run: Run) -> tuple[int, int]:
    """Count the queries whose first document has the query's own id, and those that have such a document.

    With translations under one id the share is P@1.
    """
    known = set(run.documents)
    lists = run.to_dict()
    mated = [query for query in lists if query in known]
    return sum(next(iter(lists[query])) == query for query in mated), len(mated)


Record = Mapping[str, str]


class Texts(NamedTuple):
    """Records of all documents, of those to train on, and of those held out; their languages."""

    languages: list[str]
    all: Sequence[Record]
    train: Sequence[Record]
    held_out: Sequence[Record]

    @property
    def ids(self) -> list[str]:
        """Give the ids of all documents."""
        return [one["doc_id"] for one in self.all]


class Alike(NamedTuple):
    """The documents that are like each document, and how many relevant ids are no documents."""

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
) -> Texts:
    """Read documents; without others to train on, a share of them chosen at random is held out.

    >>> texts = read_texts({"a": "wing", "b": "heat", "c": "flow"}, None, held_out=0.4)
    >>> len(texts.train), len(texts.held_out)
    (2, 1)
    """
    named = check_languages(languages)
    every = _records(docs, named, id_column)
    if train is not None:
        return Texts(named, every, _records(train, named, id_column), every)
    size = round(held_out * len(every))
    if not 0 < size < len(every):
        raise UsageError(f"held_out={held_out:g} of {len(every)} documents; expected some on either side")
    chosen = set(np.random.default_rng([seed, 6]).choice(len(every), size, replace=False).tolist())
    return Texts(
        named,
        every,
        [one for place, one in enumerate(every) if place not in chosen],
        [every[place] for place in sorted(chosen)],
    )


def _records(source: TextsLike, languages: Sequence[str], id_column: str | None) -> list[Record]:
    ids, texts = read_columns(source, languages, id_column, "utf-8")
    return [
        {"doc_id": key} | dict(zip(languages, row, strict=True))
        for key, row in zip(ids, zip(*texts, strict=True), strict=True)
    ]


def alike(qrels: QrelsLike, documents: Sequence[str], *, level: float = 1.0, together: bool = False) -> Alike:
    """Give the documents that are like each document, none for itself.

    The queries of the qrels are documents; with `together` they are anything, and the documents relevant to
    one are alike. Only `documents` take part, and only those with another one alike are asked about.

    >>> alike({"q": {"a": 1, "b": 1, "c": 0, "x": 1}}, ["a", "b", "c"], together=True)
    Alike(pairs={'a': ['b'], 'b': ['a']}, unknown=1)
    """
    known = set(documents)
    found: dict[str, set[str]] = {}
    unknown: set[str] = set()
    table = read_qrels(qrels)
    for query, grades in table.to_dict().items():
        relevant = {name for name, grade in grades.items() if grade >= level}
        wanted = relevant & known
        unknown |= relevant - known
        if not together:
            unknown |= {query} - known
        for asked in wanted if together else {query} & known:
            found.setdefault(asked, set()).update(wanted - {asked})
    pairs = {asked: sorted(found[asked]) for asked in sorted(found) if found[asked]}
    if not pairs:
        raise InputError(
            "no document has another one that is like it",
            path=table.source,
            expected=f"pairs of grade {level:g} or more, of ids as in DOCS",
            hint="" if together else "--together makes them of judgments for other queries",
        )
    return Alike(pairs, len(unknown))
