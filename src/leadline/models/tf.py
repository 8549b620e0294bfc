"""Term frequency alone."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Plan, Query
from leadline.models._vectors import plan_of
from leadline.naming import choice


class TF(Model):
    """Vectors of 1 + ln tf: their dot product, `TF(dot)`, or cosine, `TF(cosine)`."""

    title: ClassVar[str] = "term frequency, dot product or cosine"
    formula: ClassVar[str] = (
        "sum of (1 + ln qtf)(1 + ln tf); cosine: over the lengths of both vectors"
    )
    source: ClassVar[str] = "Salton and Buckley 1988"
    bare: ClassVar[str] = "form"

    form: str = choice("dot", "cosine")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        return plan_of(index, query, lambda df: np.ones(len(df)), self.form, "tf norms")
