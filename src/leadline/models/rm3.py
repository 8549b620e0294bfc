"""The relevance model mixed with the query."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Plan, Query
from leadline.models._relevance_model import relevance_model
from leadline.models._smoothing import of_terms
from leadline.naming import Spellings, choice, number, whole


class RM3(Model):
    """Query likelihood of the query mixed with the relevance model; `original` is the query's share.

    The first `docs` documents by query likelihood, `terms` terms, all smoothed with `mu`. `learn=judged`
    learns from the relevant documents of judgments that are handed over; with none the query stands alone.
    """

    title: ClassVar[str] = "relevance model mixed with the query"
    formula: ClassVar[str] = (
        "sum of (original qtf/|q| + (1 - original) P(w)) ln (tf + mu cf/C)/(dl + mu), P(w) as in RM1"
    )
    source: ClassVar[str] = "Abdul-Jaleel et al. 2004"
    learns: ClassVar[bool] = True
    spellings: ClassVar[Spellings] = {"RM": {}}

    docs: int = whole(10)
    terms: int = whole(50)
    original: float = number(0.5, low=0.0, high=1.0)
    mu: float = number(1500, low=0.0, open_ends=True)
    learn: str = choice("top", "judged")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        learned = relevance_model(
            index, query, mu=self.mu, docs=self.docs, terms=self.terms, learn=self.learn,
            relevant=relevant,
        )  # fmt: skip
        original = self.original if learned else 1.0
        size = sum(query.weights.values())
        mixed = {code: original * times / size for code, times in query.weights.items()}
        for code, share in learned.items():
            mixed[code] = mixed.get(code, 0.0) + (1 - original) * share
        return of_terms(index, mixed, self.mu)
