"""Retrieval models."""

from __future__ import annotations

import sys
from typing import ClassVar

from leadline.data.arrays import Integers
from leadline.data.registry import Parametric, Registry
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models.query_plan import Plan, Query


class Model(Parametric):
    """Base class of the retrieval models: additive contributions of query terms and windows to the score.

    `plan` returns the contributions for one query; ranking a collection and scoring given pairs follow the
    same plan, and so give the same scores. `learns` marks models with relevance feedback: from the top
    documents of a first ranking (pseudo-relevance feedback), or from judged relevant documents with
    `learn=judged`.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    learns: ClassVar[bool] = False

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        """Return the plan of a query; `relevant` are documents judged relevant, for relevance feedback."""
        raise NotImplementedError


MODELS: Registry[Model] = Registry(sys.modules[__name__], Model, "model")
