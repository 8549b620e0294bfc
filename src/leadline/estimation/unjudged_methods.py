"""Estimators of effectiveness without judgments."""

from __future__ import annotations

import math
import sys
from math import comb
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.qrels import Qrels
from leadline.data.registry import Aliases, Parametric, Registry, choice, number, whole
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.estimation.system_lists import RankedPool


class UnjudgedEstimate(NamedTuple):
    """What is said of every system on one query: an estimate (larger is better), documents used, terms."""

    values: Floats
    used: Floats
    terms: dict[str, Floats]


class UnjudgedEstimator(Parametric):
    """An estimate of how good the list of a query is, from lists alone or from the topics of documents.

    `called` is its name in the literature. `voting` estimators look at what other systems found, and need
    `fewest` teams.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    called: ClassVar[str]
    voting: ClassVar[bool] = True
    fewest: ClassVar[int] = 2
    depth: int | None = None

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Give an estimate of every system on one query; a system without documents has 0."""
        raise NotImplementedError

    def check(self, teams: int) -> None:
        """Refuse too few systems."""
        if self.voting and teams < self.fewest:
            raise UsageError(
                f"{self.called} with {teams} system{'s' * (teams != 1)} (or teams); expected {self.fewest} "
                "or more, for systems vote on each other"
            )

    def check_topics(self, topics: int) -> None:
        """Refuse too few topics; voting estimators look at none."""


METHODS: Registry[UnjudgedEstimator] = Registry(sys.modules[__name__], UnjudgedEstimator, "method")


class NRuns(UnjudgedEstimator):
    """AP over pseudo-relevant documents: those that most runs have among their first `depth`.

    Documents that some run has in its first `depth` are ordered by the number of such runs (falling), the sum
    of their ranks there (rising) and id; the first `pseudo` are taken as relevant (the share `share` of
    them, when that is above 0). AP looks at whole lists, or at their first `eval_depth`. From 0 to 1.

    >>> pool = Pool.of([["a", "b"], ["a", "c"], ["c", "d"]])
    >>> NRuns(pseudo=2).estimate(pool).values  # a: ranks 1 + 1, c: ranks 2 + 1
    array([0.5, 1. , 0.5])
    """

    title = "votes of the first documents"
    formula = "AP over the documents that most runs have in their first k"
    source = "Sakai and Lin 2010 (depth 30); `pseudo` and the last tie rule are ours"
    called = "nruns"

    depth: int = whole(30)
    pseudo: int = whole(30)
    share: float = number(0.0, low=0.0, high=1.0)
    eval_depth: int | None = whole(None)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Give AP over the pseudo-relevant documents."""
        seen = pool.first(self.eval_depth)
        return UnjudgedEstimate(seen.average_precision(self.chosen(pool)), seen.lengths, {})

    def chosen(self, pool: RankedPool) -> Flags:
        """Say which documents count as relevant."""
        early = pool.first(self.depth)
        votes, ranks = early.votes(), early.votes(early.rank.astype(np.float64))
        order = np.lexsort((np.arange(pool.documents), ranks, -votes))
        order = order[: np.count_nonzero(votes)]
        most = math.ceil(self.share * len(order)) if self.share else self.pseudo
        found = np.zeros(pool.documents, dtype=np.bool_)
        found[order[:most]] = True
        return found


class Soboroff(UnjudgedEstimator):
    """AP over documents drawn at random from the pool, duplicates kept; the mean of `draws` draws.

    The pool holds the first `depth` documents of every run, one entry per run, so that a document that many
    found is drawn more easily. A draw takes entries until it has a share of the distinct documents, the
    share being normal with mean `share_mean` and deviation `share_sd` (cut to between one document and
    all). The same query has the same draws in any order of systems. From 0 to 1.

    >>> pool = Pool.of([["a", "b"], ["a", "c"], ["a", "d"]])
    >>> Soboroff(share_mean=1, share_sd=0).estimate(pool).values  # everything is drawn
    array([0.5, 0.5, 0.5])
    """

    title = "random pseudo-relevant documents"
    formula = "mean over draws of AP over documents drawn from the pool"
    source = "Soboroff, Nicholas and Cahan 2001, duplicates kept; 5 % and 3 % are ours"
    called = "soboroff"

    depth: int = whole(100)
    draws: int = whole(50)
    share_mean: float = number(0.05, low=0.0, high=1.0)
    share_sd: float = number(0.03, low=0.0, high=1.0)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Give the mean over draws of AP over the drawn documents."""
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
            # the first of n entries in a random order comes as early as the least of n exponential times
            times = rng.exponential(size=len(pooled)) / votes[pooled]
            relevant = np.zeros(pool.documents, dtype=np.bool_)
            relevant[pooled[np.argpartition(times, size - 1)[:size]]] = True
            values += seen.average_precision(relevant)
        return UnjudgedEstimate(values / self.draws, pool.lengths, {})


def shares_of(qrels: Qrels, *, rel: float = 1.0) -> tuple[float, float]:
    """Give mean and deviation over queries of the share of judged documents that are relevant."""
    judged = qrels.count(np.ones(len(qrels.grades), dtype=np.bool_)).astype(np.float64)
    known = judged > 0
    if not known.any():
        raise InputError("holds no judgments", expected="at least one", path=qrels.source)
    shares: Floats = qrels.relevant(rel)[known] / judged[known]
    return float(shares.mean()), float(shares.std())


class AslamSavell(UnjudgedEstimator):
    """The mean over other systems of |A and B| / |A or B|; 0 where both lists are empty. From 0 to 1.

    With teams, systems of one's own team are left out, and every other team counts once.

    >>> AslamSavell().estimate(Pool.of([["a", "b"], ["b", "c"], ["b"]])).values.round(4)
    array([0.4167, 0.4167, 0.5   ])
    """

    title = "likeness to the other systems"
    formula = "mean over other systems of |A and B| / |A or B|"
    source = "Aslam and Savell 2003"
    called = "aslam-savell"
    aliases: ClassVar[Aliases] = {"aslam-savell": {}}

    depth: int | None = whole(None)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Give the mean likeness to systems of other teams."""
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
    """The sum over the first `depth` documents of the number of other runs that have it there too.

    With teams it is the number of other teams, each run of a team bringing its share of one. From 0 to
    depth x (systems - 1): longer lists have more, so short ones are at a disadvantage.

    >>> ReferenceCount().estimate(Pool.of([["a", "b"], ["b", "c"], ["b"]])).values
    array([2., 2., 2.])
    """

    title = "references by other systems"
    formula = "sum over documents of the number of other runs that have it"
    source = "Wu and Crestani 2003, the basic method"
    called = "reference-count"
    aliases: ClassVar[Aliases] = {"reference-count": {}}

    depth: int = whole(100)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Count what other teams say of a system's documents."""
        pool = pool.first(self.depth)
        others = np.round(pool.votes()[pool.document] - pool.own_votes(), 9)
        return UnjudgedEstimate(pool.total(others), pool.lengths, {})


OTHERS = 4


class Spoerri(UnjudgedEstimator):
    """The share of a run's first `depth` documents that all of 4 other runs found too, less what none found.

    It is the exact mean over all groups of five that a run is in, where the paper draws random groups; the
    share is of the documents that a run has, up to `depth`. With teams, groups are of five teams, each
    standing with a random one of its runs. From -1 to 1; needs five systems (or teams).

    >>> lists = [["a", "b"], ["a"], ["a"], ["a"], ["a", "c"]]
    >>> Spoerri().estimate(Pool.of(lists)).values  # of a and b all have a, none has b
    array([0., 1., 1., 1., 0.])
    """

    title = "structure of overlap in groups of five"
    formula = "share of documents that all five have - share that it alone has"
    source = "Spoerri 2007; all groups instead of random ones"
    called = "spoerri"
    fewest = OTHERS + 1

    depth: int = whole(50)

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Give the two shares and their difference."""
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
        everyone = four_of(*powers) / groups
        nobody = four_of(*_left_out(teams - 1, *powers)) / groups
        used = pool.lengths
        shares = [
            np.divide(pool.total(part), used, out=np.zeros_like(used), where=used > 0)
            for part in (everyone, nobody)
        ]
        return UnjudgedEstimate(shares[0] - shares[1], used, {"all five": shares[0], "alone": shares[1]})


def four_of(first: Floats, second: Floats, third: Floats, fourth: Floats) -> Floats:
    """Give the sum of products over all groups of four numbers, from the sums of their powers.

    Newton's identity: e4 = (p1^4 - 6 p1^2 p2 + 3 p2^2 + 8 p1 p3 - 6 p4) / 24; for zeros and ones it is the
    number of groups of four ones.

    >>> four_of(*(np.array([5.0]),) * 4)
    array([5.])
    """
    found = (first**4 - 6 * first**2 * second + 3 * second**2 + 8 * first * third - 6 * fourth) / 24
    rounded: Floats = np.maximum(np.round(found, 6), 0.0)
    return rounded


def _left_out(
    size: int, first: Floats, second: Floats, third: Floats, fourth: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Give the sums of powers of 1 - x from those of `size` numbers x."""
    return (
        size - first,
        size - 2 * first + second,
        size - 3 * first + 3 * second - third,
        size - 4 * first + 6 * second - 4 * third + fourth,
    )


FEWEST_TOPICS = 3
FLAT = 1e-12  # of the largest component: the mean of equal floats may be off by one unit


class Cumulated(NamedTuple):
    """Sum, minimum and product of the topic vectors of every system: systems x T each, and how many."""

    total: Floats
    least: Floats
    product: Floats
    used: Floats


class DeShaTo(UnjudgedEstimator):
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

    def estimate(self, pool: RankedPool) -> UnjudgedEstimate:
        """Give the score and its six terms."""
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
        """Refuse fewer than three topics: of two numbers the shape is always the same."""
        if self.of == "shape" and topics < FEWEST_TOPICS:
            raise UsageError(
                f"{self.called} with {counted(topics, 'topic')}; expected {FEWEST_TOPICS} or more, for two "
                "numbers are always of one shape"
            )

    def _with_vectors(self, pool: RankedPool) -> RankedPool:
        """Keep the documents that have a vector, of the first ones or the first of them."""
        if pool.theta is None or pool.row is None:
            raise UsageError("deshato without topic vectors; expected --topics VECTORS or --docs DOCS")
        self.check_topics(pool.theta.shape[1])
        known = pool.row >= 0
        pool = pool.first(self.depth) if self.missing == "skip" else pool
        pool = pool.where(known[pool.document])
        if self.missing == "skip":
            return pool
        starts = np.searchsorted(pool.system, pool.system)
        pool = pool._replace(rank=(np.arange(1, len(pool.system) + 1) - starts).astype(np.int32))
        return pool.first(self.depth)


def cumulate(pool: RankedPool) -> Cumulated:
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
