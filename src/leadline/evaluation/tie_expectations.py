"""Expected values of measures over the orders of tied documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.measures import Measure, ratio, relevant
from leadline.measures.average_precision import AP
from leadline.measures.cumulated_gain import CG, DCG, SDCG, nDCG
from leadline.measures.precision import RankOf
from leadline.measures.preference import Bpref, binG
from leadline.measures.user_models import ERR, RBP, stop_probability, sum_to_cutoff
from leadline.measures.user_models import weights as rank_biased


def last_ranks(judged: JudgedRun) -> Integers:
    """Return the last rank, within the list as cut, of the tie of each row."""
    last: Integers = np.minimum(judged.tie_last, judged.length[judged.query]).astype(np.int64)
    return last


def group_bounds(query: Codes, first: Codes | Integers) -> tuple[Integers, Integers]:
    """Return the first row and the end (exclusive) of the tie of each row; rows are in order of rank."""
    new = np.ones(len(first), dtype=np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    return starts[group], np.append(starts[1:], len(first))[group]


class Rule:
    """Bounds and expected values of a family of measures.

    A measure listed in `measures` must be monotone over the orders of a tie: exchanging two tied documents so
    that the higher grade moves up never lowers (or never raises) the value, where unjudged documents count
    as between grade 0 and negative grades. Its extreme values are then those of the two sorted orders.
    Measures without a rule have no bounds. `tests/evaluation/test_ties.py` checks every rule on all orders
    and all grades of small lists.
    """

    measures: ClassVar[tuple[str, ...]] = ()

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats | None:
        """Return the mean over all orders of tied documents; None if there is no closed form.

        Parameters
        ----------
        measure : Measure
            Measure of this family.
        judged : JudgedRun
            One run joined with the relevance judgments.
        low, high : ndarray of float64, shape (n_queries,)
            Values with ties in ascending and in descending order of grade.
        """
        del self, measure, judged, low, high
        return None

    def monotone(self, measure: Measure) -> bool:
        """Return whether the value is monotone in the grades of retrieved documents."""
        del self, measure
        return True


class Gains(Rule):
    """Sums of gain x weight of the rank, divided by a quantity that does not depend on the order.

    A document of a tie is at each rank of the tie equally often, so in expectation its gain is multiplied by
    the mean weight of these ranks. Weights do not increase with the rank, so by the rearrangement inequality
    the sorted orders give the extremes.
    """

    measures: ClassVar[tuple[str, ...]] = ("CG", "DCG", "RBP", "SDCG", "nDCG")

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        del low, high
        weights = np.zeros(int(judged.length.max(initial=0)) + 1)
        ranks = np.arange(1, len(weights))
        if isinstance(measure, RBP):
            weights[1:] = rank_biased(ranks.astype(np.int32), measure.p)
            return _rank_biased(measure, judged, weights)
        if isinstance(measure, DCG):
            weights[1:] = _discount(measure, ranks)
            return _discounted(measure, judged, weights)
        gain = judged.gains.gain
        if isinstance(measure, SDCG):
            weights[1:] = 1.0 / np.log2(ranks + 1.0)
            best = sum_to_cutoff(measure.cutoff, lambda ranks: 1.0 / np.log2(ranks + 1))
            return _weighted(judged, gain, weights, measure.cutoff) / (measure.max_grade * best)
        assert isinstance(measure, CG)
        weights[1:] = 1.0
        return _weighted(judged, gain, weights, measure.cutoff)


def _discounted(measure: DCG, judged: JudgedRun, weights: Floats) -> Floats:
    """Return DCG or nDCG."""
    if not isinstance(measure, nDCG):
        gain = _gain(measure, judged, np.zeros(len(judged.present)))
        return _weighted(judged, gain, weights, measure.cutoff)
    power = measure.too_large(_best(judged))
    part = _weighted(judged, _gain(measure, judged, power), weights, measure.cutoff)
    return ratio(part, measure.added(judged, *judged.qrels.ideal, power))


def _rank_biased(measure: RBP, judged: JudgedRun, weights: Floats) -> Floats:
    """Return RBP with any of its gains."""
    if measure.gain == "binary":
        rows = np.flatnonzero(judged.grade >= measure.rel)
        return _weighted(judged, np.ones(len(rows)), weights, measure.cutoff, rows=rows)
    query, _, grade = judged.gains
    largest = np.full(len(judged.present), measure.max_grade)
    if measure.gain == "scaled":
        largest[:] = np.maximum(_best(judged), 1.0)
    return _weighted(judged, grade / largest[query], weights, measure.cutoff)


def _best(judged: JudgedRun) -> Floats:
    ideal = judged.qrels.ideal
    best = np.zeros(len(judged.present))
    best[ideal.query[ideal.rank == 1]] = ideal.gain[ideal.rank == 1]
    return best


def _discount(measure: DCG, ranks: Integers) -> Floats:
    """Return the weight of a gain at each rank."""
    return np.asarray(1.0 / np.log2(ranks + 1.0 if measure.discount == "log2" else np.maximum(ranks, 2.0)))


def _gain(measure: DCG, judged: JudgedRun, power: Floats) -> Floats:
    """Return the gain of every document of positive grade, divided by 2^power of its query."""
    query, _, grade = judged.gains
    less = np.exp2(-power[query])
    with np.errstate(over="ignore"):
        exponential = np.exp2(grade - power[query]) - less
    return exponential if measure.gain == "exp" else grade * less


def _weighted(
    judged: JudgedRun, gain: Floats, weights: Floats, cutoff: int | None, *, rows: Integers | None = None
) -> Floats:
    """Return the sums by query of gain x mean weight of the ranks of the tie."""
    if cutoff is not None:
        weights[cutoff + 1 :] = 0.0
    below = np.cumsum(weights)
    rows = np.flatnonzero(judged.grade > 0) if rows is None else rows
    first, last = judged.tie_first[rows], last_ranks(judged)[rows]
    mean = (below[last] - below[first - 1]) / (last - first + 1)
    return judged.total(judged.query[rows], gain * mean)


class FirstHit(Rule):
    """RR and Success, which depend on the first relevant document only.

    It is in the first tie with a relevant document. If r of the m documents of the tie are relevant, the
    first is at position i with probability C(m - i, r - 1) / C(m, r): r/m at position 1, and from position i
    to the next (m - i - r + 1) / (m - i) times as much.
    """

    measures: ClassVar[tuple[str, ...]] = ("RR", "Success")

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        rel, cutoff = float(getattr(measure, "rel", 1.0)), getattr(measure, "cutoff", None)
        rows = np.flatnonzero(judged.grade >= rel)
        query, first = judged.query[rows], judged.tie_first[rows].astype(np.int64)
        last = last_ranks(judged)[rows]
        start, stop = group_bounds(query, first)
        values = low.copy()
        for row in np.flatnonzero((judged.hits(rel).nth == 1) & (low[query] != high[query])).tolist():
            chances = chances_of_first(int(last[row] - first[row]) + 1, int(stop[row] - start[row]))
            ranks = np.arange(len(chances)) + first[row]
            worth = 1.0 / ranks if type(measure).__name__ == "RR" else np.ones(len(ranks))
            if cutoff is not None:
                worth[ranks > cutoff] = 0.0
            values[query[row]] = float(chances @ worth)
        return values


def chances_of_first(size: int, relevant: int) -> Floats:
    """Return the probability that the first relevant document of a tie is at each of its positions.

    >>> chances_of_first(4, 2)
    array([0.5       , 0.33333333, 0.16666667])
    """
    position = np.arange(1, size - relevant + 1)
    steps = (size - position - relevant + 1) / (size - position)
    return np.asarray(np.cumprod(np.concatenate(([relevant / size], steps))), dtype=np.float64)


class Rank(Rule):
    """RankOf: the j-th of r relevant documents in a tie of m is expected at position j (m + 1) / (r + 1).

    The relevant documents divide the others into r + 1 segments of equal expected length (m - r)/(r + 1), and
    j segments precede the j-th. `form=search` is an expectation over the orders already. There are no bounds
    for unjudged documents: if one becomes relevant while R is fixed, another document may be the n-th.
    """

    measures: ClassVar[tuple[str, ...]] = ("RankOf",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        del high
        assert isinstance(measure, RankOf)
        if measure.form == "search":
            return low
        rows = np.flatnonzero(judged.grade >= measure.rel)
        query, first = judged.query[rows], judged.tie_first[rows].astype(np.int64)
        size = last_ranks(judged)[rows] - first + 1
        start, stop = group_bounds(query, first)
        position = np.arange(len(rows)) - start + 1
        reached = first - 1.0 + position * (size + 1) / (stop - start + 1)
        number = judged.qrels.relevant(measure.rel)
        target = number if measure.n == "all" else np.full(len(number), int(measure.n))
        last = np.flatnonzero(judged.hits(measure.rel).nth == target[query])
        values = np.full(len(number), np.nan)
        values[query[last]] = reached[last]
        return values

    def monotone(self, measure: Measure) -> bool:
        """Return False: another document may become the n-th relevant one."""
        del self, measure
        return False


class Preference(Rule):
    """Bpref: a relevant document of a tie has u of its judged non-relevant documents above it, u uniform.

    Among the n judged non-relevant documents of its tie, a relevant document has n + 1 equally likely
    positions. With q of them above the tie, the expected loss is the mean over u = 0..n of
    min(q + u, R) / min(N, R), of min(q + u, R) / R, or of (q + u) / N. Judging another document may decrease
    the value (if non-relevant) or increase it, so there are no bounds for unjudged documents.
    """

    measures: ClassVar[tuple[str, ...]] = ("Bpref",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats | None:
        """Return the mean over all orders; None for the divisor `above`."""
        del low, high
        assert isinstance(measure, Bpref)
        if measure.divisor == "above":
            return None
        size, grades = relevant(judged, measure.rel), judged.qrels.grades
        others = judged.qrels.count((grades >= 0) & (grades < measure.rel)).astype(np.float64)
        is_other = (judged.grade >= 0) & (judged.grade < measure.rel)
        running = np.concatenate(([0], np.cumsum(is_other)))
        start, stop = group_bounds(judged.query, judged.tie_first)
        rows = np.flatnonzero(judged.grade >= measure.rel)
        query = judged.query[rows]
        above = (running[start] - running[judged.offsets[:-1]][judged.query])[rows]
        tied = (running[stop] - running[start])[rows]
        limit = (others if measure.divisor == "N" else size)[query]
        free = np.clip(limit - above, 0, tied + 1)  # how many u keep q + u below R
        lost = free * above + free * (free - 1) / 2 + (tied + 1 - free) * limit
        bound = measure.bound(others, size)[query]
        return ratio(judged.total(query, 1.0 - lost / (tied + 1) / bound), size)

    def monotone(self, measure: Measure) -> bool:
        """Bpref skips documents without a judgment."""
        del self, measure
        return False


class NonrelevantAbove(Rule):
    """binG: a relevant document of a tie has u of its n non-relevant documents above it, u uniform on 0..n.

    With q non-relevant documents above the tie, the expected contribution of a relevant document is the mean
    of 1 / log2(2 + q + u). If it moves above a non-relevant document, its contribution increases and the
    others do not change. A document that becomes relevant adds its own contribution and is no longer a
    non-relevant document above others.
    """

    measures: ClassVar[tuple[str, ...]] = ("binG",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        del low, high
        assert isinstance(measure, binG)
        rows = np.flatnonzero(judged.grade >= measure.rel)
        query, first = judged.query[rows], judged.tie_first[rows].astype(np.int64)
        start, stop = group_bounds(query, first)
        others = last_ranks(judged)[rows] - first + 1 - (stop - start)
        above = first - judged.hits(measure.rel).nth[start]
        parts = 1.0 / np.log2(2.0 + np.arange(int(judged.length.max(initial=0)) + 1))
        below = np.concatenate(([0.0], np.cumsum(parts)))
        mean = (below[above + others + 1] - below[above]) / (others + 1)
        return ratio(judged.total(query, mean), relevant(judged, measure.rel))


class Counts(Rule):
    """Linear functions a + b x count, where a and b do not depend on the order.

    Each document of a tie at ranks f..l is at a rank up to k with probability
    min(max(k - f + 1, 0), l - f + 1) / (l - f + 1), and the expected count is the sum. The expected value of
    a linear function divides the range of values as the expected count divides the range of counts. F is
    linear in the count r: (1 + beta^2) r / (beta^2 R + n); E is its complement.
    """

    measures: ClassVar[tuple[str, ...]] = (
        "E",
        "F",
        "Judged",
        "NumRelRet",
        "P",
        "R",
        "RelP",
        "Rprec",
        "RprecMult",
        "Unj",
    )

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        least = 0.0 if _counts_judgments(measure) else float(getattr(measure, "rel", 1.0))
        rows = np.flatnonzero(judged.grade >= least)
        query = judged.query[rows]
        first = judged.tie_first[rows].astype(np.int64)
        last = last_ranks(judged)[rows]
        cutoff = _cutoff(measure, judged, query)
        within = last if cutoff is None else np.minimum(cutoff, last)
        size = last - first + 1
        inside = np.clip(within - first + 1, 0, size)
        counted = judged.total(query, inside / size)
        extremes = [judged.total(query, count) for count in _extreme_counts(query, first, inside, size)]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (counted - extremes[0]) / (extremes[1] - extremes[0])
        return low + (high - low) * np.where(extremes[1] == extremes[0], 0.0, share)

    def monotone(self, measure: Measure) -> bool:
        """Judged and Unj count judgments, not grades."""
        del self
        return not _counts_judgments(measure)


def _counts_judgments(measure: Measure) -> bool:
    return type(measure).__name__ in ("Judged", "Unj")


def _cutoff(measure: Measure, judged: JudgedRun, query: Codes) -> Floats | int | None:
    """Return the cutoff that applies to every row; None without a cutoff."""
    multiple = 1.0 if type(measure).__name__ == "Rprec" else getattr(measure, "multiple", None)
    if multiple is None:
        return getattr(measure, "cutoff", None)
    size = judged.qrels.relevant(float(getattr(measure, "rel", 1.0)))[query]
    return np.asarray(size if multiple == 1 else np.floor(multiple * size + 0.9), dtype=np.float64)


def _extreme_counts(query: Codes, first: Integers, inside: Integers, size: Integers) -> tuple[Floats, Floats]:
    """Return the contribution of each row to the lowest and to the highest count."""
    start, stop = group_bounds(query, first)
    chosen = stop - start
    low, high = np.maximum(chosen - size + inside, 0), np.minimum(chosen, inside)
    return low / chosen, high / chosen


class Cascade(Rule):
    """ERR: the user passes j documents of a tie with the mean of all products of j factors 1 - s.

    The mean over all subsets of size j is the elementary symmetric polynomial e(j) divided by its number of
    terms, so the user stops at the j-th position with probability mean(j - 1) - mean(j). Extremes: of two
    neighbors with s > t, the better one first adds (s - t)(1/r - 1/(r + 1)) and leaves the probability of
    reaching lower ranks unchanged. A larger s at rank r adds 1/r for users who would otherwise stop at
    r + 1 or below.
    """

    measures: ClassVar[tuple[str, ...]] = ("ERR",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        assert isinstance(measure, ERR)
        rows = np.flatnonzero(judged.grade > 0)
        query, first = judged.query[rows], judged.tie_first[rows].astype(np.int64)
        last = last_ranks(judged)[rows]
        start, stop = group_bounds(query, first)
        continues = 1.0 - stop_probability(judged.grade[rows], measure.gain, measure.max_grade)
        values = low.copy()
        reached = np.ones(len(low))
        moving = low != high
        values[moving] = 0.0
        for row in np.flatnonzero((start == np.arange(len(rows))) & moving[query]).tolist():
            means = mean_products(continues[row : stop[row]], int(last[row] - first[row]) + 1)
            stopping = reached[query[row]] * -np.diff(means)
            ranks = np.arange(first[row], last[row] + 1)
            counted = slice(measure.cutoff and max(measure.cutoff - int(first[row]) + 1, 0))
            values[query[row]] += float((stopping / ranks)[counted].sum())
            reached[query[row]] *= means[-1]
        return values


def mean_products(factors: Floats, size: int) -> Floats:
    """Return the mean product of j factors for j = 0..size; missing factors are 1.

    >>> mean_products(np.array([0.5]), 2)
    array([1.  , 0.75, 0.5 ])
    """
    means = np.ones(size - len(factors) + 1)
    for factor in factors.tolist():
        number = len(means)
        with_it = np.arange(number + 1) / number  # proportion of the subsets of size j with this factor
        means = (1.0 - with_it) * np.append(means, 0.0) + with_it * factor * np.concatenate(([0.0], means))
    return means


class AveragePrecision(Rule):
    """AP: sum of the expected precision at each position of a tie.

    Let a tie of m documents, r of them relevant, follow n documents, s of them relevant. Its i-th position
    has a relevant document with probability r / m. In that case the i - 1 positions before it have
    (i - 1)(r - 1)/(m - 1) relevant documents on average (sampling without replacement from the m - 1 others),
    so that the expected precision there is (s + 1 + (i - 1) c) / (n + i), c = (r - 1)/(m - 1). With
    (i - 1) c = c (n + i) - c (n + 1), and H the harmonic numbers, the t positions above the cutoff add

        r / m (c t + (s + 1 - c (n + 1)) (H(n + t) - H(n))).

    A relevant document that moves up increases its own precision and decreases no other, so the sorted orders
    give the extremes. Likewise a document that becomes relevant increases the value (for fixed R).
    """

    measures: ClassVar[tuple[str, ...]] = ("AP",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        del low, high
        assert isinstance(measure, AP)
        rows = np.flatnonzero(judged.grade >= measure.rel)
        query = judged.query[rows]
        above = judged.tie_first[rows].astype(np.int64) - 1
        size = last_ranks(judged)[rows] - above
        start, stop = group_bounds(query, above)
        before = judged.hits(measure.rel).nth[start] - 1
        counted = stop - start
        inside = size if measure.cutoff is None else np.clip(measure.cutoff - above, 0, size)
        harmonic = np.cumsum(1.0 / np.maximum(np.arange(int(judged.length.max(initial=0)) + 1), 1))
        slope = (counted - 1) / np.maximum(size - 1, 1)
        added = slope * inside + (before + 1 - slope * (above + 1)) * (
            harmonic[above + inside] - harmonic[above]
        )
        number = relevant(judged, measure.rel)
        if measure.norm == "min" and measure.cutoff is not None:
            number = np.minimum(number, measure.cutoff)
        return ratio(judged.total(query, added / size), number)  # each of the r rows adds 1 / m


class Curves(Rule):
    """Interpolated precision: the maximum of n / rank of the n-th relevant document over a set of n.

    The set depends on R, not on the order. All ranks decrease when relevant documents move up, so the sorted
    orders give the extremes. We know no closed form of the expected maximum.
    """

    measures: ClassVar[tuple[str, ...]] = ("AvgIPrec", "IPrec")

    def monotone(self, measure: Measure) -> bool:
        """Return False for the printed rules, where an interval of recall may become non-empty and lower."""
        del self
        return not str(getattr(measure, "rule", "")).startswith("printed")


class Geometric(Rule):
    """AP and Bpref with a geometric mean, which expected values of the queries do not determine."""

    measures: ClassVar[tuple[str, ...]] = ("GMAP", "GMBpref")

    def monotone(self, measure: Measure) -> bool:
        """Bpref skips documents without a judgment."""
        del self
        return type(measure).__name__ == "GMAP"


class OrderInvariant(Rule):
    """Counts and set measures, which do not depend on the order.

    NumQ, NumRel and NumRet do not depend on the grades of a list either. NumNonrelRet increases with a grade
    of 0 and decreases with a higher one. The others increase with the number of relevant documents; Utility
    is linear in it.
    """

    measures: ClassVar[tuple[str, ...]] = (
        "NumNonrelRet",
        "NumQ",
        "NumRel",
        "NumRet",
        "SetAP",
        "SetRelP",
        "Utility",
    )

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the value, which is the same for all orders."""
        del self, measure, judged, high
        return low

    def monotone(self, measure: Measure) -> bool:
        """Return False for NumNonrelRet, which a judgment may increase."""
        del self
        return type(measure).__name__ != "NumNonrelRet"
