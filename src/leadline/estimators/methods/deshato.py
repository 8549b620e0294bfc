"""DeShaTo: the shape of the topic distribution of what a system retrieved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.estimators.methods import Estimate, Estimator
from leadline.estimators.pool import Pool
from leadline.naming import choice, number, whole
from leadline.wording import counted

FEWEST_TOPICS = 3
FLAT = 1e-12  # of the largest component: the mean of equal floats may be off by one unit


class Cumulated(NamedTuple):
    """Sum, minimum and product of the topic vectors of every system: systems x T each, and how many."""

    total: Floats
    least: Floats
    product: Floats
    used: Floats


class DeShaTo(Estimator):
    """k(S) + s(S) + k(M) + s(M) + k(P) + s(P) over the first `depth` documents.

    S, M and P are the component-wise sum, minimum and product of their topic distributions; k is the
    kurtosis m4 / m2^2 (not the excess) and s the skewness m3 / m2^1.5 of the T components taken as T
    numbers, with moments that divide by T. Both are free of scale, so it does not matter that the paper
    normalises S, M and P. The product is made of logarithms. A vector of equal components, or without mass,
    has k = s = 0. Few predominant topics give large values.

    `sum_k` ... `product_s` weigh the six terms. `of=sd` takes the standard deviation of the normalised
    vectors instead (`of=mean` their mean, which is 1/T for all vectors with mass: it says nothing). Documents
    without a vector are passed over; `missing=fill` takes the next ones in their place. A list without
    any has 0, or none (`empty=skip`). Short lists have large values: look at the documents used.

    Source: Ionescu, Chifu and Mothe 2015, section 2, equation 1.

    >>> topics = {"a": [0.8, 0.1, 0.1], "b": [0.6, 0.2, 0.2], "c": [0.1, 0.8, 0.1]}
    >>> pool = Pool.of([["a", "b"], ["a", "c"]], vectors=topics)
    >>> DeShaTo().estimate(pool).values.round(4)  # a and b are of one topic
    array([6.6213, 1.5858])
    """

    title = "shape of cumulative topic distributions"
    formula = "kurtosis + skewness of sum, minimum and product of topic vectors"
    source = "Ionescu, Chifu and Mothe 2015, section 2, equation 1"
    called = "deshato"
    voting = False
    fewest = 1

    depth: int = whole(30)
    of: str = choice("shape", "sd", "mean")
    missing: str = choice("skip", "fill")
    empty: str = choice("zero", "skip")
    sum_k: float = number(1.0)
    sum_s: float = number(1.0)
    least_k: float = number(1.0)
    least_s: float = number(1.0)
    product_k: float = number(1.0)
    product_s: float = number(1.0)

    def estimate(self, pool: Pool) -> Estimate:
        """Give the score and its six terms."""
        made = cumulate(self._with_vectors(pool))
        terms: dict[str, Floats] = {}
        weights = (
            self.sum_k,
            self.sum_s,
            self.least_k,
            self.least_s,
            self.product_k,
            self.product_s,
        )
        for name, vectors in zip("SMP", made[:3], strict=True):
            if self.of == "shape":
                terms[f"k({name})"], terms[f"s({name})"] = shape(vectors)
            else:
                terms[f"{self.of}({name})"] = spread(vectors)[self.of == "sd"]
        chosen = weights if self.of == "shape" else weights[::2]
        values = np.zeros(pool.systems)
        for weight, term in zip(chosen, terms.values(), strict=True):
            values += weight * term
        if self.empty == "skip":
            values[made.used == 0] = np.nan
        return Estimate(values, made.used, terms)

    def check_topics(self, topics: int) -> None:
        """Refuse fewer than three topics: of two numbers the shape is always the same."""
        if self.of == "shape" and topics < FEWEST_TOPICS:
            raise UsageError(
                f"{self.called} with {counted(topics, 'topic')}; expected {FEWEST_TOPICS} or more, for two "
                "numbers are always of one shape"
            )

    def _with_vectors(self, pool: Pool) -> Pool:
        """Keep the documents that have a vector, of the first ones or the first of them."""
        if pool.theta is None or pool.row is None:
            raise UsageError(
                "deshato without topic vectors; expected --topics VECTORS or --docs DOCS"
            )
        self.check_topics(pool.theta.shape[1])
        known = pool.row >= 0
        pool = pool.first(self.depth) if self.missing == "skip" else pool
        pool = pool.where(known[pool.document])
        if self.missing == "skip":
            return pool
        starts = np.searchsorted(pool.system, pool.system)
        pool = pool._replace(rank=(np.arange(1, len(pool.system) + 1) - starts).astype(np.int32))
        return pool.first(self.depth)


def cumulate(pool: Pool) -> Cumulated:
    """Add, take the least of, and multiply topic vectors, rank after rank.

    The product is scaled by its largest component.
    """
    assert pool.theta is not None
    assert pool.row is not None
    width = pool.theta.shape[1]
    needed, row = np.unique(pool.row[pool.document], return_inverse=True)
    theta = pool.theta[needed]
    with np.errstate(divide="ignore"):
        logs = np.log(theta)
    total, product = np.zeros((pool.systems, width)), np.zeros((pool.systems, width))
    least = np.full((pool.systems, width), np.inf)
    order = np.argsort(pool.rank, kind="stable")
    ends = np.cumsum(np.bincount(pool.rank)) if len(order) else np.zeros(1, dtype=np.int64)
    for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        rows = order[low:high]  # one document of every system that is so long
        system = pool.system[rows]
        add = theta[row[rows]]
        total[system] += add
        least[system] = np.minimum(least[system], add)
        product[system] += logs[row[rows]]
    used = pool.lengths
    none = used == 0
    least[none], product[none] = 0.0, -np.inf
    largest = product.max(axis=1, keepdims=True, initial=-np.inf)
    scaled = np.exp(product - np.where(np.isfinite(largest), largest, 0.0))
    return Cumulated(total, least, scaled, used)


def shape(vectors: Floats) -> tuple[Floats, Floats]:
    """Give kurtosis and skewness of the components of each row; 0 where they are equal or have no mass.

    >>> kurtosis, skewness = shape(np.array([[0.0, 0.0, 0.0, 1.0], [0.25, 0.25, 0.25, 0.25]]))
    >>> kurtosis.round(4), skewness.round(4)
    (array([2.3333, 0.    ]), array([1.1547, 0.    ]))
    """
    largest = vectors.max(axis=1)
    flat = (largest - vectors.min(axis=1) <= FLAT * largest) | ~(largest > 0)
    part = vectors / np.where(flat, 1.0, largest)[:, None]
    part -= part.mean(axis=1, keepdims=True)
    squares = part * part
    second = np.where(flat, 1.0, squares.mean(axis=1))
    kurtosis = (squares * squares).mean(axis=1) / second**2
    skewness = (squares * part).mean(axis=1) / second**1.5
    return np.where(flat, 0.0, kurtosis), np.where(flat, 0.0, skewness)


def spread(vectors: Floats) -> tuple[Floats, Floats]:
    """Give mean and standard deviation of the components of each row after it was made to add up to 1."""
    mass = vectors.sum(axis=1)
    part = vectors / np.where(mass > 0, mass, 1.0)[:, None]
    return part.mean(axis=1), part.std(axis=1)


def saturation(topics: int) -> float:
    """Give the largest kurtosis of T components, that of one component alone: (T^2 - 3T + 3) / (T - 1).

    >>> saturation(4).__round__(4)
    2.3333
    """
    return (topics**2 - 3 * topics + 3) / (topics - 1) if topics > 1 else 0.0
