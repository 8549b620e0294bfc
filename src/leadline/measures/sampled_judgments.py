"""Measures of judgments that are a probability sample of the pool: xinfAP, infNDCG, statAP."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.registry import cutoff, number
from leadline.errors import UsageError
from leadline.measures import Measure, check_finite, ratio
from leadline.measures.user_models import accumulate_by_query

EPSILON = 0.00001  # smoothing of the proportion of relevant documents; the denominator gets three of it


def _strata(qrels: QrelsColumns) -> tuple[Codes, Floats]:
    """Return the stratum of every row, and its N/n, pooled over judged documents, 0 without judgments."""
    rows = len(qrels.grades)
    label = np.zeros(rows, dtype=np.int32) if qrels.strata is None else qrels.strata
    labels = int(label.max(initial=0)) + 1
    cell = qrels.query.astype(np.int64) * labels + label
    pooled = np.bincount(cell, minlength=1)
    judged = np.bincount(cell, qrels.grades >= 0, minlength=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(judged > 0, pooled / judged, 0.0)
    return label, factor[cell]


def _estimated_relevant(qrels: QrelsColumns, weight: Floats, rel: float) -> Floats:
    """Return the estimated number of relevant documents of every query."""
    chosen = qrels.grades >= rel
    return np.bincount(qrels.query[chosen], weight[chosen], minlength=len(qrels.queries)).astype(np.float64)


class xinfAP(Measure):  # noqa: N801  # the field's spelling
    """Average precision estimated from a stratified random sample of the pool.

    Judgments name the stratum of every pooled document; a negative grade means pooled but not judged. The
    precision at a relevant document of rank k is expected to be (1 + the sum over strata of the pooled
    documents above it times the proportion of relevant ones among those judged) / k, and a relevant document
    stands for N/n documents of its stratum, of which n of N were judged. Without strata the pool is one.

    >>> round(xinfAP().of([1, -1, 1, 0], judged=[1, 1, -1, 0]), 4)  # (1 + (1 + 2 * 1) / 3) / 2
    1.0
    """

    title = "extended inferred average precision"
    formula = (
        "1/R * sum over the ranks k of relevant documents of N/n * (1 + sum over strata s of d_s * (r_s + e) "
        "/ (n_s + 3 e)) / k; d_s, n_s and r_s: pooled, judged and relevant documents of s above k"
    )
    source = "Yilmaz, Kanoulas and Aslam 2008, with the smoothing of NIST's sample_eval"

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        label, factor = _strata(judged.qrels)
        total = _estimated_relevant(judged.qrels, factor, self.rel)
        above = _expected_relevant_above(judged, label, self.rel)
        chosen = np.flatnonzero(judged.grade >= self.rel)
        precision = (1.0 + above[chosen]) / judged.rank[chosen]
        return ratio(judged.total(judged.query[chosen], precision * factor[judged.row[chosen]]), total)


def _expected_relevant_above(judged: JudgedRun, label: Codes, rel: float) -> Floats:
    """Return, for every retrieved pooled document, the expected number of relevant documents above it."""
    here = label[judged.row]
    relevant, is_judged = judged.grade >= rel, judged.grade >= 0
    expected = np.zeros(len(here))
    for stratum in np.unique(here).tolist():
        inside: Flags = here == stratum
        proportion = (judged.before(inside & relevant) + EPSILON) / (
            judged.before(inside & is_judged) + 3 * EPSILON
        )
        expected += judged.before(inside) * proportion
    return expected


class infNDCG(Measure):  # noqa: N801  # the field's spelling
    """nDCG estimated from a stratified random sample of the pool.

    Judgments name the stratum of every pooled document; a negative grade means pooled but not judged. Within
    the list, the gains of the judged documents of a stratum stand for all its retrieved ones. The ideal list
    has the estimated number of documents of every grade, rounded to whole documents. Without strata the pool
    is one.

    >>> round(infNDCG().of([2, 0, 1, -1], judged=[2, 0, 1, -1]), 4)  # 4/3 of 2.5 over 2.6309
    1.267
    """

    title = "inferred normalized discounted cumulative gain"
    formula = (
        "sum over strata s of d_s/n_s * (sum of grade / log2(1 + rank)), / DCG of the estimated ideal list; "
        "d_s and n_s: retrieved documents of s, and the judged ones among them"
    )
    source = "Yilmaz, Kanoulas and Aslam 2008, as in NIST's sample_eval"
    high = float("inf")

    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        label, factor = _strata(judged.qrels)
        labels = int(label.max(initial=0)) + 1
        inside = np.ones(len(judged.row), dtype=np.bool_)
        if self.cutoff is not None:
            inside = judged.rank <= self.cutoff
        row = judged.row[inside]
        query, grade, rank = judged.query[inside], judged.grade[inside], judged.rank[inside]
        cell = query.astype(np.int64) * labels + label[row]
        size = len(judged.present) * labels
        retrieved = np.bincount(cell, minlength=size)
        judged_count = np.bincount(cell, grade >= 0, minlength=size)
        gain = np.bincount(cell, np.maximum(grade, 0.0) / np.log2(rank + 1.0), minlength=size)
        with np.errstate(all="ignore"):  # sums that no number can hold are refused below
            stratum = np.where(judged_count > 0, retrieved * gain / judged_count, 0.0)
        dcg = stratum.reshape(-1, labels).sum(axis=1)
        return ratio(check_finite(self, dcg), check_finite(self, _ideal(judged.qrels, factor, self.cutoff)))


def _ideal(qrels: QrelsColumns, factor: Floats, cutoff: int | None) -> Floats:
    """Return the DCG of every query's ideal list, with the estimated numbers of documents of every grade."""
    chosen = np.flatnonzero(qrels.grades > 0)
    query, grade = qrels.query[chosen], qrels.grades[chosen]
    order = np.lexsort((-grade, query))
    query, grade, weight = query[order], grade[order], factor[chosen][order]
    first = np.flatnonzero(np.r_[True, (query[1:] != query[:-1]) | (grade[1:] != grade[:-1])][: len(query)])
    ideal = np.zeros(len(qrels.queries))
    if not len(first):
        return ideal
    numbers = np.floor(np.add.reduceat(weight, first) + 0.5).astype(np.int64)
    query, grade = query[first], grade[first]
    ends = np.cumsum(numbers)
    starts = ends - numbers
    base = starts[np.searchsorted(query, query)]  # of the first grade of the same query
    low, high = starts - base, ends - base
    if cutoff is not None:
        low, high = np.minimum(low, cutoff), np.minimum(high, cutoff)
    discounts = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(2.0, high.max(initial=0) + 2.0)))))
    with np.errstate(over="ignore"):  # refused by the caller
        np.add.at(ideal, query, grade * (discounts[high] - discounts[low]))
    return ideal


class statAP(Measure):  # noqa: N801  # the field's spelling
    """Average precision estimated by inverse inclusion probabilities.

    A judged document stands for 1/p documents, p its probability to be judged; the document at whose rank
    precision is taken counts once. Where every document was judged for certain this is AP. Probabilities
    come from a column of the judgments, or from strata: the proportion of a stratum that was judged.

    >>> statAP().of([1, 0, 1])  # nothing was drawn: AP
    0.8333333333333333
    """

    title = "statistical average precision"
    formula = (
        "1/R * sum over the ranks k of relevant documents of (1 + sum of 1/p over the relevant documents "
        "above) / (k p), R = sum of 1/p over the relevant documents"
    )
    source = "Aslam, Pavlu and Yilmaz 2006; Aslam and Pavlu 2007"
    high = float("inf")

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        weight = _weights(judged.qrels)
        chosen = np.flatnonzero(judged.grade >= self.rel)
        query, each = judged.query[chosen], weight[judged.row[chosen]]
        precision = (1.0 + accumulate_by_query(query, each, np.add) - each) / judged.rank[chosen]
        total = _estimated_relevant(judged.qrels, weight, self.rel)
        return ratio(judged.total(query, precision * each), total)


def _weights(qrels: QrelsColumns) -> Floats:
    """Return the inverse inclusion probability of every judgment."""
    if qrels.inclusion is None:
        return np.ones(len(qrels.grades)) if qrels.strata is None else _strata(qrels)[1]
    unknown = int(np.count_nonzero(np.isnan(qrels.inclusion) & (qrels.grades >= 0)))
    if unknown:
        raise UsageError(
            f"statAP needs an inclusion probability for every judgment (judgments without one: {unknown:,})"
        )
    return 1.0 / np.where(np.isnan(qrels.inclusion), 1.0, qrels.inclusion)
