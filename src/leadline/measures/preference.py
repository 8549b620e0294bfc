"""Measures of pairs of documents, one more relevant than the other: bpref, rpref, binG, accuracy, AUROC."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Aliases, Rejected, choice, cutoff, number
from leadline.measures import Average, Measure, check_finite, ratio, relevant, up_to
from leadline.measures.average_precision import running_minima
from leadline.measures.precision import expected_search_length


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
    formula = "1/R * sum over retrieved relevant documents of (1 - min(n, R) / min(N, R))"
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

    title = "binary preference, averaged geometrically"
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
    formula = "sum over retrieved documents with a gain g of g * (1 - loss / divisor), / sum of the gains; "
    formula += "divisor=all: N + R - sum of the gains / largest gain of the query"
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
    formula = "1/R * sum over retrieved relevant documents of 1 / log2(2 + non-relevant documents above)"
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

    title = "accuracy of pairs"
    formula = "pairs with the relevant document first / pairs of a relevant and a non-relevant document"
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
    formula += "and a non-relevant document"
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
