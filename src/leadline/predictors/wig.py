"""WIG: how far the first scores stand above the rest."""

from __future__ import annotations

import math

from leadline.naming import choice, number, whole
from leadline.predictors import INDEX, Answer, Predictor
from leadline.predictors._tail import tail_mean


class WIG(Predictor):
    """Mean of the first `k` scores less the mean score of the list's tail.

    The paper takes the score of the whole collection off, which a list does not tell; `tail` takes the mean
    of the last `share` of the list (one document at least), and the name says so. `length=root` divides by
    the square root of the number of query terms as the paper does, and needs the query's text. From 0, in
    units of the score: runs of different models cannot be compared by it. A list of fewer than two
    documents is undefined, and so is a query without terms under `length=root`.

    >>> WIG(k=2, share=0.25).value(Answer.of([6, 4, 3, 2]))  # 5 less 2
    3.0
    """

    title = "weighted information gain"
    formula = "mean(s_1 ... s_k) - mean score of the tail"
    source = "Zhou and Croft 2007; the tail and `share` are ours"
    bare = "norm"

    norm: str = choice("tail")
    k: int = whole(5)
    share: float = number(0.1, low=0.0, high=1.0)
    length: str = choice("ignored", "root")

    def value(self, answer: Answer) -> float:
        """Give the prediction of one list."""
        below = tail_mean(answer.scores, self.share)
        if math.isnan(below):
            return math.nan
        gain = max(0.0, float(answer.scores[: self.k].mean()) - below)  # rounding may go below 0
        if self.length == "ignored":
            return gain
        size = 0 if answer.query is None else len(answer.query.sequence)
        return gain / math.sqrt(size) if size else math.nan

    def needs(self) -> frozenset[str]:
        """Say what it looks at beside the scores."""
        return frozenset([INDEX] if self.length == "root" else [])

    @classmethod
    def usual(cls) -> list[Predictor]:
        """Give both lengths."""
        return [cls(), cls(length="root")]
