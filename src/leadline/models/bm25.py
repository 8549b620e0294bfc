"""BM25."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Gain, Part, Plan, Query
from leadline.naming import Parameter, Spellings, choice, number

IDF = {
    "plus": lambda n, df: math.log(1 + (n - df + 0.5) / (df + 0.5)),
    "rsj": lambda n, df: math.log((n - df + 0.5) / (df + 0.5)),
    "galago": lambda n, df: math.log(n / (df + 0.5)),
}


class BM25(Model):
    """Term frequency that saturates, normalised by length, times the weight of rare terms.

    `idf=rsj` is negative for a term in more than half of the documents; `galago` is Galago's. Terrier has
    the idf `rsj` by base 2 and k3=8. With `k3=none` a query term counts as often as it stands in the query.

    >>> from leadline.index import build_index
    >>> from leadline.retrieval import score
    >>> index = build_index({"d1": "wing tail", "d2": "heat"})
    >>> found = score(index, {"q": "wing"}, [("q", "d1")], "BM25(k1=1,b=0)")
    >>> found["BM25(k1=1,b=0)"].to_dict()["q"]["d1"]  # ln(1 + 1.5/1.5) * 1 * 2 / (1 + 1)
    0.6931471805599453
    """

    title: ClassVar[str] = "BM25"
    formula: ClassVar[str] = (
        "sum of idf (k1 + 1) tf / (tf + k1 (1 - b + b dl/avdl)) qtf, idf = ln(1 + (N - df + 0.5)/(df + 0.5))"
    )
    source: ClassVar[str] = "Robertson and Zaragoza 2009"
    spellings: ClassVar[Spellings] = {"okapi": {}}

    k1: float = number(1.2, low=0.0)
    b: float = number(0.75, low=0.0, high=1.0)
    idf: str = choice("plus", "rsj", "galago")
    k3: Any = Parameter("none", kind=float, low=0.0, words=("none",))

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        parts = []
        for code, times in query.weights.items():
            weight = IDF[self.idf](index.documents, index.df(code)) * self._repeated(times)
            parts.append(Part(index.postings(code), saturated(index, self.k1, self.b, weight)))
        return Plan(parts)

    def _repeated(self, times: float) -> float:
        return times if self.k3 == "none" else (self.k3 + 1) * times / (self.k3 + times)


def saturated(index: Index, k1: float, b: float, weight: float) -> Gain:
    """Give what a term of some weight adds by its frequency."""
    key = ("bm25", k1, b)
    if key not in index.made:
        relative = index.length / index.average_length if index.tokens else index.length
        index.made[key] = k1 * (1 - b + b * relative)
    norm: Floats = index.made[key]

    def gain(counts: Floats, documents: Integers) -> Floats:
        return np.divide(weight * (k1 + 1) * counts, counts + norm[documents])

    return gain
