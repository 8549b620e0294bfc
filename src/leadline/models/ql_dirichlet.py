"""Query likelihood with Dirichlet smoothing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Gain, Part, Plan, Query
from leadline.models._smoothing import of_terms
from leadline.naming import Spellings, choice, number


class QLDirichlet(Model):
    """The log-likelihood of the query under the document, smoothed by mu words of the collection.

    All query terms count, in the document or not; one that the whole collection lacks is left out.
    `form=terrier` adds ln(mu/(dl + mu)) only for terms that the document has, as Terrier does: another order.
    """

    title: ClassVar[str] = "query likelihood, Dirichlet smoothing"
    formula: ClassVar[str] = "sum of qtf ln (tf + mu cf/C)/(dl + mu)"
    source: ClassVar[str] = "Zhai and Lafferty 2004"
    spellings: ClassVar[Spellings] = {
        "QL": {}, "LM": {}, "LMDirichlet": {}, "DirichletLM": {}, "Dirichlet": {}, "QLD": {},
    }  # fmt: skip

    mu: float = number(1500, low=0.0, open_ends=True)
    form: str = choice("textbook", "terrier")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        if self.form == "textbook":
            return of_terms(index, query.weights, self.mu)
        return Plan([
            Part(index.postings(code), self._matched(index, code, times))
            for code, times in query.weights.items()
        ])  # fmt: skip

    def _matched(self, index: Index, code: int, times: float) -> Gain:
        mass = self.mu * index.cf(code) / index.tokens

        def gain(counts: Floats, documents: Integers) -> Floats:
            long = np.log(self.mu / (index.length[documents] + self.mu))
            found: Floats = times * (np.log1p(counts / mass) + long)
            return found

        return gain
