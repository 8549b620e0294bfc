"""Measures of the blended ratio, precision for graded relevance: Q, O, P, P-plus, NCU, EBR."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import Ideal
from leadline.data.registry import Aliases, Rejected, choice, cutoff, number
from leadline.measures import Measure, check_finite, ratio, relevant, up_to
from leadline.measures.cumulated_gain import gain_of_rows, gains_by_grade, gains_of
from leadline.measures.user_models import (
    OTHER_NAMES,
    accumulate_by_query,
    gains_below,
    product_before,
    scaled_gain,
    stop_probability,
)


class Found(NamedTuple):
    """The retrieved relevant documents, ordered by query and rank; `nth` numbers them from 1 per query."""

    query: Codes
    rank: Codes
    nth: Integers
    grade: Floats
    blended: Floats

    def only(self, chosen: Flags) -> Found:
        """Return some of the documents."""
        query, rank, nth, grade, blended = self
        return Found(query[chosen], rank[chosen], nth[chosen], grade[chosen], blended[chosen])


class _Blended(Measure):
    """Base class of the measures computed from the blended ratio at relevant documents."""

    beta: float = number(1.0, low=0.0)
    rel: float = number(1.0, low=0.0)
    gains: Any = gains_by_grade(low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query: 0 if no relevant document is retrieved, NaN if none is judged."""
        values = self.combined(judged, self.found(judged))
        return np.where(relevant(judged, self.rel) == 0, np.nan, values)

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        """Return the value of every query from its relevant documents."""
        raise NotImplementedError

    def found(self, judged: JudgedRun) -> Found:
        """Return the relevant documents retrieved up to the cutoff."""
        if self.gains == "grade":
            gain = np.maximum(judged.grade, 0.0)
        else:
            gain = gain_of_rows(judged.qrels, self.gains)[judged.row]
        chosen = np.flatnonzero((judged.grade >= self.rel) | (gain > 0))
        query, rank, grade = judged.query[chosen], judged.rank[chosen], judged.grade[chosen]
        hit = grade >= self.rel
        count = accumulate_by_query(query, hit.astype(np.float64), np.add)
        _, ideal = gains_of(judged, self.gains)
        blended = blended_ratio(self, query, rank, count, gain[chosen], ideal, self.beta)
        if self.cutoff is not None:
            hit &= rank <= self.cutoff
        return Found(query, rank, count.astype(np.int64), grade, blended).only(hit)


def blended_ratio(
    measure: Measure, query: Codes, rank: Codes, count: Floats, gain: Floats, ideal: Ideal, beta: float
) -> Floats:
    """Return (count + beta * cumulated gain) / (rank + beta * ideal cumulated gain) of every row.

    The rows are ordered by query and rank, and include all documents with a gain.
    """
    with np.errstate(over="ignore"):
        added = check_finite(measure, _weighed(accumulate_by_query(query, gain, np.add), beta))
        best = check_finite(measure, _weighed(_best(ideal, query, rank), beta))
    return np.minimum((count + added) / (rank + best), 1.0)  # sums in another order may round differently


def _weighed(gain: Floats, beta: float) -> Floats:
    return gain * beta if beta else np.zeros_like(gain)


def _best(ideal: Ideal, query: Codes, rank: Codes) -> Floats:
    """Return the cumulated gain of the ideal list at a rank of a query."""
    added = accumulate_by_query(ideal.query, ideal.gain, np.add)
    first = np.searchsorted(ideal.query, query)
    last = np.searchsorted(ideal.query, query, side="right")
    index = np.minimum(first + rank, last)
    return np.where(index > first, np.append(0.0, added)[index], 0.0)


class Q(_Blended):
    """Average precision with the blended ratio in place of precision: AP for graded relevance.

    The blended ratio at rank r is (relevant documents + beta * gain) / (r + beta * ideal gain),
    both gains cumulated to rank r; the gain is the grade, or that given by `gains`. `beta=0` is AP.
    With a cutoff k the divisor remains R; `norm=min` divides by min(R, k), as NTCIREVAL does.

    >>> round(Q().of([1, 0, 2]), 4)  # 1/2 * ((1 + 1) / (1 + 2) + (2 + 3) / (3 + 3))
    0.75
    """

    title = "Q-measure"
    formula = "sum over relevant documents at ranks r <= k of (relevant documents + beta * gain) / "
    formula += "(r + beta * ideal gain), all three up to rank r, / R (all relevant documents)"
    source = "Sakai 2004; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"q_measure": {}, "Q-measure": {}, "QMeasure": {}, "qm": {}}

    norm: str = choice("relevant", "min")

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        size = relevant(judged, self.rel)
        if self.norm == "min" and self.cutoff is not None:
            size = np.minimum(size, self.cutoff)
        return ratio(judged.total(found.query, found.blended), size)


class O_measure(_Blended):  # noqa: N801  # the field's spelling
    """Blended ratio at the first relevant document; 0 if none is retrieved in the top k.

    A reciprocal rank for graded relevance: `beta=0` is RR. The blended ratio is that of Q.

    >>> O_measure().of([0, 1], judged=[2, 1, 0])  # (1 + 1) / (2 + 3)
    0.4
    """

    title = "O-measure"
    formula = "(1 + beta * gain) / (r + beta * ideal gain), both gains up to r, the rank of the first "
    formula += "relevant document"
    source = "Sakai 2007a; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"O-measure": {}, "OMeasure": {}}

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        first = found.only(found.nth == 1)
        return judged.total(first.query, first.blended)


def preferred_rank(judged: JudgedRun, found: Found) -> Integers:
    """Return the rank of the first document of the highest grade retrieved, per query; 0 if none is."""
    highest = np.full(len(judged.present), -np.inf)
    np.maximum.at(highest, found.query, found.grade)
    best = found.only(found.grade == highest[found.query])
    ranks = np.zeros(len(judged.present), dtype=np.int64)
    ranks[best.query[::-1]] = best.rank[::-1]  # the first of each query is written last
    return ranks


class P_measure(_Blended):  # noqa: N801  # the field's spelling
    """Blended ratio at the preferred rank: that of the first document of the highest grade retrieved.

    For a user who needs one document and reads on to the best of the list. The highest grade is that
    of the top k, not that of the judgments; 0 if no relevant document is retrieved. A better
    document below may lower the value, since the preferred rank moves down to it.

    >>> P_measure().of([1, 0, 2])  # (2 + 3) / (3 + 3) at rank 3
    0.8333333333333334
    """

    title = "P-measure"
    formula = "blended ratio (see Q) at the first document with the highest grade among ranks 1..k"
    source = "Sakai 2006; Sakai 2007a; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"P-measure": {}, "PMeasure": {}}

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        preferred = found.only(found.rank == preferred_rank(judged, found)[found.query])
        return judged.total(preferred.query, preferred.blended)


class P_plus(_Blended):  # noqa: N801  # the field's spelling
    """Mean of the blended ratio over the relevant documents down to the preferred rank of P_measure.

    0 if no relevant document is retrieved in the top k. The divisor is the number of relevant
    documents retrieved to the preferred rank, so that what lies below it has no influence.

    >>> P_plus().of([1, 0, 2, 1])  # ((1 + 1) / (1 + 2) + (2 + 3) / (3 + 4)) / 2
    0.6904761904761905
    """

    title = "P-plus"
    formula = "mean of the blended ratio (see Q) over relevant documents at ranks 1..p, p the preferred rank "
    formula += "(see P_measure)"
    source = "Sakai 2007a; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"P-plus": {}, "P+": {}, "PPlusMeasure": {}}

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        read = found.only(found.rank <= preferred_rank(judged, found)[found.query])
        return judged.total(read.query, read.blended) / np.maximum(judged.total(read.query), 1.0)


class NCUgu(_Blended):
    """Expected blended ratio at the document where the user stops, the more likely the higher its grade.

    Normalized cumulative utility with a graded-uniform distribution over the relevant documents: the
    probability of a stop is proportional to `stop`, by default the gain, among all relevant
    documents judged; a stop at one that is not retrieved has utility 0. `beta=0` has the utility
    precision (`NCUguP`), `beta=1` the blended ratio (`NCUguBR`). Undefined if all stops are 0.
    NTCIREVAL prints the names as `NCUgu,P` and `NCUgu,BR`, where a comma here begins a new name.

    >>> NCUgu(beta=0).of([1, 0, 2])  # 1/3 * 1/1 + 2/3 * 2/3
    0.7777777777777777
    """

    title = "graded-uniform NCU"
    formula = "sum over relevant documents at ranks r <= k of stop * blended ratio at r, / sum of the stops "
    formula += "of all relevant documents"
    source = "Sakai and Robertson 2008; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"NCUguP": {"beta": 0.0}, "NCUguBR": {"beta": 1.0}}

    stop: Any = gains_by_grade("gain", low=0.0)

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        qrels = judged.qrels
        stops = self.gains if self.stop == "gain" else self.stop
        table = np.maximum(qrels.grades, 0.0) if stops == "grade" else gain_of_rows(qrels, stops)
        hit = judged.grade >= self.rel
        if self.cutoff is not None:
            hit &= judged.rank <= self.cutoff
        stop = table[judged.row[hit]]
        rows = np.flatnonzero(qrels.grades >= self.rel)
        with np.errstate(over="ignore"):
            whole = check_finite(self, judged.total(qrels.query[rows], table[rows]))
        return np.minimum(ratio(judged.total(found.query, stop * found.blended), whole), 1.0)


class NCUrb(_Blended):
    """Expected blended ratio at the document where the user stops, the more likely the fewer precede it.

    Normalized cumulative utility with a rank-biased distribution over the relevant documents: the
    probability of a stop at the n-th relevant document is proportional to gamma^(n - 1), n = 1..R.
    `beta=0` has the utility precision (`NCUrbP`), `beta=1` the blended ratio (`NCUrbBR`). `gamma=0`
    is O_measure, `gamma=1` is Q. With a cutoff the divisor remains the sum over R, where NTCIREVAL
    divides by min(R, k).

    >>> round(NCUrb(beta=0, gamma=0.5).of([1, 0, 1]), 4)  # (1 * 1/1 + 0.5 * 2/3) / 1.5
    0.8889
    """

    title = "rank-biased NCU"
    formula = "sum over relevant documents, the n-th at rank r <= k, of gamma^(n - 1) * blended ratio at r, "
    formula += "/ sum of gamma^(n - 1) for n = 1..R"
    source = "Sakai and Robertson 2008; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"NCUrbP": {"beta": 0.0}, "NCUrbBR": {"beta": 1.0}}

    gamma: float = number(0.95, low=0.0, high=1.0)

    def combined(self, judged: JudgedRun, found: Found) -> Floats:
        weight, whole = rank_biased(judged, found.nth, rel=self.rel, gamma=self.gamma)
        return ratio(judged.total(found.query, weight * found.blended), whole)


def rank_biased(
    judged: JudgedRun, nth: Codes | Integers, *, rel: float, gamma: float
) -> tuple[Floats, Floats]:
    """Return gamma^(n - 1) of the n-th relevant documents, and its sum for n = 1..R of every query."""
    size = judged.qrels.relevant(rel)
    weights = np.power(gamma, np.arange(float(size.max(initial=0))))
    return weights[nth - 1], np.concatenate(([0.0], np.cumsum(weights)))[size]


class NCUrbIE(Measure):
    """Expected utility p^r at the rank r of the document where the user of NCUrb stops: inverse effort.

    The probability of a stop is that of NCUrb, the utility that of iRBU, whatever the grades. The
    maximum is below p.

    >>> round(NCUrbIE(p=0.5, gamma=0.5).of([0, 1, 1]), 4)  # (1 * 0.25 + 0.5 * 0.125) / 1.5
    0.2083
    """

    title = "rank-biased NCU, inverse effort"
    formula = "sum over relevant documents, the n-th at rank r <= k, of gamma^(n - 1) * p^r, / sum of "
    formula += "gamma^(n - 1) for n = 1..R"
    source = "NTCIREVAL NCUrb,IE"

    gamma: float = number(0.95, low=0.0, high=1.0)
    p: float = number(0.99, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, nth = up_to(self.cutoff, *judged.hits(self.rel))
        weight, whole = rank_biased(judged, nth, rel=self.rel, gamma=self.gamma)
        return ratio(judged.total(query, weight * np.power(self.p, rank + 0.0)), whole)


class EBR(Measure):
    """Expected blended ratio at the rank where the user of ERR stops.

    The user stops at a document with the probability s of ERR, (2^grade - 1) / 2^max_grade; its
    utility is the blended ratio of Q with the gain 2^grade - 1. `gain=linear` has the gain grade and
    s = grade / (max_grade + 1). A document is relevant if its grade is positive. Never undefined: 0
    if nothing is relevant. The maximum is below 1.

    >>> EBR(max_grade=1).of([0, 1])  # s = 1/2; blended ratio (1 + 1) / (2 + 1)
    0.3333333333333333
    """

    title = "expected blended ratio"
    formula = "sum over ranks r <= k of s(r) * product over i < r of (1 - s(i)) * blended ratio at r"
    source = "Sakai and Zeng 2021; NTCIREVAL"
    rejected: ClassVar[Rejected] = OTHER_NAMES

    beta: float = number(1.0, low=0.0)
    gain: str = choice("exp", "linear")
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, grade = gains_below(self, judged, self.max_grade)
        ideal = judged.qrels.ideal
        with np.errstate(over="ignore"):
            gain, best = scaled_gain(grade, self.gain), scaled_gain(ideal.gain, self.gain)
        count = np.arange(1.0, len(query) + 1) - np.searchsorted(query, query)
        blended = blended_ratio(self, query, rank, count, gain, ideal._replace(gain=best), self.beta)
        stop = stop_probability(grade, self.gain, self.max_grade)
        part = stop * product_before(query, 1 - stop) * blended
        query, _, part = up_to(self.cutoff, query, rank, part)
        return judged.total(query, part)
