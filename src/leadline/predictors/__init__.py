"""How well a query was answered, told without judgments from one list alone; `PREDICTORS` has them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.index import Index
from leadline.models._plan import Query
from leadline.naming import Named, Room

INDEX, VECTORS = "index", "vectors"  # what a predictor may need beside the scores


class Answer(NamedTuple):
    """What a system answered to one query, best first; what is not known is None.

    `scores` fall. `document` are codes of the index `collection` (-1: not indexed), `query`
    holds the terms of the query there. `row` says which of the topic vectors `theta` each document has (-1:
    none).
    """

    scores: Floats
    collection: Index | None = None
    document: Integers | None = None
    query: Query | None = None
    theta: Floats | None = None
    row: Codes | None = None

    @classmethod
    def of(cls, scores: Sequence[float]) -> Answer:
        """Make it of scores alone.

        >>> Answer.of([3, 1]).scores
        array([3., 1.])
        """
        return cls(np.array(scores, dtype=np.float64))


class Predictor(Named):
    """A number that says how well a system answered a query: the larger the better, without a unit.

    `low` is the least value there can be. The mean over queries leaves undefined values out.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    rising: ClassVar[bool] = True
    average: ClassVar[str] = "defined"

    def value(self, answer: Answer) -> float:
        """Give the prediction of one list; NaN where it is undefined."""
        raise NotImplementedError

    def needs(self) -> frozenset[str]:
        """Say what it looks at beside the scores: `index` (with the query's text), `vectors`."""
        return frozenset()

    @classmethod
    def usual(cls) -> list[Predictor]:
        """Give the forms that are shown where none is named."""
        return [cls()]


PREDICTORS: Room[Predictor] = Room(sys.modules[__name__], Predictor, "predictor")
