"""Term frequency times the weight of rare terms."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Plan, Query
from leadline.models._vectors import plan_of
from leadline.naming import Spellings, choice


class TFIDF(Model):
    """Vectors of (1 + ln tf) ln(N/df): their dot product, `TFIDF(dot)`, or cosine, `TFIDF(cosine)`."""

    title: ClassVar[str] = "tf-idf, dot product or cosine"
    formula: ClassVar[str] = (
        "sum of (1 + ln qtf)(1 + ln tf) ln(N/df)^2; cosine: over the lengths of both vectors"
    )
    source: ClassVar[str] = "Salton and Buckley 1988"
    spellings: ClassVar[Spellings] = {"TF-IDF": {}, "TF_IDF": {}}
    bare: ClassVar[str] = "form"

    form: str = choice("dot", "cosine")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        return plan_of(
            index, query, lambda df: np.log(index.documents / df), self.form, "tfidf norms"
        )
