"""Measures of cumulated gain: CG, DCG, nDCG, G."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import Gains, JudgedRun
from leadline.data.judgment_tables import Ideal
from leadline.data.qrels import QrelsColumns
from leadline.data.registry import (
    Aliases,
    DefaultCutoffs,
    Parameter,
    Rejected,
    choice,
    cutoff,
    needed_cutoff,
    number,
    show,
)
from leadline.measures import CUTOFFS, Measure, check_finite, ratio, relevant, up_to
from leadline.measures.user_models import OTHER_NAMES, gains_below, sum_to_cutoff


class GainsByGrade(Parameter):
    """Gains of grades, written as 1:3/2:9; the default is a word."""

    def expected(self) -> str:
        limits = "both at least 0" if self.low == 0 else "grades at least 0"
        return f"'{self.default}', or grade:gain pairs ({limits}) as in 1:3/2:9"

    def read(self, value: object) -> object:
        """Convert text or pairs to the canonical text of the gains, ordered by grade."""
        if value == self.default:
            return value
        pairs: list[Any] = []
        if isinstance(value, str):
            pairs = [part.split(":") for part in value.split("/")]
        elif isinstance(value, dict):
            pairs = list(value.items())
        if not pairs:
            raise ValueError
        table: dict[float, str] = {}
        for grade, gain in pairs:
            key = float(show(super().read(grade)))
            if key < 0 or key in table:
                raise ValueError
            table[key] = show(super().read(gain))
        return "/".join(f"{show(grade)}:{gain}" for grade, gain in sorted(table.items()))


def gains_by_grade(default: str = "grade", *, low: float = -1e9) -> Any:
    """Declare a parameter that maps grades to gains; the default word says what the gain is without it."""
    return GainsByGrade(default, type_=float, low=low, high=1e9)


def gain_of_rows(qrels: QrelsColumns, gains: str) -> Floats:
    """Return the gain of every judged document: that given for its grade, else the grade, at least 0."""
    gain = np.maximum(qrels.grades, 0.0)
    for grade, changed in (map(float, part.split(":")) for part in gains.split("/")):
        gain[qrels.grades == grade] = changed
    return gain


def gains_of(judged: JudgedRun, gains: str) -> tuple[Gains, Ideal]:
    """Return the retrieved documents with a non-zero gain, and the ideal list."""
    if gains == "grade":
        return judged.gains, judged.qrels.ideal
    qrels = judged.qrels
    gain = gain_of_rows(qrels, gains)
    retrieved = gain[judged.row]
    rows = np.flatnonzero(retrieved)
    best = np.flatnonzero(gain > 0)
    best = best[np.lexsort((-gain[best], qrels.query[best]))]
    query = qrels.query[best]
    first = np.searchsorted(query, np.arange(len(qrels.queries)))
    ideal = Ideal(query, np.arange(len(best)) - first[query] + 1, gain[best])
    return Gains(judged.query[rows], judged.rank[rows], retrieved[rows]), ideal


def running(values: Floats, bounds: Integers) -> Floats:
    """Return cumulative sums within each segment, added from left to right."""
    total = np.empty(len(values))
    edges = bounds.tolist()
    with np.errstate(over="ignore"):  # the measure refuses sums that are no numbers
        for low, high in pairwise(edges):
            np.add.accumulate(values[low:high], out=total[low:high])
    return total


class DCGCurve:
    """DCG of every list after each of its documents with a non-zero gain."""

    def __init__(self, judged: JudgedRun, gains: Gains | Ideal) -> None:
        self.bounds = np.searchsorted(gains.query, np.arange(len(judged.present) + 1))
        self.dcg = running(gains.gain / np.log2(gains.rank + 1.0), self.bounds)
        self.size: Integers = np.diff(self.bounds)
        self.last = np.zeros(len(self.size))
        some = self.size > 0
        self.last[some] = self.dcg[self.bounds[1:][some] - 1]
        self._deepest = int(gains.rank.max(initial=0)) + 1
        self._keys = gains.query.astype(np.int64) * self._deepest + gains.rank

    def at(self, query: Codes, rank: Codes | Integers) -> Floats:
        """Return the DCG of lists at the given ranks."""
        keys = query.astype(np.int64) * self._deepest + np.minimum(rank, self._deepest - 1)
        index = np.searchsorted(self._keys, keys, side="right")
        values = np.zeros(len(index))
        reached = index > self.bounds[query]
        values[reached] = self.dcg[index[reached] - 1]
        return values


NO_LEVEL = {
    "rel": "Every positive grade gives a gain, even one below the relevance level (in ranx, such a grade "
    "gives none)"
}


class CG(Measure):
    """Sum of the gains of the top k documents; the gain is the grade, 0 if it is negative.

    >>> round(CG(cutoff=6).of([1, 0.6, 0, 0.8, 0, 1]), 4)
    3.4
    """

    title = "cumulative gain"
    formula = "sum over ranks 1..k of the gain"
    source = "Jarvelin and Kekalainen 2002"
    high: ClassVar[float] = math.inf

    rejected: ClassVar[Rejected] = NO_LEVEL

    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, _, gain = up_to(self.cutoff, *judged.gains)
        return check_finite(self, judged.total(query, gain))


class DCG(Measure):
    """Sum of the gains of the top k documents, each discounted by the logarithm of its rank.

    `discount=log2` divides by log2(rank + 1). `discount=jk` is that of Jarvelin and Kekalainen with
    base 2: ranks 1 and 2 are not discounted, later ones are divided by log2(rank). `gain=exp` uses
    the gain 2^grade - 1.

    >>> round(DCG(discount="jk", cutoff=6).of([1, 0.6, 0, 0.8, 0, 1]), 2)
    2.39
    """

    title = "discounted cumulative gain"
    formula = "sum over ranks r <= k of gain / log2(r + 1)"
    source = "Jarvelin and Kekalainen 2002; Burges et al. 2005"
    high: ClassVar[float] = math.inf
    aliases: ClassVar[Aliases] = {"dcg_burges": {"gain": "exp"}}
    rejected: ClassVar[Rejected] = NO_LEVEL

    gain: str = choice("linear", "exp")
    discount: str = choice("log2", "jk")
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        with np.errstate(over="ignore"):
            return check_finite(self, self.added(judged, *judged.gains, np.zeros(len(judged.present))))

    def added(
        self, judged: JudgedRun, query: Codes, rank: Codes | Integers, grade: Floats, power: Floats
    ) -> Floats:
        """Return the sum of the discounted gains of each query in rank order, divided by 2^power."""
        query, rank, grade = up_to(self.cutoff, query, rank, grade)
        less = np.exp2(-power[query])
        gain = np.exp2(grade - power[query]) - less if self.gain == "exp" else grade * less
        divisor = np.log2(rank + 1.0 if self.discount == "log2" else np.maximum(rank, 2.0))
        return judged.total(query, gain / divisor)


class SDCG(Measure):
    """Scaled DCG: DCG divided by that of k documents of the largest possible grade.

    Unlike nDCG it does not depend on the judged documents of the query. The gain is
    grade / max_grade; a larger grade is an error.

    >>> round(SDCG(max_grade=1, cutoff=2).of([0, 1]), 4)  # 1 / log2(3) of 1 + 1 / log2(3)
    0.3869
    """

    title = "scaled discounted cumulative gain"
    formula = "sum over ranks r <= k of grade / max_grade / log2(r + 1), / sum of 1 / log2(r + 1)"
    source = "cwl_eval; Jarvelin and Kekalainen 2002"
    rejected: ClassVar[Rejected] = OTHER_NAMES

    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        query, rank, grade = up_to(self.cutoff, *gains_below(self, judged, self.max_grade))
        gain = grade / self.max_grade / np.log2(rank + 1.0)
        return judged.total(query, gain) / sum_to_cutoff(self.cutoff, lambda ranks: 1.0 / np.log2(ranks + 1))


class nDCG(DCG):  # noqa: N801  # the field's spelling
    """DCG divided by the DCG of the ideal ranking of all judged documents.

    `discount` and `gain` as for DCG. Undefined for queries without a document of positive gain.

    >>> round(nDCG(cutoff=4).of([1, 0.6, 0, 0.8, 0, 1]), 4)
    0.7527
    >>> round(nDCG(discount="jk", cutoff=4).of([1, 0.6, 0, 0.8, 0, 1, 0.2]), 2)
    0.71
    """

    title = "normalized discounted cumulative gain"
    formula = "DCG@k / DCG@k of all judged documents ordered by grade"
    source = "Jarvelin and Kekalainen 2002; trec_eval ndcg, ndcg_cut"
    high: ClassVar[float] = 1.0
    aliases: ClassVar[Aliases] = {
        "ndcg": {},
        "ndcg_cut": {},
        "ndcg_burges": {"gain": "exp"},
        "MSnDCG": {},
        "RetrievalNormalizedDCG": {},
    }
    default_cutoffs: ClassVar[DefaultCutoffs] = {"ndcg_cut": CUTOFFS}

    def values(self, judged: JudgedRun) -> Floats:
        ideal = judged.qrels.ideal
        best = np.zeros(len(judged.present))
        best[ideal.query[ideal.rank == 1]] = ideal.gain[ideal.rank == 1]
        power = self.too_large(best)
        return ratio(self.added(judged, *judged.gains, power), self.added(judged, *ideal, power))

    def too_large(self, grade: Floats) -> Floats:
        """Return the power of 2 by which the gains must be divided so that their sum does not overflow."""
        size = grade if self.gain == "exp" else np.frexp(grade)[1]
        return np.ceil(np.maximum(size - 900.0, 0.0))


class GnDCG(Measure):
    """nDCG with a gain assigned to each grade, as in `gains=1:3/2:9`.

    Grades not listed are their own gain; a gain may be 0 or negative. Without `gains` it equals nDCG.

    >>> round(GnDCG(gains="1:1/2:3").of([1, 2, 0]), 4)  # (1 + 3/log2(3)) / (3 + 1/log2(3))
    0.7967
    """

    title = "nDCG with given gains"
    formula = "DCG@k / DCG@k of all judged documents with a positive gain, ordered by gain"
    source = "trec_eval ndcg with parameters; Jarvelin and Kekalainen 2002"
    low: ClassVar[float] = -math.inf
    rejected: ClassVar[Rejected] = {"gain": "The parameter 'gains' already sets the gain of each grade"}

    gains: Any = gains_by_grade()
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        retrieved, ideal = gains_of(judged, self.gains)
        best = check_finite(self, dcg(judged, *up_to(self.cutoff, *ideal)))
        return ratio(dcg(judged, *up_to(self.cutoff, *retrieved)), best)


def dcg(judged: JudgedRun, query: Codes, rank: Codes | Integers, gain: Floats) -> Floats:
    """Return the sum of the gains per query, each divided by log2(rank + 1)."""
    return judged.total(query, gain / np.log2(rank + 1.0))


class RnDCG(Measure):
    """Mean of nDCG@k over k = the number of judged documents with at least each gain.

    With 5 documents of gain 3 and 3 of gain 2 it is the mean of nDCG@5 and nDCG@8. A list longer
    than the largest k by two or more adds nDCG at its length. Undefined for queries without a
    document of grade `rel`.

    >>> round(RnDCG().of([1, 2]), 4)  # nDCG@1 = 1/2, nDCG@2 = (1 + 2/log2(3)) / (2 + 1/log2(3))
    0.6799
    """

    title = "nDCG averaged over levels of gain"
    formula = (
        "mean of nDCG@k over the positive gains g, k = number of judged documents with gain g or more; "
        "a list longer than the largest k by two or more adds nDCG at its length"
    )
    source = "trec_eval Rndcg"

    gains: Any = gains_by_grade()
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        retrieved, ideal = gains_of(judged, self.gains)
        curve, best = DCGCurve(judged, retrieved), DCGCurve(judged, ideal)
        check_finite(self, best.last)
        ends = np.ones(len(ideal.query), dtype=np.bool_)
        ends[:-1] = (ideal.query[1:] != ideal.query[:-1]) | (ideal.gain[1:] != ideal.gain[:-1])
        query, rank = ideal.query[ends], ideal.rank[ends]
        total = judged.total(query, curve.at(query, rank) / best.dcg[ends])
        longer = (judged.length > best.size + 1) & (best.size > 0)
        total[longer] += (curve.last / np.where(longer, best.last, 1.0))[longer]
        size = judged.total(query) + longer
        size[relevant(judged, self.rel) == 0] = 0.0
        return ratio(total, size)


class nDCGrel(Measure):  # noqa: N801  # the field's spelling
    """Mean of nDCG@k over the ranks k of the documents with a positive gain.

    A document that was not retrieved contributes the DCG of the whole list divided by that of the
    ideal list.

    >>> round(nDCGrel().of([0, 1], judged=[0, 1, 1]), 4)  # both: 1/log2(3) of 1 + 1/log2(3)
    0.3869
    """

    title = "nDCG averaged over relevant documents"
    formula = (
        "mean of nDCG at the rank of each document with a positive gain (DCG / ideal DCG if not retrieved)"
    )
    source = "trec_eval ndcg_rel"
    aliases: ClassVar[Aliases] = {"ndcg_rel": {}}

    gains: Any = gains_by_grade()

    def values(self, judged: JudgedRun) -> Floats:
        retrieved, ideal = gains_of(judged, self.gains)
        curve, best = DCGCurve(judged, retrieved), DCGCurve(judged, ideal)
        check_finite(self, best.last)
        chosen = retrieved.gain > 0
        query = retrieved.query[chosen]
        reached = curve.dcg[chosen] / best.at(query, retrieved.rank[chosen])
        rest = (best.size - judged.total(query)) * ratio(curve.last, best.last)
        return ratio(judged.total(query, reached) + rest, best.size.astype(np.float64))


class G(Measure):
    """Sum of the gains, each discounted by the gain lost so far to the ideal list, over the sum of all gains.

    The ideal list has a gain of at least 1 at every rank, so that long lists are penalised too.

    >>> G().of([1, 0, 0, 1], judged=[1, 1, 0, 0])  # (1 + 1/log2(4)) / 2
    0.75
    """

    title = "normalized gain"
    formula = "sum over ranks of gain / log2(2 + ideal sum so far (at least 1 per rank) - sum so far), "
    formula += "/ sum of the positive gains of all judged documents"
    source = "trec_eval G"

    gains: Any = gains_by_grade()

    def values(self, judged: JudgedRun) -> Floats:
        retrieved, ideal = gains_of(judged, self.gains)
        whole = check_finite(self, judged.total(ideal.query, ideal.gain))
        query, rank, gain = retrieved
        boundaries = np.arange(len(judged.present) + 1)
        bounds = np.searchsorted(ideal.query, boundaries)
        paid = np.concatenate(([0.0], running(np.maximum(ideal.gain, 1.0), bounds)))
        size = np.diff(bounds)[query]
        within = np.minimum(rank, size)
        cost = np.where(within > 0, paid[bounds[query] + within], 0.0) + (rank - within)
        got = running(gain, np.searchsorted(query, boundaries))
        values = gain / np.log2(2.0 + cost - got)
        return ratio(judged.total(query, values), whole)
