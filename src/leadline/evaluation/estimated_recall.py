"""How many documents are relevant, and how many of them a run found, from judgments of a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.data.results import ResultWarning, plain
from leadline.errors import UsageError


class RecallEstimate(NamedTuple):
    """An estimate and its interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Return it as plain data."""
        return {name: plain(value) for name, value in self._asdict().items()}


class Weighed(NamedTuple):
    """A sum of weights 1/p: what was certain, what was drawn, its variance, and the largest weight."""

    certain: float
    drawn: float
    variance: float
    largest: float

    @property
    def total(self) -> float:
        """Return the estimate."""
        return self.certain + self.drawn

    def limits(self, confidence: float) -> tuple[float, float]:
        """Return the gamma interval of the sum (Fay and Feuer 1997)."""
        from scipy.special import gammaincinv

        tail = (1 - confidence) / 2

        def quantile(mean: float, variance: float, share: float) -> float:
            """Return a quantile of the gamma distribution of this mean and variance."""
            return float(gammaincinv(mean**2 / variance, share)) * variance / mean if variance else mean

        low = quantile(self.drawn, self.variance, tail) if self.drawn else 0.0
        mean, variance = self.drawn + self.largest, self.variance + self.largest**2
        high = quantile(mean, variance, 1 - tail) if mean else 0.0
        return self.certain + min(low, self.drawn), self.certain + max(high, self.drawn)


def weighed(qrels: Qrels, chosen: Flags) -> Weighed:
    """Add up the weights of some judged documents; those without a known probability are left out.

    The Horvitz-Thompson sum of 1/p is unbiased for what it stands for: every document of the collection is in
    it with probability p, and counts 1/p when it is. Its variance is estimated by the sum of (1 - p)/p^2,
    which is exact in expectation for independent draws and a little too large for draws without replacement.
    `largest` is the weight of one further document, of all that were drawn, 0 where nothing was.
    """
    share = probabilities(qrels)
    drawn = chosen & (share < 1)
    weight = 1 / share[drawn]
    known = share[share < 1]
    return Weighed(
        float((chosen & (share == 1)).sum()),
        float(weight.sum()),
        float(((1 - share[drawn]) * weight**2).sum()),
        float((1 / known).max(initial=0.0)),
    )


def probabilities(qrels: Qrels) -> Floats:
    """Return the probability of every judged document to be judged; an error when nobody said."""
    if qrels.inclusion is None:
        raise UsageError(
            "these qrels have no inclusion probabilities; expected a column probability, or a pool"
        )
    return qrels.inclusion


def relevant(qrels: Qrels, rel: float = 1.0, *, confidence: float = 0.95) -> RecallEstimate:
    """Estimate the mean number of relevant documents of a query: R, where only a sample was judged.

    The sum over judged relevant documents of 1/p (Horvitz and Thompson 1952), divided by the number of
    queries. The interval is over draws, for these queries.

    >>> qrels = Qrels.of([(b"q", b"d1", 1.0), (b"q", b"d2", 1.0), (b"q", b"d3", 0.0)])
    >>> found = relevant(qrels.with_inclusion({"q": {"d1": 1.0, "d2": 0.1, "d3": 0.1}}))
    >>> found.value  # one for certain, and one that stands for ten
    11.0
    """
    found = weighed(qrels, qrels.grades >= rel)
    size = len(qrels.queries)
    return RecallEstimate(found.total / size, *(limit / size for limit in found.limits(confidence)))


def recall(
    judged: JudgedRun, rel: float = 1.0, cutoff: int | None = None, *, confidence: float = 0.95
) -> RecallEstimate:
    """Estimate recall over all queries: relevant documents found / relevant documents, both estimated.

    F and N are the Horvitz-Thompson sums over the relevant documents found and not found; recall is
    F / (F + N). A mean of the recalls of single queries would be biased as long as most queries have no
    relevant document among the drawn ones, so this one is a ratio of sums over all queries, which weighs
    queries by their relevant documents; its own bias falls with the relevant documents drawn in all. The
    interval is over draws: those of F and N put together on the scale of ln F - ln N (Zou and Donner 2008).
    """
    qrels = judged.qrels
    rows = judged.row[(judged.grade >= rel) & (judged.rank <= (cutoff or math.inf))]
    found = np.zeros(len(qrels.grades), dtype=np.bool_)
    found[rows] = True
    inside, outside = weighed(qrels, found), weighed(qrels, ~found & (qrels.grades >= rel))
    return ratio(inside, outside, confidence)


def ratio(inside: Weighed, outside: Weighed, confidence: float) -> RecallEstimate:
    """Return F / (F + N) with its interval, from two sums of which one at least is not 0."""
    (f_low, f_high), (n_low, n_high) = inside.limits(confidence), outside.limits(confidence)
    f, n = inside.total, outside.total
    if not f + n:
        return RecallEstimate(math.nan, math.nan, math.nan)
    if not f:
        return RecallEstimate(0.0, 0.0, _share(f_high, n_low))
    if not n:
        return RecallEstimate(1.0, _share(f_low, n_high), 1.0)
    middle = math.log(f) - math.log(n)
    below = math.hypot(math.log(f) - _log(f_low), _log(n_high) - math.log(n))
    above = math.hypot(_log(f_high) - math.log(f), math.log(n) - _log(n_low))
    return RecallEstimate(f / (f + n), _logistic(middle - below), _logistic(middle + above))


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else math.nan


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


class RecallEstimates(NamedTuple):
    """What is estimated beside the measures: R by level, and recall by run and measure of recall."""

    relevant: dict[float, RecallEstimate]
    recall: list[dict[str, RecallEstimate]]
    confidence: float

    def of_run(self, place: int) -> dict[str, Any]:
        """Return what is estimated of a run as plain data."""
        return {name: found.to_dict() for name, found in self.recall[place].items()}

    def of_all(self) -> list[dict[str, Any]]:
        """Return the estimated numbers of relevant documents as plain data."""
        return [{"rel": rel} | found.to_dict() for rel, found in self.relevant.items()]


def with_pool(qrels: Qrels, pool: Mapping[str, Mapping[str, float]]) -> tuple[Qrels, list[ResultWarning]]:
    """Return qrels the probabilities of a pool, and say what of either the other lacks."""
    made = qrels.with_inclusion(pool)
    missing = int(np.isnan(probabilities(made)).sum())
    judged = qrels.to_dict()
    unjudged = sum(
        document not in judged.get(query, {}) or judged[query][document] < 0
        for query, documents in pool.items()
        if query in judged
        for document in documents
    )
    lost = sum(query not in judged for query in pool)
    facts = (
        ("outside_pool", missing, "judged documents that the pool lacks: {}; left out of the estimates"),
        ("unjudged_pool", unjudged, "pooled documents not judged: {}; not relevant to the estimates"),
        ("unjudged_pool_queries", lost, "pooled queries without judgments: {}; left out"),
    )
    return made, [
        ResultWarning(code, words.format(f"{count:,}"), count) for code, count, words in facts if count
    ]
