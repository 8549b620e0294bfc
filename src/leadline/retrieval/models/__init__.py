"""One file per retrieval model; `MODELS` finds them."""

from __future__ import annotations

import sys
from typing import ClassVar

from leadline.data.arrays import Integers
from leadline.data.registry import Parametric, Registry
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models.query_plan import Plan, Query


class Model(Parametric):
    """A retrieval model: what each query term or window adds to the score of a document.

    `plan` says that for one query; ranking a collection and scoring given pairs both follow the plan, so
    that they give the same numbers. `learns` tells a model that changes the query by documents: the first
    ones that it finds itself, or those that judgments call relevant, when `learn=judged` asks for that.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    learns: ClassVar[bool] = False

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        """Give the plan of a query; `relevant` are documents judged relevant, for models that learn."""
        raise NotImplementedError


MODELS: Registry[Model] = Registry(sys.modules[__name__], Model, "model")
