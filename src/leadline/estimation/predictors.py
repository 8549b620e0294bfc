"""Query performance predictors (QPP), computed from one ranked list."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Floats
from leadline.data.registry import Parametric, Registry, choice, number, whole
from leadline.errors import UsageError
from leadline.estimation.system_lists import RankedPool
from leadline.estimation.unjudged_methods import DeShaTo as Shape
from leadline.retrieval.models import Query

INDEX, VECTORS = "index", "vectors"  # data that predictors may need in addition to scores


class Answer(NamedTuple):
    """The ranked list of a system for one query; unavailable data are None.

    `scores` fall. `query` holds the terms of the query. `row` says which of the topic vectors `theta` each
    document has (-1: none).
    """

    scores: Floats
    query: Query | None = None
    theta: Floats | None = None
    row: Codes | None = None

    @classmethod
    def of(cls, scores: Sequence[float]) -> Answer:
        """Create an answer from scores alone.

        >>> Answer.of([3, 1]).scores
        array([3., 1.])
        """
        return cls(np.array(scores, dtype=np.float64))


class Predictor(Parametric):
    """A query performance predictor; larger values predict better performance.

    `low` is the smallest possible value. Means over queries exclude undefined values.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    rising: ClassVar[bool] = True
    average: ClassVar[str] = "defined"

    def value(self, answer: Answer) -> float:
        """Return the prediction for one list; NaN where undefined."""
        raise NotImplementedError

    def needs(self) -> frozenset[str]:
        """Return the data needed in addition to scores: `index` (with the query text), `vectors`."""
        return frozenset()

    @classmethod
    def usual(cls) -> list[Predictor]:
        """Return the variants that are used by default."""
        return [cls()]


PREDICTORS: Registry[Predictor] = Registry(sys.modules[__name__], Predictor, "predictor")


def tail_mean(scores: Floats, share: float) -> float:
    """Return the mean of the last `share` of the scores, of at least one.

    NaN for fewer than two scores, and where one is infinite.

    >>> tail_mean(np.array([5.0, 4.0, 2.0, 1.0]), 0.5)
    1.5
    """
    if len(scores) < 2 or not np.isfinite(scores).all():
        return math.nan
    last = max(1, round(share * len(scores)))
    return float(scores[len(scores) - last :].mean())


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

    title = "normalized spread of the top scores"
    formula = "sd(s_1 ... s_k) / |mean score of the tail|"
    source = "Shtok, Kurland, Carmel, Raiber and Markovits 2012; the tail and `share` are ours"
    positional = "norm"

    norm: str = choice("tail")
    k: int = whole(100)
    share: float = number(0.1, low=0.0, high=1.0)

    def value(self, answer: Answer) -> float:
        first = answer.scores[: self.k]
        below = abs(tail_mean(answer.scores, self.share))
        if not 0 < below < math.inf:
            return math.nan
        if first[0] == first[-1]:  # rounding would leave a little
            return 0.0
        return float(first.std() / below)


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
    positional = "norm"

    norm: str = choice("tail")
    k: int = whole(5)
    share: float = number(0.1, low=0.0, high=1.0)
    length: str = choice("ignored", "root")

    def value(self, answer: Answer) -> float:
        below = tail_mean(answer.scores, self.share)
        if math.isnan(below):
            return math.nan
        gain = max(0.0, float(answer.scores[: self.k].mean()) - below)  # rounding may go below 0
        if self.length == "ignored":
            return gain
        size = 0 if answer.query is None else len(answer.query.sequence)
        return gain / math.sqrt(size) if size else math.nan

    def needs(self) -> frozenset[str]:
        return frozenset([INDEX] if self.length == "root" else [])

    @classmethod
    def usual(cls) -> list[Predictor]:
        return [cls(), cls(length="root")]


TERMS = ("sum_k", "sum_s", "least_k", "least_s", "product_k", "product_s")


class DeShaTo(Predictor):
    """DeShaTo's score of one list, or one of its six terms.

    `total` is k(S) + s(S) + k(M) + s(M) + k(P) + s(P) over the first `depth` documents, `sum_k` is k(S),
    `least_s` is s(M), `product_k` is k(P) and so on, as `leadline unjudged --method deshato` has them.
    Documents without a topic vector are passed over; a list without any is undefined here, where the
    estimator of systems gives it 0. Kurtosis is 1 or more and larger than the squared skewness, so that the
    total is above 0; where all topics are equal it is 0. Skewness may be below 0. Short lists have large
    values.
    """

    title = "shape of the cumulative topic distribution"
    formula = "kurtosis + skewness of the sum, minimum and product of topic vectors"
    source = (
        "Ionescu, Chifu and Mothe 2015, section 2, equation 1 (section 4 mentions its use as a predictor)"
    )
    low = -np.inf
    positional = "term"

    term: str = choice("total", *TERMS)
    depth: int = whole(30)

    def value(self, answer: Answer) -> float:
        if answer.theta is None or answer.row is None:
            raise UsageError("DeShaTo needs topic vectors. Pass an Answer with `theta` and `row`.")
        size = len(answer.row)
        pool = RankedPool(
            np.zeros(size, dtype=np.int32),
            np.arange(1, size + 1, dtype=np.int32),
            np.arange(size, dtype=np.int32),
            size,
            np.zeros(1, dtype=np.int32),
            theta=answer.theta,
            row=answer.row,
        )
        weights: dict[str, Any] = {name: float(self.term in ("total", name)) for name in TERMS}
        shape = Shape(depth=self.depth, empty="skip", **weights)
        return float(shape.estimate(pool).values[0])

    def needs(self) -> frozenset[str]:
        return frozenset([VECTORS])

    @classmethod
    def usual(cls) -> list[Predictor]:
        return [cls(term=term) for term in ("total", *TERMS)]
