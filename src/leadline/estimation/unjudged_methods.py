"""Methods that rank systems without relevance judgments."""

from __future__ import annotations

import math
import sys
from math import comb
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.registry import Aliases, Parametric, Registry, choice, number, whole
from leadline.errors import UsageError
from leadline.estimation.system_lists import RankedPool
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.io.objects import Qrels


class UnjudgedEstimate(NamedTuple):
    """Estimates of all systems for one query."""

    values: Floats  # scores; larger is better
    used: Floats  # number of documents used
    terms: dict[str, Floats]  # terms of the score, if any


class UnjudgedEstimator(Parametric):
    """A method that scores ranked lists without relevance judgments."""

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    called: ClassVar[str]  # name in the literature
    voting: ClassVar[bool] = True  # whether the method uses the lists of other systems
    fewest: ClassVar[int] = 2  # minimum number of systems (or teams)
    depth: int | None = None

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Return the estimates of all systems for one query; 0 for systems without documents."""
        raise NotImplementedError

    def check(self, voters: int, noun: str = "systems") -> None:
        """Raise UsageError if there are too few systems, or teams."""
        if self.voting and voters < self.fewest:
            raise UsageError(f"method {self.called} needs at least {self.fewest} {noun}, not {voters}")

    def check_topics(self, topics: int) -> None:
        """Raise UsageError if there are too few topics; voting methods use none."""


METHODS: Registry[UnjudgedEstimator] = Registry(sys.modules[__name__], UnjudgedEstimator, "method")


class NRuns(UnjudgedEstimator):
    """AP with pseudo-relevant documents: those retrieved by most runs at ranks up to `depth`.

    Documents at ranks up to `depth` of any run are sorted by the number of such runs (descending), the sum
    of their ranks (ascending) and id. The first `pseudo` are considered relevant (or a share `share` of them,
    if above 0). AP is computed over complete lists, or over the first `eval_depth` documents.

    >>> from leadline import unjudged
    >>> runs = [{"q": ["a", "b"]}, {"q": ["a", "c"]}, {"q": ["c", "d"]}]
    >>> unjudged(runs, method=NRuns(pseudo=2)).scores  # a: ranks 1 + 1, c: ranks 2 + 1
    array([0.5, 1. , 0.5])
    """

    title = "votes for the top documents"
    formula = "AP, counting as relevant the documents in the top `depth` of the most runs"
    source = "Sakai and Lin 2010 (depth 30); `pseudo` and the last tie rule are ours"
    called = "nruns"

    depth: int = whole(30)
    pseudo: int = whole(30)
    share: float = number(0.0, low=0.0, high=1.0)
    eval_depth: int | None = whole(None)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        seen = pool.first(self.eval_depth)
        return UnjudgedEstimate(seen.average_precision(self.pseudo_relevant(pool)), seen.lengths, {})

    def pseudo_relevant(self, pool: RankedPool) -> Flags:
        """Return flags of the pseudo-relevant documents."""
        early = pool.first(self.depth)
        votes, ranks = early.votes(), early.votes(early.rank.astype(np.float64))
        order = np.lexsort((np.arange(pool.documents), ranks, -votes))
        order = order[: np.count_nonzero(votes)]
        most = math.ceil(self.share * len(order)) if self.share else self.pseudo
        flags = np.zeros(pool.documents, dtype=np.bool_)
        flags[order[:most]] = True
        return flags


class Soboroff(UnjudgedEstimator):
    """Mean AP with pseudo-relevant documents drawn at random from the pool with duplicates.

    The pool contains the first `depth` documents of each run, one entry per run. Entries are drawn until a
    given share of the distinct documents is reached. The share is normally distributed with mean
    `share_mean` and standard deviation `share_sd`, limited to at least one document and at most all of them.
    Draws do not depend on the order of systems.

    >>> from leadline import unjudged
    >>> runs = [{"q": ["a", "b"]}, {"q": ["a", "c"]}, {"q": ["a", "d"]}]
    >>> unjudged(runs, method=Soboroff(share_mean=1, share_sd=0)).scores  # everything is drawn
    array([0.5, 0.5, 0.5])
    """

    title = "random pseudo-relevant documents"
    formula = "mean AP over draws, counting as relevant the documents drawn from the pool"
    source = "Soboroff, Nicholas and Cahan 2001, duplicates kept; 5 % and 3 % are ours"
    called = "soboroff"

    depth: int = whole(100)
    draws: int = whole(50)
    share_mean: float = number(0.05, low=0.0, high=1.0)
    share_sd: float = number(0.03, low=0.0, high=1.0)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        votes = pool.first(self.depth).votes()
        pooled = np.flatnonzero(votes)
        values = np.zeros(pool.systems)
        if not len(pooled):
            return UnjudgedEstimate(values, pool.lengths, {})
        rng = np.random.default_rng(pool.seed)
        shares = rng.normal(self.share_mean, self.share_sd, self.draws)
        sizes = np.clip(np.rint(shares * len(pooled)), 1, len(pooled)).astype(np.int64)
        seen = pool.where(votes[pool.document] > 0)  # only pooled documents can be drawn
        for size in sizes.tolist():
            # the first of n entries in random order corresponds to the minimum of n exponential times
            times = rng.exponential(size=len(pooled)) / votes[pooled]
            relevant = np.zeros(pool.documents, dtype=np.bool_)
            relevant[pooled[np.argpartition(times, size - 1)[:size]]] = True
            values += seen.average_precision(relevant)
        return UnjudgedEstimate(values / self.draws, pool.lengths, {})


def relevant_shares(qrels: Qrels, *, rel: float = 1.0) -> tuple[float, float]:
    """Return mean and standard deviation over queries of the share of relevant among judged documents."""
    refuse_sample(qrels)
    judged = qrels.count(np.ones(len(qrels.grades), dtype=np.bool_)).astype(np.float64)
    has_judgments = judged > 0
    shares: Floats = qrels.relevant(rel)[has_judgments] / judged[has_judgments]
    return float(shares.mean()), float(shares.std())


class AslamSavell(UnjudgedEstimator):
    """Mean Jaccard similarity |A and B| / |A or B| with the other systems; 0 for two empty lists.

    With teams, systems of the same team are excluded, and every other team has weight 1.

    >>> from leadline import unjudged
    >>> runs = [{"q": ["a", "b"]}, {"q": ["b", "c"]}, {"q": ["b"]}]
    >>> unjudged(runs, method="aslam-savell").scores.round(4)
    array([0.4167, 0.4167, 0.5   ])
    """

    title = "similarity to the other systems"
    formula = "mean over other systems of |A and B| / |A or B|; A and B are the sets of retrieved documents"
    source = "Aslam and Savell 2003"
    called = "aslam-savell"
    aliases: ClassVar[Aliases] = {"aslam-savell": {}}

    depth: int | None = whole(None)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        pool = pool.first(self.depth)
        holds = np.zeros((pool.systems, pool.documents), dtype=np.float32)
        holds[pool.system, pool.document] = 1
        both = (holds @ holds.T).astype(np.float64)  # counts are exact up to 2**24
        sizes = both.diagonal()
        either = sizes[:, None] + sizes - both
        alike = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
        others = np.where(pool.team[:, None] != pool.team, pool.weight, 0.0)
        # sorted, so that the order of systems cannot matter
        parts = np.sort(alike * others, axis=1).sum(axis=1)
        return UnjudgedEstimate(parts / np.sort(others, axis=1).sum(axis=1), sizes, {})


class ReferenceCount(UnjudgedEstimator):
    """Sum over the first `depth` documents of the number of other runs that also retrieve them there.

    With teams, the weights of the runs of a team sum to 1, and the own team is excluded. The range is 0 to
    depth x (systems - 1), so that short lists have low scores.

    >>> from leadline import unjudged
    >>> runs = [{"q": ["a", "b"]}, {"q": ["b", "c"]}, {"q": ["b"]}]
    >>> unjudged(runs, method="reference-count").scores
    array([2., 2., 2.])
    """

    title = "references by other systems"
    formula = "sum over documents of the number of other runs that retrieve the document"
    source = "Wu and Crestani 2003, the basic method"
    called = "reference-count"
    aliases: ClassVar[Aliases] = {"reference-count": {}}

    depth: int = whole(100)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        pool = pool.first(self.depth)
        others = np.round(pool.votes()[pool.document] - pool.own_votes(), 9)
        return UnjudgedEstimate(pool.total(others), pool.lengths, {})


OTHERS = 4


class Spoerri(UnjudgedEstimator):
    """Share of the first `depth` documents retrieved by all of 4 other runs, minus the share of none.

    The mean over all groups of five runs is computed exactly; the paper draws random groups. With teams,
    groups consist of five teams, each represented by one of its runs at random. The range is -1 to 1; at
    least five systems (or teams) are needed.

    >>> from leadline import unjudged
    >>> runs = [{"q": ["a", "b"]}, {"q": ["a"]}, {"q": ["a"]}, {"q": ["a"]}, {"q": ["a", "c"]}]
    >>> unjudged(runs, method="spoerri").scores  # document a is in all lists, b in one only
    array([0., 1., 1., 1., 0.])
    """

    title = "overlap structure in groups of five"
    formula = (
        "mean over groups of five runs: share of documents found by all, minus share found only by this run"
    )
    source = "Spoerri 2007; all groups instead of random ones"
    called = "spoerri"
    fewest = OTHERS + 1

    depth: int = whole(50)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        pool = pool.first(self.depth)
        teams = len(np.unique(pool.team))
        key = pool.team[pool.system].astype(np.int64) * pool.documents + pool.document
        pairs, group = np.unique(key, return_inverse=True)
        share = np.bincount(group, pool.weight[pool.system])  # of a team's runs that have a document
        holder = (pairs % pool.documents).astype(np.int64) if pool.documents else pairs
        powers = [
            np.round(np.bincount(holder, share**p, minlength=pool.documents)[pool.document], 9)
            - np.round(share[group] ** p, 9)
            for p in range(1, OTHERS + 1)
        ]
        groups = comb(teams - 1, OTHERS)
        everyone = fourfold_products(*powers) / groups
        nobody = fourfold_products(*_left_out(teams - 1, *powers)) / groups
        used = pool.lengths
        shares = [
            np.divide(pool.total(part), used, out=np.zeros_like(used), where=used > 0)
            for part in (everyone, nobody)
        ]
        return UnjudgedEstimate(shares[0] - shares[1], used, {"all five": shares[0], "alone": shares[1]})


def fourfold_products(first: Floats, second: Floats, third: Floats, fourth: Floats) -> Floats:
    """Return the elementary symmetric polynomial e4 from the power sums p1 to p4 (Newton's identity).

    e4 = (p1^4 - 6 p1^2 p2 + 3 p2^2 + 8 p1 p3 - 6 p4) / 24.

    >>> fourfold_products(*(np.array([5.0]),) * 4)
    array([5.])
    """
    products = (first**4 - 6 * first**2 * second + 3 * second**2 + 8 * first * third - 6 * fourth) / 24
    rounded: Floats = np.maximum(np.round(products, 6), 0.0)
    return rounded


def _left_out(
    size: int, first: Floats, second: Floats, third: Floats, fourth: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the power sums of 1 - x from those of `size` numbers x."""
    return (
        size - first,
        size - 2 * first + second,
        size - 3 * first + 3 * second - third,
        size - 4 * first + 6 * second - 4 * third + fourth,
    )


FEWEST_TOPICS = 3
FLAT = 1e-12  # tolerance for equal components, relative to the largest


class Cumulated(NamedTuple):
    """Sum, minimum and product of the topic vectors of each system (systems x T), and their number."""

    total: Floats
    least: Floats
    product: Floats
    used: Floats


NO_VECTORS = "method deshato needs topic vectors. Add `--topics VECTORS` or `--docs DOCUMENTS`."


class DeShaTo(UnjudgedEstimator):
    """k(S) + s(S) + k(M) + s(M) + k(P) + s(P) over the first `depth` documents.

    S, M and P are the component-wise sum, minimum and product of the topic distributions; k is the kurtosis
    m4 / m2^2 (not excess kurtosis) and s the skewness m3 / m2^1.5 of the T components, with population
    moments. Both are scale-invariant, so that normalization of S, M and P has no effect. The product is
    computed in logarithms. Vectors with equal components, or without mass, have k = s = 0. Distributions
    dominated by few topics have large values, and so have short lists.

    `sum_k` ... `product_s` are the weights of the six terms. `of=sd` uses the standard deviation of the
    normalized vectors instead (`of=mean` their mean, 1/T for all vectors with mass). Documents without a
    vector are skipped; `missing=fill` replaces them by the next ones. The score of a list without vectors is
    0, or undefined (`empty=skip`).

    References
    ----------
    Ionescu, Chifu and Mothe (2015), section 2, equation 1.

    Examples
    --------
    >>> from leadline import unjudged
    >>> from leadline.topics.infer import Vectors
    >>> topics = Vectors(["a", "b", "c"], np.array([[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]]))
    >>> runs = [{"q": ["a", "b"]}, {"q": ["a", "c"]}]
    >>> unjudged(runs, method="deshato", vectors=topics).scores.round(4)  # a and b share a topic
    array([6.6213, 1.5858])
    """

    title = "shape of cumulative topic distributions"
    formula = "kurtosis + skewness of the sum, minimum and product of topic vectors"
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

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        made = cumulate(self._with_vectors(pool))
        terms: dict[str, Floats] = {}
        weights = (self.sum_k, self.sum_s, self.least_k, self.least_s, self.product_k, self.product_s)
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
        return UnjudgedEstimate(values, made.used, terms)

    def check_topics(self, topics: int) -> None:
        """Raise UsageError for fewer than three topics: the shape of two numbers is constant."""
        if self.of == "shape" and topics < FEWEST_TOPICS:
            raise UsageError(
                f"method {self.called} needs topic vectors of at least {FEWEST_TOPICS} dimensions, "
                f"not {topics}"
            )

    def _with_vectors(self, pool: RankedPool) -> RankedPool:
        """Return the documents that have a vector, among the first `depth` or filled up to `depth`."""
        if pool.theta is None or pool.row is None:
            raise UsageError(NO_VECTORS)
        self.check_topics(pool.theta.shape[1])
        has_vector = pool.row >= 0
        pool = pool.first(self.depth) if self.missing == "skip" else pool
        pool = pool.where(has_vector[pool.document])
        if self.missing == "skip":
            return pool
        starts = np.searchsorted(pool.system, pool.system)
        pool = pool._replace(rank=(np.arange(1, len(pool.system) + 1) - starts).astype(np.int32))
        return pool.first(self.depth)


def cumulate(pool: RankedPool) -> Cumulated:
    """Return the sum, minimum and product of the topic vectors of each system.

    The product is divided by its largest component.
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
        rows = order[low:high]  # one document of each system with a list of this length
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
    """Return kurtosis and skewness of the components of each row; 0 if they are equal or all 0.

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
    """Return mean and standard deviation of the components of each row, normalized to sum 1."""
    mass = vectors.sum(axis=1)
    part = vectors / np.where(mass > 0, mass, 1.0)[:, None]
    return part.mean(axis=1), part.std(axis=1)


def saturation(topics: int) -> float:
    """Return the largest kurtosis of T components, that of a unit vector: (T^2 - 3T + 3) / (T - 1).

    >>> saturation(4).__round__(4)
    2.3333
    """
    return (topics**2 - 3 * topics + 3) / (topics - 1) if topics > 1 else 0.0
