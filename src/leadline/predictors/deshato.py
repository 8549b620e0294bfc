"""DeShaTo as a predictor: the shape of the topic distribution of one list."""

from __future__ import annotations

import numpy as np

from leadline.errors import UsageError
from leadline.estimators.methods.deshato import DeShaTo as Shape
from leadline.estimators.pool import Pool
from leadline.naming import choice, whole
from leadline.predictors import VECTORS, Answer, Predictor

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
    formula = "kurtosis + skewness of sum, minimum and product of topic vectors"
    source = (
        "Ionescu, Chifu and Mothe 2015, section 2, equation 1 (the use is named in their section 4)"
    )
    low = -np.inf
    bare = "term"

    term: str = choice("total", *TERMS)
    depth: int = whole(30)

    def value(self, answer: Answer) -> float:
        """Give the score of one list."""
        if answer.theta is None or answer.row is None:
            raise UsageError("DeShaTo without topic vectors; expected --topics VECTORS")
        size = len(answer.row)
        pool = Pool(
            np.zeros(size, dtype=np.int32), np.arange(1, size + 1, dtype=np.int32),
            np.arange(size, dtype=np.int32), size, np.zeros(1, dtype=np.int32),
            theta=answer.theta, row=answer.row,
        )  # fmt: skip
        weights = {name: float(self.term in ("total", name)) for name in TERMS}
        shape = Shape(depth=self.depth, empty="skip", **weights)
        return float(shape.estimate(pool).values[0])

    def needs(self) -> frozenset[str]:
        """Say what it looks at beside the scores."""
        return frozenset([VECTORS])

    @classmethod
    def usual(cls) -> list[Predictor]:
        """Give the total and its six terms."""
        return [cls(term=term) for term in ("total", *TERMS)]
