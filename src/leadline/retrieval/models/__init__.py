"""Retrieval models: queries analyzed for an index, plans and their evaluation, feedback documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Parametric, Registry
from leadline.errors import UsageError
from leadline.retrieval.index.reader import Index, Postings

Gain = Callable[[Floats, Integers], Floats]


class Query:
    """Terms of a query as codes of an index, in order; None for a term not in the index.

    >>> from leadline.retrieval.index import build_index
    >>> query = Query.of(build_index({"d1": "two wings"}), "the wings of wings")
    >>> query.sequence, query.weights
    ([1, 1], {1: 2.0})
    """

    def __init__(self, sequence: Sequence[int | None]) -> None:
        self.sequence = list(sequence)

    @classmethod
    def of(cls, index: Index, text: str) -> Query:
        """Analyze a query in the same way as the documents."""
        return cls([index.code(term) for term in index.analysis.terms(text)])

    @cached_property
    def weights(self) -> dict[int, float]:
        """Frequency of each known term in the query, in order of first occurrence."""
        frequencies: dict[int, float] = {}
        for code in self.sequence:
            if code is not None:
                frequencies[code] = frequencies.get(code, 0.0) + 1.0
        return frequencies

    @property
    def unknown(self) -> int:
        """Number of terms that no document contains."""
        return sum(code is None for code in self.sequence)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Adjacent pairs of known terms, ignoring stop words."""
        return [
            (first, second)
            for first, second in zip(self.sequence, self.sequence[1:], strict=False)
            if first is not None and second is not None
        ]


class PlanPart(NamedTuple):
    """Contribution of a term or window to the documents that contain it, by count and document."""

    postings: Postings
    gain: Gain


class Plan(NamedTuple):
    """Sum of parts; `base`, if present, is added for every document."""

    parts: Sequence[PlanPart]
    base: Callable[[Integers], Floats] | None = None


class ScoredDocuments(NamedTuple):
    """Document codes and their scores."""

    document: Integers
    score: Floats


def matching(plan: Plan, index: Index) -> ScoredDocuments:
    """Score every document that matches at least one of the parts, in order of code."""
    if "workspace" not in index.made:  # a score and a flag per document, all 0 between queries
        index.made["workspace"] = np.zeros(index.documents), np.zeros(index.documents, dtype=np.bool_)
    total, seen = index.made["workspace"]
    for postings, gain in plan.parts:
        document = postings.document
        total[document] += gain(postings.counts.astype(np.float64), document)  # type: ignore[arg-type]  # as codes
        seen[document] = True
    documents = np.flatnonzero(seen)
    scores = total[documents]
    total[documents], seen[documents] = 0.0, False
    return ScoredDocuments(documents, scores if plan.base is None else scores + plan.base(documents))


def scores_of(plan: Plan, documents: Integers) -> Floats:
    """Score the given documents; only their postings are read, by binary search."""
    total = np.zeros(len(documents))
    for postings, gain in plan.parts:
        if not len(postings.document):
            continue
        index = np.searchsorted(postings.document, documents)
        index[index == len(postings.document)] = 0
        inside = postings.document[index] == documents
        index = index[inside]
        counts = postings.counts[index].astype(np.float64)
        total[inside] += gain(counts, documents[inside])
    return total if plan.base is None else total + plan.base(documents)


def best(scored: ScoredDocuments, index: Index, k: int) -> ScoredDocuments:
    """Return the top k by decreasing score; ties in decreasing order of document id (bytes)."""
    document, score = scored
    if len(score) > k:
        least = np.partition(score, len(score) - k)[len(score) - k]
        candidates = np.flatnonzero(score >= least)
        document, score = document[candidates], score[candidates]
    order = np.lexsort((-index.id_rank[document], -score))[:k]
    return ScoredDocuments(document[order], score[order])


def documents_to_learn(
    index: Index, plan: Plan, learn: str, docs: int, relevant: Integers | None
) -> tuple[Integers, Floats]:
    """Return the feedback documents, `docs` at the top or the judged relevant ones, and their scores."""
    if learn == "top":
        top = best(matching(plan, index), index, docs)
        return top.document, top.score
    if relevant is None:
        raise UsageError("learn=judged needs judged documents to learn from. Pass them as `relevant`.")
    return relevant, scores_of(plan, relevant)


def largest(values: Floats, codes: Integers, count: int) -> list[int]:
    """Return the indices of the largest values; ties in sort order of the terms."""
    order: Iterable[int] = np.lexsort((codes, -values))[:count].tolist()
    return list(order)


class Model(Parametric):
    """Base class of the retrieval models: additive contributions of query terms and windows to the score.

    `plan` returns the contributions for one query; ranking a collection and scoring given pairs follow the
    same plan, and so give the same scores. `learns` marks models with relevance feedback: from the top
    documents of a first ranking (pseudo-relevance feedback), or from judged relevant documents with
    `learn=judged`.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    learns: ClassVar[bool] = False

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:  # noqa: ARG002
        """Return the plan of a query; `relevant` are documents judged relevant, for relevance feedback.

        By default it is the sum of `gain` over the terms.
        """
        terms = query.weights.items()
        return Plan([PlanPart(index.postings(code), self.gain(index, code, times)) for code, times in terms])

    def gain(self, index: Index, code: int, times: float) -> Gain:
        """Return what a term, which is `times` in the query, adds to the documents that contain it."""
        raise NotImplementedError


MODELS: Registry[Model] = Registry(sys.modules[__name__], Model, "model")
