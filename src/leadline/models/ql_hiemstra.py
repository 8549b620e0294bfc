"""Query likelihood as Hiemstra weights it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Gain, Part, Plan, Query
from leadline.naming import Spellings, number


class QLHiemstra(Model):
    """A mixture of document and collection as a sum over matching terms only.

    `document` is the weight of the document, Hiemstra's lambda.
    """

    title: ClassVar[str] = "query likelihood, Hiemstra's weighting"
    formula: ClassVar[str] = "sum of qtf ln (1 + document tf C / ((1 - document) cf dl))"
    source: ClassVar[str] = "Hiemstra 2001"
    spellings: ClassVar[Spellings] = {"Hiemstra": {}, "Hiemstra_LM": {}}

    document: float = number(0.15, low=0.0, high=1.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        return Plan([
            Part(index.postings(code), self._matched(index, code, times))
            for code, times in query.weights.items()
        ])  # fmt: skip

    def _matched(self, index: Index, code: int, times: float) -> Gain:
        odds = self.document * index.tokens / ((1 - self.document) * index.cf(code))

        def gain(counts: Floats, documents: Integers) -> Floats:
            found: Floats = times * np.log1p(odds * counts / index.length[documents])
            return found

        return gain
