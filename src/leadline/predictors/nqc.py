"""NQC: how far the first scores spread."""

from __future__ import annotations

import math

from leadline.naming import choice, number, whole
from leadline.predictors import Answer, Predictor
from leadline.predictors._tail import tail_mean


class NQC(Predictor):
    """Standard deviation of the first `k` scores over the size of the mean score of the list's tail.

    The paper divides by the score of the whole collection taken as one document, which a list does not
    tell; `tail` puts the mean of the last `share` of the list (one document at least) in its place, and the
    name says so. The deviation divides by k, or by as many as there are. From 0; equal scores have 0. A list
    of fewer than two documents and a tail of mean 0 are undefined. It does not change when scores are
    multiplied, but does when something is added to all: runs of different models cannot be compared by it.

    >>> NQC(k=2, share=0.25).value(Answer.of([6, 4, 3, 2]))  # deviation 1, tail 2
    0.5
    """

    title = "normalised spread of the first scores"
    formula = "sd(s_1 ... s_k) / |mean score of the tail|"
    source = "Shtok, Kurland, Carmel, Raiber and Markovits 2012; the tail and `share` are ours"
    bare = "norm"

    norm: str = choice("tail")
    k: int = whole(100)
    share: float = number(0.1, low=0.0, high=1.0)

    def value(self, answer: Answer) -> float:
        """Give the prediction of one list."""
        first = answer.scores[: self.k]
        below = abs(tail_mean(answer.scores, self.share))
        if not 0 < below < math.inf:
            return math.nan
        if first[0] == first[-1]:  # rounding would leave a little
            return 0.0
        return float(first.std() / below)
