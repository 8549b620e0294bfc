"""BM25 with relevance feedback."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._feedback import documents_to_learn, largest, term_counts
from leadline.models._plan import Part, Plan, Query
from leadline.models.bm25 import BM25, saturated
from leadline.naming import choice, number, whole


class BM25RF(Model):
    """BM25 whose idf is the relevance weight of Robertson and Sparck Jones, with more terms added.

    R documents to learn from, r of them with the term: `learn=top` takes the first `docs` of BM25 itself,
    `learn=judged` the relevant ones of judgments that are handed over. The `terms` terms with the largest
    r w are added with `weight` as their query frequency. Engines differ in all of this: it is our reading.
    """

    title: ClassVar[str] = "BM25 with relevance feedback"
    formula: ClassVar[str] = (
        "BM25 with w = ln [((r + 0.5)/(R - r + 0.5)) / ((df - r + 0.5)/(N - df - R + r + 0.5))] for idf"
    )
    source: ClassVar[str] = "Robertson and Sparck Jones 1976; terms by Robertson 1990"
    learns: ClassVar[bool] = True

    k1: float = number(1.2, low=0.0)
    b: float = number(0.75, low=0.0, high=1.0)
    docs: int = whole(10)
    terms: int = whole(20, low=0)
    weight: float = number(0.33, low=0.0)
    learn: str = choice("top", "judged")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        first = BM25(k1=self.k1, b=self.b).plan(index, query)
        documents, _ = documents_to_learn(index, first, self.learn, self.docs, relevant)
        have = [term_counts(index, document)[0] for document in documents.tolist()]
        codes, r = np.unique(np.concatenate(have or [np.empty(0, np.int64)]), return_counts=True)
        known = dict(zip(codes.tolist(), r.tolist(), strict=True))
        asked = dict(query.weights) | self._added(index, query, known, len(documents))
        parts = []
        for code, times in asked.items():
            weight = relevance_weight(index, code, known.get(code, 0), len(documents)) * times
            parts.append(Part(index.postings(code), saturated(index, self.k1, self.b, weight)))
        return Plan(parts)

    def _added(
        self, index: Index, query: Query, known: dict[int, int], size: int
    ) -> dict[int, float]:
        """Choose the terms to add."""
        new = [code for code in known if code not in query.weights]
        offers = [known[code] * relevance_weight(index, code, known[code], size) for code in new]
        chosen = largest(np.array(offers), np.array(new, dtype=np.int64), self.terms)
        return {new[place]: self.weight for place in chosen if offers[place] > 0 and self.weight}


def relevance_weight(index: Index, code: int, r: int, size: int) -> float:
    """Give the weight of a term that r of `size` relevant documents have."""
    df = index.df(code)
    rest = index.documents - df - size + r
    return math.log(((r + 0.5) / (size - r + 0.5)) / ((df - r + 0.5) / (rest + 0.5)))
