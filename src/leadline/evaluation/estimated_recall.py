"""Judgments of a probability sample: refused as complete ones; relevant documents and recall estimated."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.table import ResultWarning, keyed
from leadline.data.wording import listed_few, percent
from leadline.errors import InputError, UsageError
from leadline.measures import Measure
from leadline.measures.preference import statAP

if TYPE_CHECKING:
    from leadline.io.pool_files import PoolLike


class RecallEstimate(NamedTuple):
    """Estimate with its confidence interval."""

    value: float
    low: float
    high: float


class WeightedSum(NamedTuple):
    """Horvitz-Thompson sum of weights 1/p."""

    certain: float  # number of documents with p = 1
    drawn: float  # sum of 1/p over the other documents
    variance: float  # estimated variance of `drawn`
    largest: float  # largest weight 1/p of all sampled documents; 0 if none was sampled

    @property
    def total(self) -> float:
        """Estimate of the number of documents."""
        return self.certain + self.drawn

    def limits(self, confidence: float) -> tuple[float, float]:
        """Return the gamma interval of the sum (Fay and Feuer 1997)."""
        from scipy.special import gammaincinv

        tail = (1 - confidence) / 2

        def quantile(mean: float, variance: float, share: float) -> float:
            """Return a quantile of the gamma distribution with the given mean and variance."""
            return float(gammaincinv(mean**2 / variance, share)) * variance / mean if variance else mean

        low = quantile(self.drawn, self.variance, tail) if self.drawn else 0.0
        mean, variance = self.drawn + self.largest, self.variance + self.largest**2
        high = quantile(mean, variance, 1 - tail) if mean else 0.0
        return self.certain + min(low, self.drawn), self.certain + max(high, self.drawn)


def weighted_sum(qrels: QrelsColumns, chosen: Flags) -> WeightedSum:
    """Return the Horvitz-Thompson sum over selected judged documents.

    The sum of 1/p is unbiased for the number of such documents in the collection. Its variance is estimated
    by the sum of (1 - p)/p^2, which is unbiased for independent draws and slightly too large for draws
    without replacement. Documents without an inclusion probability are excluded.
    """
    probability = probabilities(qrels)
    drawn = chosen & (probability < 1)
    weight = 1 / probability[drawn]
    sampled = probability[probability < 1]
    return WeightedSum(
        float((chosen & (probability == 1)).sum()),
        float(weight.sum()),
        float(((1 - probability[drawn]) * weight**2).sum()),
        float((1 / sampled).max(initial=0.0)),
    )


def probabilities(qrels: QrelsColumns) -> Floats:
    """Return the inclusion probability of every judged document."""
    if qrels.inclusion is None:
        raise UsageError(
            "these qrels have no inclusion probabilities. Add a column named probability, or pass a pool."
        )
    return qrels.inclusion


def relevant(qrels: QrelsColumns, rel: float = 1.0, *, confidence: float = 0.95) -> RecallEstimate:
    """Estimate the mean number of relevant documents of a query from a sample of judgments.

    The estimate is the Horvitz-Thompson sum over judged relevant documents, divided by the number of queries.
    The interval is over samples of documents, for these queries.

    References
    ----------
    Horvitz and Thompson (1952), JASA 47(260).

    >>> qrels = QrelsColumns.of([(b"q", b"d1", 1.0), (b"q", b"d2", 1.0), (b"q", b"d3", 0.0)])
    >>> found = relevant(qrels.with_inclusion({"q": {"d1": 1.0, "d2": 0.1, "d3": 0.1}}))
    >>> found.value  # one for certain, and one that stands for ten
    11.0
    """
    found = weighted_sum(qrels, qrels.grades >= rel)
    size = len(qrels.queries)
    return RecallEstimate(found.total / size, *(limit / size for limit in found.limits(confidence)))


def recall(
    judged: JudgedRun, rel: float = 1.0, cutoff: int | None = None, *, confidence: float = 0.95
) -> RecallEstimate:
    """Estimate recall over all queries from a sample of judgments.

    Recall is F / (F + N), where F and N are the Horvitz-Thompson sums over the relevant documents that are
    retrieved and not retrieved. The mean of recall over queries would be biased if most queries have no
    relevant document in the sample. The ratio of sums over all queries weights queries by their numbers of
    relevant documents, and its bias decreases with the total number of sampled relevant documents. The
    interval is over samples; it combines those of F and N on the scale of ln F - ln N.

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27(10).
    """
    qrels = judged.qrels
    rows = judged.row[(judged.grade >= rel) & (judged.rank <= (cutoff or math.inf))]
    found = np.zeros(len(qrels.grades), dtype=np.bool_)
    found[rows] = True
    inside, outside = weighted_sum(qrels, found), weighted_sum(qrels, ~found & (qrels.grades >= rel))
    return ratio(inside, outside, confidence)


def ratio(inside: WeightedSum, outside: WeightedSum, confidence: float) -> RecallEstimate:
    """Return F / (F + N) with its interval; NaN if both sums are 0."""
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
    """Estimated numbers of relevant documents by level, and recall by run and measure."""

    relevant: dict[float, RecallEstimate]
    recall: list[dict[str, RecallEstimate]]
    confidence: float

    def of_run(self, run: int) -> dict[str, Any]:
        """Return the estimates of a run as dictionaries by measure."""
        return {name: keyed(estimate) for name, estimate in self.recall[run].items()}

    def of_all(self) -> list[dict[str, Any]]:
        """Return the estimated numbers of relevant documents as dictionaries."""
        return [{"rel": rel} | keyed(estimate) for rel, estimate in self.relevant.items()]

    def notes(self, names: Sequence[str]) -> list[str]:
        """Return the estimated numbers of relevant documents, and recall of each run over all queries."""
        notes = []
        for rel, (value, low, high) in self.relevant.items():
            grade = "" if rel == 1 else f" (grade {rel:g} or more)"
            notes.append(
                f"estimated relevant documents{grade}: {value:.4g} per query ({percent(self.confidence)} "
                f"interval over samples: {low:.4g} to {high:.4g})"
            )
        for measure in self.recall[0]:
            values = (
                f"{name} {_in_words(run[measure])}" for name, run in zip(names, self.recall, strict=True)
            )
            notes.append(
                f"{measure} over all queries together (micro-average), with {percent(self.confidence)} "
                f"intervals over samples: {', '.join(values)}"
            )
        return notes


def _in_words(estimate: RecallEstimate) -> str:
    value, low, high = estimate
    return "undefined" if math.isnan(value) else f"{value:.4f} ({low:.4f} to {high:.4f})"


def refuse_sample(qrels: QrelsColumns, readers: Sequence[object] = ()) -> None:
    """Raise InputError for judgments of a sample; `readers` are what would read them as complete."""
    if qrels.is_partial:
        raise _refusal(qrels, readers)


def _refusal(qrels: QrelsColumns, readers: Sequence[object]) -> InputError:
    path = qrels.source if len(qrels.sources) <= 1 else ""
    path = path.removeprefix(os.path.join(os.getcwd(), ""))  # as it was probably given
    return InputError(
        "the judgments are only a sample"
        + (f", but {listed_few(readers)} would treat them" if readers else ", but would be treated")
        + " as complete",
        hint=f"Use `leadline evaluate {path or 'JUDGMENTS'} RUN...`, `leadline compare` or `leadline rank`"
        + ("" if qrels.strata is None else " with xinfAP, infNDCG or statAP"),
        path=path,
    )


def joined(
    qrels: QrelsColumns, pool: PoolLike | None, measures: Sequence[Measure]
) -> tuple[QrelsColumns, list[ResultWarning]]:
    """Return the judgments with the inclusion probabilities of a pool, and warnings."""
    found = qrels
    warnings: list[ResultWarning] = []
    complete = [measure for measure in measures if not isinstance(measure, statAP)]
    if pool is not None:
        from leadline.io.pool_files import listed, pool_of  # slow to import

        found, warnings = _with_shares(qrels, listed(pool_of(pool)).by_query())
    if complete and (found.is_sample or qrels.is_sample):
        raise _refusal(qrels, complete)
    if pool is not None and found.inclusion is not None and not found.is_sample:
        found = found.keep(~np.isnan(found.inclusion))  # pooled to a depth: other judgments are left out
    return found, warnings


def _with_shares(
    qrels: QrelsColumns, pool: Mapping[str, Mapping[str, float]]
) -> tuple[QrelsColumns, list[ResultWarning]]:
    """Return qrels with the inclusion probabilities of a pool, and warnings of what does not match."""
    found = qrels.with_inclusion(pool)
    assert found.inclusion is not None
    missing = int(np.isnan(found.inclusion).sum())
    judged = qrels.to_dict()
    unjudged = sum(
        document not in judged.get(query, {}) or judged[query][document] < 0
        for query, documents in pool.items()
        if query in judged
        for document in documents
    )
    unjudged_queries = sum(query not in judged for query in pool)
    facts = (
        ("outside_pool", missing, "judged documents missing from the pool: {} (left out)"),
        ("unjudged_pool", unjudged, "pooled documents not judged: {} (counted as not relevant)"),
        ("unjudged_pool_queries", unjudged_queries, "pooled queries without judgments: {} (left out)"),
    )
    return found, [
        ResultWarning(code, message.format(f"{count:,}"), count) for code, count, message in facts if count
    ]
