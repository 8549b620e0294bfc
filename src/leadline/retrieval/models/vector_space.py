"""Vector space models: term frequency and TF-IDF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Aliases, choice
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Model
from leadline.retrieval.models.query_plan import Gain, Plan, PlanPart, Query

STRETCH = 1 << 22  # postings that are looked at together for the lengths of vectors


def plan_of(index: Index, query: Query, idf: Callable[[Integers], Floats], form: str, key: str) -> Plan:
    """Return the plan of weights (1 + ln tf) idf of query and document; `cosine` divides by both norms."""
    codes = np.array(list(query.weights), dtype=np.int64)
    times = np.array(list(query.weights.values()))
    rarity = idf(index.document_frequencies[codes])
    weights = (1 + np.log(times)) * rarity
    size = math.sqrt(float((weights**2).sum()))
    if form == "cosine" and size:
        weights /= size
    norms = _norms(index, idf, key) if form == "cosine" else None
    return Plan(
        [
            PlanPart(index.postings(code), _dot(weight * rare, norms))
            for code, weight, rare in zip(codes.tolist(), weights.tolist(), rarity.tolist(), strict=True)
        ]
    )


def _dot(weight: float, norms: Floats | None) -> Gain:
    def gain(counts: Floats, documents: Integers) -> Floats:
        values = weight * (1 + np.log(counts))
        return values if norms is None else values / norms[documents]

    return gain


def _norms(index: Index, idf: Callable[[Integers], Floats], key: str) -> Floats:
    """Return the norm of every document vector, 1 for zero vectors; cached."""
    if key not in index.made:
        squares = np.zeros(index.documents)
        rarity = idf(index.document_frequencies)
        cumulated = np.cumsum(index.document_frequencies)
        begin = 0
        while begin < index.terms:
            done = int(cumulated[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(cumulated, done + STRETCH)))
            document, counts = index.postings_between(begin, end)
            weight = np.repeat(rarity[begin:end], index.document_frequencies[begin:end])
            values = (1 + np.log(counts)) * weight
            squares += np.bincount(document, weights=values**2, minlength=index.documents)
            begin = end
        norms = np.sqrt(squares)
        norms[norms == 0] = 1.0
        index.made[key] = norms
    lengths: Floats = index.made[key]
    return lengths


class TF(Model):
    """Vector space model with weights 1 + ln tf: dot product `TF(dot)` or cosine `TF(cosine)`."""

    title: ClassVar[str] = "term frequency, dot product or cosine"
    formula: ClassVar[str] = "sum of (1 + ln qtf)(1 + ln tf); cosine: divided by the lengths of both vectors"
    source: ClassVar[str] = "Salton and Buckley 1988"
    positional: ClassVar[str] = "form"

    form: str = choice("dot", "cosine")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        return plan_of(index, query, lambda df: np.ones(len(df)), self.form, "tf norms")


class TFIDF(Model):
    """Vector space model with weights (1 + ln tf) ln(N/df): dot product or cosine, `TFIDF(cosine)`."""

    title: ClassVar[str] = "tf-idf, dot product or cosine"
    formula: ClassVar[str] = (
        "sum of (1 + ln qtf)(1 + ln tf) ln(N/df)^2; cosine: divided by the lengths of both vectors"
    )
    source: ClassVar[str] = "Salton and Buckley 1988"
    aliases: ClassVar[Aliases] = {"TF-IDF": {}, "TF_IDF": {}}
    positional: ClassVar[str] = "form"

    form: str = choice("dot", "cosine")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        return plan_of(index, query, lambda df: np.log(index.documents / df), self.form, "tfidf norms")
