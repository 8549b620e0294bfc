"""The relevance model alone."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Plan, Query
from leadline.models._relevance_model import relevance_model
from leadline.models._smoothing import of_terms
from leadline.naming import choice, number, whole


class RM1(Model):
    """Query likelihood of the relevance model alone; the query only finds the documents to learn from.

    The first `docs` documents by query likelihood, `terms` terms, all smoothed with `mu`. `learn=judged`
    learns from the relevant documents of judgments that are handed over.
    """

    title: ClassVar[str] = "relevance model"
    formula: ClassVar[str] = (
        "sum of P(w) ln (tf + mu cf/C)/(dl + mu), P(w) ~ sum over d of P(q|d) tf/dl"
    )
    source: ClassVar[str] = "Lavrenko and Croft 2001"
    learns: ClassVar[bool] = True

    docs: int = whole(10)
    terms: int = whole(50)
    mu: float = number(1500, low=0.0, open_ends=True)
    learn: str = choice("top", "judged")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        weights = relevance_model(
            index, query, mu=self.mu, docs=self.docs, terms=self.terms, learn=self.learn,
            relevant=relevant,
        )  # fmt: skip
        return of_terms(index, weights, self.mu)
