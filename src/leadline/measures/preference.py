"""Measures of pairs of documents, one more relevant than the other: bpref, rpref, binG, accuracy, AUROC."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.registry import Aliases, Rejected, choice, cutoff, number
from leadline.errors import UsageError
from leadline.measures import Average, Measure, check_finite, ratio, relevant, up_to
from leadline.measures.average_precision import running_minima
from leadline.measures.precision import expected_search_length
from leadline.measures.user_models import accumulate_by_query


class Bpref(Measure):
    """Binary preference: how rarely judged non-relevant documents are ranked above relevant ones.

    Unjudged documents are ignored, and a negative grade is not a judgment. With R relevant and N
    judged non-relevant documents, a retrieved relevant document below n of the latter contributes
    1 - min(n, R) / min(N, R), or 1 if n = 0; the sum is divided by R. Other divisors are those of
    NTCIREVAL: `R` gives 1 - min(n, R) / R (bpref_R), `N` gives 1 - n / N (bpref_N), and `above`
    divides n by the number of judged documents above, where the first document contributes 0
    (bpref_relative).

    >>> Bpref().of([1, 0, None, 1, 0], judged=[1, 1, 0, 0])
    0.75
    >>> Bpref(divisor="R").of([0, 1, 1], judged=[1, 1, 0])  # (1/2 + 1/2) / 2
    0.5
    """

    title = "binary preference"
    formula = (
        "1/R * sum over retrieved relevant documents of (1 - min(n, R) / min(N, R)), with n of the N judged "
        "non-relevant documents above"
    )
    source = "Buckley and Voorhees 2004, as in trec_eval bpref; Sakai 2007b; NTCIREVAL"
    aliases: ClassVar[Aliases] = {
        "bpref": {},
        "bpref_R": {"divisor": "R"},
        "bpref_N": {"divisor": "N"},
        "bpref_relative": {"divisor": "above"},
    }

    divisor: str = choice("min", "R", "N", "above")
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        hits, size, grades = judged.hits(self.rel), relevant(judged, self.rel), judged.qrels.grades
        nonrelevant = judged.qrels.count((grades >= 0) & (grades < self.rel)).astype(np.float64)
        is_other = (judged.grade >= 0) & (judged.grade < self.rel)
        above = judged.before(is_other)[judged.grade >= self.rel]
        if self.divisor == "above":
            before = above + hits.nth - 1
            penalty = np.where(before > 0, above / np.maximum(before, 1), 1.0)
        else:
            limit = np.inf if self.divisor == "N" else size[hits.query]
            penalty = np.minimum(above, limit) / self.bound(nonrelevant, size)[hits.query]
        return ratio(judged.total(hits.query, 1.0 - penalty), size)

    def bound(self, nonrelevant: Floats, size: Floats) -> Floats:
        """Return the divisor of the number of non-relevant documents above, at least 1."""
        if self.divisor == "N":
            return np.maximum(nonrelevant, 1.0)
        return np.maximum(np.minimum(nonrelevant, size) if self.divisor == "min" else size, 1.0)


class GMBpref(Measure):
    """Bpref with a geometric mean over queries, which emphasizes the worst queries.

    Values below 0.00001, and undefined ones, count as 0.00001 in the mean.

    >>> GMBpref().of([1, 0, None, 1, 0], judged=[1, 1, 0, 0])
    0.75
    """

    title = "geometric mean binary preference"
    formula = "exp(mean over queries of ln max(Bpref, 0.00001))"
    source = "trec_eval gm_bpref"
    average: ClassVar[Average] = "geometric"
    aliases: ClassVar[Aliases] = {"gm_bpref": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        return Bpref(rel=self.rel).values(judged)


class Rpref(Measure):
    """Preference for graded relevance: how rarely documents of lower gain are ranked above others.

    Unjudged documents are removed first; a negative grade is not a judgment. A document of gain g
    (the grade) loses (g - h) / g for each document of lower gain h above it. The loss is divided by
    the number of judged documents above, and the first document contributes 0: rpref_relative of
    NTCIREVAL. `divisor=all` divides by the largest possible loss: rpref_N, with the largest gain of
    the query. The contributions are averaged with the gains as weights. For binary grades these are
    Bpref with `divisor=above` and `divisor=N`. rpref_relative2 is GAP of the judged documents
    (`--judged-only`).

    >>> Rpref().of([1, None, 2])  # 2 loses 1/2 of 1: (1 * 0 + 2 * 1/2) / 3
    0.3333333333333333
    >>> Rpref(divisor="all").of([1, None, 2])  # of at most 0 + 2 - (1 + 2) / 2: (1 * 1 + 2 * 0) / 3
    0.3333333333333333
    """

    title = "graded preference"
    formula = "1/W * sum over retrieved documents with a gain g of g * (1 - loss / divisor), where W is the "
    formula += "sum of all gains; loss: sum of 1 - h/g over the judged documents above with a gain h < g; "
    formula += "divisor: number of judged documents above (if 0, the document adds 0), or with divisor=all "
    formula += "number of judged documents - W / largest gain of the query"
    source = "De Beer and Moens 2006; Sakai 2007b; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"rpref_relative": {}, "rpref_N": {"divisor": "all"}}

    divisor: str = choice("above", "all")

    def values(self, judged: JudgedRun) -> Floats:
        qrels, (query, _, gain) = judged.qrels, judged.gains
        ideal = qrels.ideal
        with np.errstate(over="ignore"):
            whole = check_finite(self, judged.total(ideal.query, ideal.gain))
        above = judged.before(judged.grade >= 0)[judged.levels > 0]
        minima = running_minima(query, gain)  # of the documents with a gain to each; itself included
        loss = np.maximum(gain * (above + 1) - minima, 0.0)
        if self.divisor == "above":
            part = np.where(above > 0, gain - loss / np.maximum(above, 1), 0.0)
        else:
            best = np.ones(len(judged.present))
            best[ideal.query[ideal.rank == 1]] = ideal.gain[ideal.rank == 1]
            most = qrels.count(qrels.grades >= 0) - whole / best
            part = gain - np.where(loss > 0, loss / np.where(most > 0, most, 1.0)[query], 0.0)
        return ratio(judged.total(query, np.maximum(part, 0.0)), whole)


class binG(Measure):  # noqa: N801  # the field's spelling
    """Mean over relevant documents of 1 / log2(2 + non-relevant documents above), 0 if not retrieved.

    >>> binG().of([1, 0, 0, 1], judged=[1, 1, 0, 0])  # (1 + 1/log2(4)) / 2
    0.75
    """

    title = "binary G"
    formula = "sum over retrieved relevant documents of 1 / log2(2 + non-relevant documents above), / R "
    formula += "(all relevant documents)"
    source = "trec_eval binG"
    aliases: ClassVar[Aliases] = {"binary_g": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        hits = judged.hits(self.rel)
        weights = 1.0 / np.log2(2.0 + hits.rank - hits.nth)
        return ratio(judged.total(hits.query, weights), relevant(judged, self.rel))


class PairAccuracy(Measure):
    """Fraction of the pairs of a relevant and a non-relevant document that are correctly ordered.

    Unjudged documents count as non-relevant. Undefined if the top k documents contain no such pair;
    undefined values are excluded from the mean and counted. ir_measures calls it Accuracy;
    `Accuracy@k` is read as Success@k, which sentence-transformers and BEIR call so.

    >>> PairAccuracy().of([1, 0, 1])
    0.5
    """

    title = "pairwise accuracy"
    formula = "pairs with the relevant document first / pairs of a relevant and a non-relevant document "
    formula += "at ranks 1..k"
    source = "ir_measures Accuracy"
    average: ClassVar[Average] = "defined"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, nth = up_to(self.cutoff, *judged.hits(self.rel))
        length = judged.length.astype(np.float64)
        if self.cutoff is not None:
            length = np.minimum(length, self.cutoff)
        retrieved = judged.total(query)
        pairs = retrieved * (length - retrieved)
        return ratio(pairs - judged.total(query, rank - nth), pairs)


class AUROC(Measure):
    """Area under the ROC curve of the top k documents: PairAccuracy, with a tied pair counted as half.

    The probability that a relevant document of the list has a higher score than another one, with
    equal scores as 1/2. Unjudged documents count as non-relevant. Undefined if the top k documents
    contain no such pair; undefined values are excluded from the mean and counted (torchmetrics has
    0 there). If documents around rank k are tied, the order of the list decides which of them
    are counted.

    >>> AUROC().of([1, 0, 1])
    0.5
    """

    title = "area under the ROC curve"
    formula = "(pairs with the relevant document first + tied pairs / 2) / pairs of a relevant "
    formula += "and a non-relevant document at ranks 1..k"
    source = "Hanley and McNeil 1982; torchmetrics RetrievalAUROC"
    average: ClassVar[Average] = "defined"
    aliases: ClassVar[Aliases] = {"roc_auc": {}, "RetrievalAUROC": {}}
    rejected: ClassVar[Rejected] = {"max_fpr": "AUROC is always the area under the whole curve"}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        hits = judged.hits(self.rel)
        length = judged.length
        if self.cutoff is not None:
            length = np.minimum(length, self.cutoff)
        query = hits.query[hits.rank <= length[hits.query]]
        above = expected_search_length(judged, hits, self.rel, length)
        retrieved = judged.total(query)
        pairs = retrieved * (length - retrieved)
        return ratio(pairs - judged.total(query, above), pairs)


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
        "/ (n_s + 3 e)) / k, R = sum of N/n over the relevant documents; d_s, n_s and r_s: pooled, judged "
        "and relevant documents of s above k"
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
            f"statAP needs an inclusion probability for every judgment (judgments without one: {unknown:,}). "
            "Add each missing probability, or remove its judgment."
        )
    return 1.0 / np.where(np.isnan(qrels.inclusion), 1.0, qrels.inclusion)
