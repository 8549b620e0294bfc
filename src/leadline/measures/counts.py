"""Counts of documents and queries, fractions of judged documents, and queries without an answer."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.judged_run import JudgedRun as JudgedTable
from leadline.data.registry import Aliases, DefaultCutoffs, Parameter, cutoff, needed_cutoff, number
from leadline.errors import UsageError
from leadline.measures import Average, Measure, ratio, relevant, relevant_retrieved


class NumQ(Measure):
    """Number of queries.

    >>> NumQ().of([1, 0])
    1.0
    """

    title = "number of queries"
    formula = "1 per query, summed"
    source = "trec_eval num_q"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    quality: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"num_q": {}}

    def values(self, judged: JudgedRun) -> Floats:
        return np.ones(len(judged.present))


class NumRel(Measure):
    """Number of relevant documents in the qrels, summed over queries.

    >>> NumRel().of([1, None, 0], judged=[1, 1, 0])
    2.0
    """

    title = "number of relevant documents"
    formula = "R, summed over queries"
    source = "trec_eval num_rel"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    quality: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"num_rel": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        return relevant(judged, self.rel)


class NumRet(Measure):
    """Number of retrieved documents, summed over queries.

    >>> NumRet().of([1, None, 0])
    3.0
    """

    title = "number of retrieved documents"
    formula = "length of the list, summed over queries"
    source = "trec_eval num_ret"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    zero_without_relevant: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"num_ret": {}}

    def values(self, judged: JudgedRun) -> Floats:
        return judged.length.astype(np.float64)


class NumRelRet(Measure):
    """Number of relevant documents retrieved in the top k, summed over queries.

    >>> NumRelRet(cutoff=2).of([1, 0, 1])
    1.0
    """

    title = "number of relevant documents retrieved"
    formula = "relevant documents at ranks 1..k, summed over queries"
    source = "trec_eval num_rel_ret"
    high: ClassVar[float] = math.inf
    average: ClassVar[Average] = "sum"
    aliases: ClassVar[Aliases] = {"num_rel_ret": {}, "hits": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        return relevant_retrieved(judged, self.rel, self.cutoff)


class NumNonrelRet(Measure):
    """Number of retrieved documents judged non-relevant, summed over queries.

    A negative grade is not a judgment.

    >>> NumNonrelRet().of([1, None, 0, 0, -1])
    2.0
    """

    title = "number of non-relevant documents retrieved"
    formula = "judged non-relevant documents in the list, summed over queries"
    source = "trec_eval num_nonrel_judged_ret"
    high: ClassVar[float] = math.inf
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "sum"
    zero_without_relevant: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"num_nonrel_judged_ret": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        return judged.total(judged.query[(judged.grade >= 0) & (judged.grade < self.rel)])


class Judged(Measure):
    """Fraction of the top k documents that are judged.

    A low value makes the other measures unreliable. A negative grade is not a judgment. A list
    shorter than k divides by its length; the value of an empty list is undefined.

    >>> Judged(cutoff=4).of([1, None, 0, None, 0])
    0.5
    """

    title = "judged documents"
    formula = "judged documents at ranks 1..k / min(k, length of the list)"
    source = "ir_measures Judged"
    quality: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False

    cutoff: int | None = cutoff()

    def values(self, judged: JudgedTable) -> Floats:
        chosen = judged.grade >= 0
        size = judged.length.astype(np.float64)
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
            size = np.minimum(size, self.cutoff)
        return ratio(judged.total(judged.query[chosen]), size)


class Unj(Measure):
    """Number of unjudged documents in the top k, divided by k.

    Also called the hole rate. A negative grade is not a judgment. Ranks beyond the end of a shorter
    list do not count as unjudged, so the value may differ from 1 - Judged@k. Hole@k does not count
    documents that were judged for another query.

    >>> Unj(cutoff=4).of([1, None, -1])
    0.5
    """

    title = "unjudged documents"
    formula = "unjudged documents at ranks 1..k / k"
    source = "trec_eval 10 unj; Xiong et al. 2021 (ANCE), hole rate"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False
    aliases: ClassVar[Aliases] = {"unjudged": {}, "hole_rate": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"unj": (5, 10, 20)}

    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        chosen = (judged.grade >= 0) & (judged.rank <= self.cutoff)
        size = np.minimum(judged.length, self.cutoff)
        return (size - judged.total(judged.query[chosen])) / self.cutoff


class Hole(Measure):
    """Number of documents in the top k that were judged for no query at all, divided by k, as in BEIR.

    Any grade is a judgment, a negative one too. The value depends on the judgments of the other queries: with
    more queries it falls. Unj@k counts the documents that were not judged for the query itself.

    >>> Hole(cutoff=4).of([1, None, -1])
    0.25
    """

    title = "documents not judged for any query"
    formula = "documents at ranks 1..k without a judgment for any query / k"
    source = "Xiong et al. 2021 (ANCE), hole rate; Thakur et al. 2021 (BEIR), hole"
    quality: ClassVar[bool] = False
    rising: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = False
    scored: ClassVar[int] = 2

    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        elsewhere = None if judged.tops is None else judged.tops.elsewhere
        if elsewhere is None:
            raise UsageError(
                f"{self} needs the retrieved documents, which are not available here. Use `evaluate`."
            )
        size = np.minimum(judged.length, self.cutoff)
        found = size - judged.total(judged.query[judged.rank <= self.cutoff])
        for code, ranks in elsewhere.items():
            found[code] -= (ranks <= size[code]).sum()
        return found / self.cutoff


class NoAnswer(Measure):
    """1 if nothing is returned for a query without a relevant document, else 0.

    Its mean is the share of queries without an answer for which the run gives none. With `above=S` only
    documents with a score above S count as returned. Undefined for queries with a relevant document, which
    are left out of the mean. A query that is missing from the run returns nothing. A run that never returns
    anything has the value 1, so show recall or Success@k at the same threshold, too.

    >>> NoAnswer().of([], judged=[0]), NoAnswer().of([None, 0])
    (1.0, 0.0)
    >>> NoAnswer().of([], judged=[1])
    nan
    """

    title = "nothing returned where nothing is relevant"
    formula = "1 if no document has a score above S, else 0, for queries with R = 0"
    source = "Chen et al. 2024, negative rejection"
    average: ClassVar[Average] = "defined"
    aliases: ClassVar[Aliases] = {"abstained": {}, "rejection_rate": {}, "negative_rejection": {}}
    scored: ClassVar[int] = 1
    unanswered: ClassVar[bool] = True

    above: float | None = Parameter(None, type_=float)  # type: ignore[assignment]
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        nothing = judged.length == 0
        if self.above is not None:
            if judged.tops is None:
                raise UsageError(
                    f"{self} needs the scores of the run, which are not available here. Use `evaluate`."
                )
            nothing = judged.tops.score <= self.above
        return np.where(relevant(judged, self.rel) == 0, nothing.astype(np.float64), np.nan)
