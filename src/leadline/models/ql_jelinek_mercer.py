"""Query likelihood with Jelinek-Mercer smoothing."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Gain, Part, Plan, Query
from leadline.naming import Spellings, number


class QLJelinekMercer(Model):
    """The log-likelihood of the query under a fixed mixture of document and collection.

    `collection` is the weight of the collection, often called lambda (others call 1 - lambda so). All query
    terms count; one that the whole collection lacks is left out. An empty document has the collection alone.
    """

    title: ClassVar[str] = "query likelihood, Jelinek-Mercer smoothing"
    formula: ClassVar[str] = "sum of qtf ln ((1 - collection) tf/dl + collection cf/C)"
    source: ClassVar[str] = "Zhai and Lafferty 2004"
    spellings: ClassVar[Spellings] = {"QLJM": {}, "LMJelinekMercer": {}, "JM": {}}

    collection: float = number(0.1, low=0.0, high=1.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        parts: list[Part] = []
        constant = 0.0
        for code, times in query.weights.items():
            background = self.collection * index.cf(code) / index.tokens
            gain = self._seen(index, times, background)
            parts.append(Part(index.postings(code), gain))
            constant += times * math.log(background)
        return Plan(parts, (lambda documents: np.full(len(documents), constant)) if parts else None)

    def _seen(self, index: Index, times: float, background: float) -> Gain:
        def gain(counts: Floats, documents: Integers) -> Floats:
            inside = (1 - self.collection) * counts / index.length[documents]
            found: Floats = times * np.log1p(inside / background)
            return found

        return gain
