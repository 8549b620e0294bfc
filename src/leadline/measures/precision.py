"""Precision, recall, fall-out, derived measures (F, E, R-precision, success), and reciprocal rank."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats
from leadline.data.judged_run import Hits, JudgedRun
from leadline.data.registry import (
    Aliases,
    DefaultCutoffs,
    Parameter,
    choice,
    cutoff,
    needed_cutoff,
    number,
    whole,
)
from leadline.errors import UsageError
from leadline.measures import CUTOFFS, Average, Measure, ratio, relevant, relevant_retrieved


class P(Measure):
    """Fraction of the top k documents that are relevant; without a cutoff, of the whole list.

    Divides by k even if the list is shorter. Without a cutoff, undefined for an empty list.

    >>> P(cutoff=4).of([1, 1, 0, 1, 0, 1])
    0.75
    """

    title = "precision"
    formula = "relevant documents at ranks 1..k / k; without k: / length of the list"
    source = "van Rijsbergen 1979; Manning, Raghavan and Schuetze 2008, section 8.3; trec_eval P"
    aliases: ClassVar[Aliases] = {
        "precision": {},
        "Prec": {},
        "set_P": {},
        "SetP": {},
        "RetrievalPrecision": {},
    }
    default_cutoffs: ClassVar[DefaultCutoffs] = {"set_p": (), "setp": ()}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        count = relevant_retrieved(judged, self.rel, self.cutoff)
        return ratio(count, judged.length.astype(np.float64) if self.cutoff is None else self.cutoff)


class R(Measure):
    """Recall: fraction of the relevant documents in the top k; without a cutoff, in the whole list.

    >>> R(cutoff=4).of([1, 1, 0, 1, 0, 1], judged=[1, 1, 1, 1, 1, 1, 0, 0])
    0.5
    """

    title = "recall"
    formula = "relevant documents at ranks 1..k / all relevant documents"
    source = "van Rijsbergen 1979; Manning, Raghavan and Schuetze 2008, section 8.3; trec_eval recall"
    aliases: ClassVar[Aliases] = {"recall": {}, "set_recall": {}, "SetR": {}, "RetrievalRecall": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"recall": CUTOFFS, "set_recall": (), "setr": ()}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        return ratio(relevant_retrieved(judged, self.rel, self.cutoff), relevant(judged, self.rel))


class FallOut(Measure):
    """Fraction of the non-relevant documents that are in the top k, or in the list; smaller is better.

    Without `documents`, the non-relevant documents are those judged so; unjudged documents are
    ignored, and a negative grade is not a judgment. `documents` is the size of the collection
    (`--config read.documents`): with it all documents that are not judged relevant count as non-relevant.
    Undefined if there is no non-relevant document, where torchmetrics has 1; undefined values are
    excluded from the mean, in which 0 would be the best value, and counted.

    >>> FallOut(cutoff=2).of([1, 0, None, 0], judged=[1, 0, 0, 0])  # 1 of 3
    0.3333333333333333
    >>> FallOut(cutoff=2, documents=11).of([None, 1])  # 1 of 11 - 1
    0.1
    """

    title = "fall-out"
    formula = "non-relevant documents at ranks 1..k / all non-relevant documents "
    formula += "(only judged ones if documents=0)"
    source = "van Rijsbergen 1979, chapter 7; torchmetrics RetrievalFallOut"
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "defined"
    aliases: ClassVar[Aliases] = {"fall-out": {}, "RetrievalFallOut": {}}

    documents: int = whole(0, low=0)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        if not self.documents:
            grades = judged.qrels.grades
            size = judged.qrels.count((grades >= 0) & (grades < self.rel)).astype(np.float64)
            chosen = (judged.grade >= 0) & (judged.grade < self.rel)
            if self.cutoff is not None:
                chosen &= judged.rank <= self.cutoff
            return ratio(judged.total(judged.query[chosen]), size)
        length = judged.length if self.cutoff is None else np.minimum(judged.length, self.cutoff)
        count = length - relevant_retrieved(judged, self.rel, self.cutoff)
        size = self.documents - relevant(judged, self.rel)
        if np.any(count > size):
            raise UsageError(
                f"{self}: documents={self.documents} is less than the number of documents that are relevant "
                "or retrieved for a query. Pass the size of the collection"
            )
        return ratio(count, size)


class Rprec(Measure):
    """Precision at rank R, where R is the number of relevant documents of the query.

    >>> round(Rprec().of([1, 1, 0, 1, 0, 1], judged=[1] * 6 + [0, 0]), 4)
    0.6667
    """

    title = "R-precision"
    formula = "relevant documents at ranks 1..R / R"
    source = "Manning, Raghavan and Schuetze 2008, section 8.4; trec_eval Rprec"
    aliases: ClassVar[Aliases] = {"r-precision": {}, "r_precision": {}, "RetrievalRPrecision": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        hits = judged.hits(self.rel)
        size = relevant(judged, self.rel)
        return ratio(judged.total(hits.query[hits.rank <= size[hits.query]]), size)


MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))


class RprecMult(Measure):
    """Precision at rank m R, where R is the number of relevant documents of the query.

    The rank is int(m R + 0.9), as in trec_eval; undefined where that is 0.

    >>> RprecMult(multiple=0.5).of([1, 0, 1], judged=[1, 1, 1, 1, 0])
    0.5
    """

    title = "precision at a multiple of R"
    formula = "relevant documents at ranks 1..c / c, c = int(m R + 0.9)"
    source = "trec_eval Rprec_mult"
    aliases: ClassVar[Aliases] = {"Rprec_mult": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"rprec_mult": MULTIPLES}

    rel: float = number(1.0, low=0.0)
    multiple: float = Parameter(..., type_=float, low=0.0, high=1e6, at=True)  # type: ignore[assignment]

    def values(self, judged: JudgedRun) -> Floats:
        hits = judged.hits(self.rel)
        cutoff = np.floor(self.multiple * judged.qrels.relevant(self.rel) + 0.9)
        return ratio(judged.total(hits.query[hits.rank <= cutoff[hits.query]]), cutoff)


class RelP(Measure):
    """Precision at k divided by the best possible value, min(k, R) / k.

    Equal to precision for k < R and to recall for k >= R. BEIR calls it capped recall, R_cap@k.

    >>> RelP(cutoff=4).of([1, 0, 0, 1], judged=[1, 1, 0, 0])
    1.0
    """

    title = "relative precision"
    formula = "relevant documents at ranks 1..k / min(k, R), R = number of relevant documents"
    source = "trec_eval relative_P; Thakur et al. 2021 (BEIR), R_cap"
    aliases: ClassVar[Aliases] = {"relative_P": {}, "R_cap": {}, "recall_cap": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"relative_p": CUTOFFS}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        count = relevant_retrieved(judged, self.rel, self.cutoff)
        return ratio(count, np.minimum(relevant(judged, self.rel), self.cutoff))


class SetRelP(Measure):
    """Precision of the whole list divided by the best possible for its length.

    >>> SetRelP().of([1, 0, 1, 0], judged=[1, 1, 1, 0, 0])  # 2 of at most 3
    0.6666666666666666
    """

    title = "relative precision of the set"
    formula = "r / min(n, R), with r of the R relevant documents among the n retrieved"
    source = "trec_eval set_relative_P; ir_measures SetRelP"
    aliases: ClassVar[Aliases] = {"set_relative_P": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        count = relevant_retrieved(judged, self.rel, None)
        size = np.minimum(judged.length.astype(np.float64), relevant(judged, self.rel))
        return ratio(count, size)


class F(Measure):
    """Weighted harmonic mean of precision and recall; beta > 1 favors recall.

    Computed as (1 + beta^2) r / (beta^2 R + n) with r relevant among n retrieved (n = k with a
    cutoff), which is defined whenever anything is relevant or retrieved. `form=linear` is set_F of
    trec_eval and SetF of ir_measures, which do not square beta; with beta = 1 both forms are equal,
    and `squared` is shown.

    >>> round(F().of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)  # P = 2/3, R = 2/4
    0.5714
    >>> F(beta=2, form="linear").of([1, None, 1, None], judged=[1] * 6)  # 3 P R / (2 P + R)
    0.375
    """

    title = "F measure"
    formula = "(1 + beta^2) P R / (beta^2 P + R); beta in place of beta^2 with form=linear"
    source = (
        "van Rijsbergen 1979; Manning, Raghavan and Schuetze 2008, section 8.3; form=linear: trec_eval set_F"
    )
    aliases: ClassVar[Aliases] = {"set_F": {"form": "linear"}, "SetF": {"form": "linear"}, "f1": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"set_f": (), "setf": ()}

    beta: float = number(1.0, low=0.0, high=1e12)
    form: str = choice("squared", "linear")
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def post_init(self) -> None:
        """Set the form to the default where beta is 1: both forms are equal then."""
        if self.beta == 1:
            object.__setattr__(self, "form", "squared")

    def values(self, judged: JudgedRun) -> Floats:
        beta = self.beta if self.form == "squared" else math.sqrt(self.beta)
        return f_values(judged, beta=beta, rel=self.rel, cutoff=self.cutoff)


def f_values(judged: JudgedRun, *, beta: float, rel: float, cutoff: int | None) -> Floats:
    """Return F of every query."""
    count = relevant_retrieved(judged, rel, cutoff)
    size = judged.length.astype(np.float64) if cutoff is None else float(cutoff)
    weight = beta * beta
    return ratio(weight * count + count, weight * relevant(judged, rel) + size)


class E(Measure):
    """Van Rijsbergen's effectiveness measure, 1 - F; smaller is better.

    It is 1 where nothing is relevant and nothing is retrieved: F is undefined there, and counts as 0 in its
    mean. `form=lecture` is F itself, which some teaching material calls E.

    >>> round(E(beta=2).of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)
    0.4737
    >>> round(E(beta=2, form="lecture").of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)
    0.5263
    """

    title = "E measure"
    formula = "1 - (1 + beta^2) P R / (beta^2 P + R)"
    source = "van Rijsbergen 1979, chapter 7"
    rising: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False
    zero_without_list: ClassVar[bool] = False

    beta: float = number(1.0, low=0.0, high=1e6)
    form: str = choice("complement", "lecture")
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def post_init(self) -> None:
        """Set the direction: F, which the lecture prints as E, rises."""
        if self.form == "lecture":
            object.__setattr__(self, "rising", True)

    def values(self, judged: JudgedRun) -> Floats:
        values = f_values(judged, beta=self.beta, rel=self.rel, cutoff=self.cutoff)
        return values if self.form == "lecture" else 1.0 - np.nan_to_num(values)


class Success(Measure):
    """1 if any of the top k documents is relevant, else 0; also called hit rate.

    sentence-transformers and BEIR call it accuracy: `Accuracy@k` and `cosine_accuracy@k` are read as
    Success@k. The pairwise measure that ir_measures calls Accuracy is PairAccuracy.

    >>> Success(cutoff=1).of([0, 1]), Success(cutoff=2).of([0, 1])
    (0.0, 1.0)
    """

    title = "success at k"
    formula = "1 if any of the documents at ranks 1..k is relevant, else 0"
    source = "trec_eval success"
    aliases: ClassVar[Aliases] = {"success": {}, "hit_rate": {}, "hit": {}, "RetrievalHitRate": {}}
    cutoff_aliases: ClassVar[Aliases] = {"accuracy": {}, "top_k_accuracy": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"success": (1, 5, 10)}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        return (relevant_retrieved(judged, self.rel, self.cutoff) > 0).astype(np.float64)


class Complete(Measure):
    """1 if all relevant documents are in the top k, else 0: all the evidence for an answer was found.

    It is 1 where recall is 1, and undefined without relevant documents.

    >>> Complete(cutoff=2).of([1, 1]), Complete(cutoff=2).of([1, 0, 1])
    (1.0, 0.0)
    """

    title = "complete at k"
    formula = "1 if R@k = 1, else 0"
    source = "Khattab et al. 2021, Retrieval@k"
    aliases: ClassVar[Aliases] = {"complete": {}, "all_found": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"complete": (5, 10), "all_found": (5, 10)}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        found, needed = relevant_retrieved(judged, self.rel, self.cutoff), relevant(judged, self.rel)
        return np.where(needed > 0, (found == needed).astype(np.float64), np.nan)


class Utility(Measure):
    """Linear utility of the retrieved set.

    With r relevant among n retrieved: a r + b (n - r) + c (R - r) + d (N - n - R + r). N is the
    number of documents in the collection (`documents`, default 0); only d depends on it.

    >>> Utility().of([1, 0, None, 1]), Utility(a=2.0, c=-1.0).of([1, 0], judged=[1, 0, 1])
    (0.0, 0.0)
    """

    title = "utility of the set"
    formula = "a r + b (n - r) + c (R - r) + d (N - n - R + r)"
    source = "TREC filtering track (Hull and Robertson 1999); trec_eval utility"
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    zero_without_relevant: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"SetUtility": {}}

    a: float = number(1.0)
    b: float = number(-1.0)
    c: float = number(0.0)
    d: float = number(0.0)
    documents: int = whole(0, low=0)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        count = relevant_retrieved(judged, self.rel, None)
        size = relevant(judged, self.rel)
        length = judged.length
        return (
            self.a * count
            + self.b * (length - count)
            + self.c * (size - count)
            + self.d * (self.documents + count - length - size)
        )


class RR(Measure):
    """Reciprocal rank of the first relevant document; 0 if none is retrieved in the top k.

    The mean over queries is MRR.

    >>> RR().of([0, 0, 1, 1])
    0.3333333333333333
    """

    title = "reciprocal rank"
    formula = "1 / rank of the first relevant document"
    source = "Voorhees 1999; trec_eval recip_rank"
    aliases: ClassVar[Aliases] = {"recip_rank": {}, "mrr": {}, "reciprocal_rank": {}, "RetrievalMRR": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        hits = judged.hits(self.rel)
        first = hits.nth == 1
        if self.cutoff is not None:
            first &= hits.rank <= self.cutoff
        values = np.zeros(len(judged.present))
        values[hits.query[first]] = 1.0 / hits.rank[first]
        return values


class RankOf(Measure):
    """Rank of the n-th relevant document (`n=all`: the last); undefined if it is not retrieved.

    `form=search` is Cooper's expected search length: the number of non-relevant documents read
    before the n-th relevant one, in expectation over the orders of tied documents. Undefined values
    are excluded from the mean, where 0 would be better than any rank, and counted.

    >>> RankOf(n=2).of([0, 1, 0, 1]), RankOf(n=2, form="search").of([0, 1, 0, 1])
    (4.0, 2.0)
    """

    title = "rank of the n-th relevant document"
    formula = "rank of the n-th relevant document"
    source = "Cooper 1968 (expected search length)"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = math.inf
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "defined"

    n: int | str = whole(1, words=("all",))
    form: str = choice("rank", "search")
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        hits = judged.hits(self.rel)
        size = judged.qrels.relevant(self.rel)
        target = size if self.n == "all" else np.full(len(size), int(self.n))
        last = np.flatnonzero(hits.nth == target[hits.query])
        values = np.full(len(size), np.nan)
        reached = (
            hits.rank
            if self.form == "rank"
            else expected_search_length(judged, hits, self.rel, judged.length)
        )
        values[hits.query[last]] = reached[last]
        return values


def expected_search_length(judged: JudgedRun, hits: Hits, rel: float, length: Codes) -> Floats:
    """Return the expected number of non-relevant documents read before each relevant one up to `length`.

    Of g relevant and m other documents with equal scores at these ranks, j m / (g + 1) of the others
    are expected before the j-th relevant one.
    """
    within = np.flatnonzero(hits.rank <= length[hits.query])
    query, nth = hits.query[within], hits.nth[within]
    chosen = np.flatnonzero(judged.grade >= rel)[within]
    first = judged.tie_first[chosen].astype(np.int64)
    last = np.minimum(judged.tie_last[chosen], length[query])
    group = query.astype(np.int64) * (int(first.max(initial=0)) + 1) + first
    start, stop = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
    number = np.arange(len(group)) - start + 1
    nonrelevant = last - first + 1 - (stop - start)
    above = first - 1 - (nth - number)
    return np.asarray(above + number * nonrelevant / (stop - start + 1.0), dtype=np.float64)
