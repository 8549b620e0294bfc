"""The number of terms of the query: what a predictor must beat."""

from __future__ import annotations

import math

from leadline.predictors import INDEX, Answer, Predictor


class QueryLength(Predictor):
    """The number of terms of the query, known to the index or not, stop words left out.

    It is the same for every system, and stands here as a control: sums over query terms grow with it.
    From 0; undefined without the query's text.
    """

    title = "number of query terms"
    formula = "|q|"
    source = "a control of ours"

    def value(self, answer: Answer) -> float:
        """Give the number of terms."""
        return math.nan if answer.query is None else float(len(answer.query.sequence))

    def needs(self) -> frozenset[str]:
        """Say what it looks at beside the scores."""
        return frozenset([INDEX])
