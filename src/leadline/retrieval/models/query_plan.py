"""A query worked out for an index, and the documents that a model learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.retrieval.index.reader import Index, Postings

Gain = Callable[[Floats, Integers], Floats]


class Query:
    """The terms of a query as codes of an index, in order; None is a term that no document has.

    >>> from leadline.retrieval.index import build_index
    >>> query = Query.of(build_index({"d1": "two wings"}), "the wings of wings")
    >>> query.sequence, query.weights
    ([1, 1], {1: 2.0})
    """

    def __init__(self, sequence: Sequence[int | None]) -> None:
        self.sequence = list(sequence)

    @classmethod
    def of(cls, index: Index, text: str) -> Query:
        """Analyse a query as the documents were analysed."""
        return cls([index.code(term) for term in index.analysis.terms(text)])

    @cached_property
    def weights(self) -> dict[int, float]:
        """Give how often each known term stands in the query, in order of first occurrence."""
        found: dict[int, float] = {}
        for code in self.sequence:
            if code is not None:
                found[code] = found.get(code, 0.0) + 1.0
        return found

    @property
    def unknown(self) -> int:
        """Count the terms that no document has."""
        return sum(code is None for code in self.sequence)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Give the pairs of neighbours that are both known, stop words left out."""
        return [
            (first, second)
            for first, second in zip(self.sequence, self.sequence[1:], strict=False)
            if first is not None and second is not None
        ]


class Part(NamedTuple):
    """What one term or window adds: to the documents that have it, by count and document."""

    postings: Postings
    gain: Gain


class Plan(NamedTuple):
    """A sum of parts; `base`, if there is one, is added for every document."""

    parts: Sequence[Part]
    base: Callable[[Integers], Floats] | None = None


class Scored(NamedTuple):
    """Documents by code and their scores."""

    document: Integers
    score: Floats


def matching(plan: Plan, index: Index) -> Scored:
    """Score every document that has at least one of the parts, in order of code."""
    total, seen = _workspace(index)
    for postings, gain in plan.parts:
        document = postings.document
        total[document] += gain(postings.counts.astype(np.float64), document)  # type: ignore[arg-type]  # as codes
        seen[document] = True
    found = np.flatnonzero(seen)
    scores = total[found]
    total[found], seen[found] = 0.0, False
    return Scored(found, scores if plan.base is None else scores + plan.base(found))


def _workspace(index: Index) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Give a total and a mark for every document, all 0 between queries."""
    if "workspace" not in index.made:
        size = index.documents
        index.made["workspace"] = (np.zeros(size), np.zeros(size, dtype=np.bool_))
    found: tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]] = index.made["workspace"]
    return found


def given(plan: Plan, documents: Integers) -> Floats:
    """Score some documents: only their own postings are looked up, by bisection."""
    total = np.zeros(len(documents))
    for postings, gain in plan.parts:
        if not len(postings.document):
            continue
        place = np.searchsorted(postings.document, documents)
        place[place == len(postings.document)] = 0
        inside = postings.document[place] == documents
        place = place[inside]
        counts = postings.counts[place].astype(np.float64)
        total[inside] += gain(counts, documents[inside])
    return total if plan.base is None else total + plan.base(documents)


def best(scored: Scored, index: Index, k: int) -> Scored:
    """Give the first k: score falling, then document id falling by bytes."""
    document, score = scored
    if len(score) > k:
        least = np.partition(score, len(score) - k)[len(score) - k]
        kept = np.flatnonzero(score >= least)
        document, score = document[kept], score[kept]
    order = np.lexsort((-index.id_rank[document], -score))[:k]
    return Scored(document[order], score[order])


def documents_to_learn(
    index: Index, plan: Plan, learn: str, docs: int, relevant: Integers | None
) -> tuple[Integers, Floats]:
    """Give the documents to learn from, and their scores by the plan.

    `learn` is `top`: the first `docs` of the plan's own ranking; or `judged`: the relevant ones.
    """
    if learn == "top":
        found = best(matching(plan, index), index, docs)
        return found.document, found.score
    if relevant is None:
        raise UsageError("learn=judged; expected judgments to learn from: --feedback QRELS")
    return relevant, given(plan, relevant)


def term_counts(index: Index, document: int) -> tuple[Integers, Integers]:
    """Give the terms of a document by code, and how often it has each."""
    return np.unique(index.terms_of(document).astype(np.int64), return_counts=True)


def largest(values: Floats, codes: Integers, count: int) -> list[int]:
    """Give the places of the largest values; among equal ones the term that sorts first."""
    order: Iterable[int] = np.lexsort((codes, -values))[:count].tolist()
    return list(order)
