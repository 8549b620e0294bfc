"""Measures of pairs of relevant and non-relevant documents: bpref, binG, accuracy."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Aliases, cutoff, number
from leadline.measures import Average, Measure, ratio, relevant


class Bpref(Measure):
    """Binary preference: how rarely judged non-relevant documents are ranked above relevant ones.

    Unjudged documents are ignored, and a negative grade is not a judgment. With R relevant and N
    judged non-relevant documents, a retrieved relevant document below n of the latter contributes
    1 - min(n, R) / min(N, R), or 1 if n = 0; the sum is divided by R.

    >>> Bpref().of([1, 0, None, 1, 0], judged=[1, 1, 0, 0])
    0.75
    """

    title = "binary preference"
    formula = "1/R sum over retrieved relevant documents of 1 - min(n, R) / min(N, R)"
    source = "Buckley and Voorhees 2004, as in trec_eval bpref"
    aliases: ClassVar[Aliases] = {"bpref": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        size = relevant(judged, self.rel)
        grades = judged.qrels.grades
        nonrelevant = judged.qrels.count((grades >= 0) & (grades < self.rel)).astype(np.float64)
        is_other = (judged.grade >= 0) & (judged.grade < self.rel)
        running = np.concatenate(([0], np.cumsum(is_other)))
        above = running[:-1] - running[judged.offsets[:-1]][judged.query]
        chosen = judged.grade >= self.rel
        query = judged.query[chosen]
        some = above[chosen] > 0
        penalty = np.zeros(len(query))
        limit = size[query]
        bound = np.maximum(np.minimum(nonrelevant[query], limit), 1.0)
        penalty[some] = (np.minimum(above[chosen], limit) / bound)[some]
        return ratio(judged.total(query, 1.0 - penalty), size)


class GMBpref(Measure):
    """Bpref with a geometric mean over queries, which emphasises the worst queries.

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
        """Return the value of every query."""
        return Bpref(rel=self.rel).values(judged)


class binG(Measure):  # noqa: N801  # the field's spelling
    """Mean over relevant documents of 1 / log2(2 + non-relevant documents above), 0 if not retrieved.

    >>> binG().of([1, 0, 0, 1], judged=[1, 1, 0, 0])  # (1 + 1/log2(4)) / 2
    0.75
    """

    title = "binary G"
    formula = "1/R sum over retrieved relevant documents of 1 / log2(2 + non-relevant above it)"
    source = "trec_eval binG"
    aliases: ClassVar[Aliases] = {"binary_g": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        hits = judged.hits(self.rel)
        weights = 1.0 / np.log2(2.0 + hits.rank - hits.nth)
        return ratio(judged.total(hits.query, weights), relevant(judged, self.rel))


class Accuracy(Measure):
    """Fraction of the pairs of a relevant and a non-relevant document that are correctly ordered.

    Unjudged documents count as non-relevant. Undefined if the top k documents contain no such pair;
    undefined values are excluded from the mean and counted. The accuracy at k of
    sentence-transformers and BEIR, and `accuracy@k` in lower case, is `Success@k`.

    >>> Accuracy().of([1, 0, 1])
    0.5
    """

    title = "accuracy of pairs"
    formula = "pairs with the relevant document first / pairs of a relevant and another document"
    source = "ir_measures Accuracy"
    average: ClassVar[Average] = "defined"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        hits = judged.hits(self.rel)
        within = np.ones(len(hits.rank), dtype=np.bool_)
        length = judged.length.astype(np.float64)
        if self.cutoff is not None:
            within = hits.rank <= self.cutoff
            length = np.minimum(length, self.cutoff)
        retrieved = judged.total(hits.query[within])
        pairs = retrieved * (length - retrieved)
        above = judged.total(hits.query[within], (hits.rank - hits.nth)[within])
        return ratio(pairs - above, pairs)
