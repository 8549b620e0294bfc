"""Bounds of measures over the orders of tied documents, and over the grades of unjudged ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers, freeze
from leadline.data.judged_run import JudgedRun
from leadline.data.run import TieGroups
from leadline.evaluation.limits import Bounds
from leadline.measures import Measure, ratio, relevant
from leadline.measures.average_precision import AP
from leadline.measures.cumulated_gain import DCG, SDCG, nDCG
from leadline.measures.precision import RankOf
from leadline.measures.preference import Bpref, binG
from leadline.measures.user_models import ERR, RBP, stop_probability, sum_to_cutoff
from leadline.measures.user_models import weights as rank_biased


class TiedRows(NamedTuple):
    """Some rows of a run in order of rank, and the tie of each."""

    query: Codes
    first: Integers  # first rank of the tie
    last: Integers  # last one within the list as cut
    # first of these rows that is in the tie, and the end (exclusive)
    start: Integers
    stop: Integers

    @classmethod
    def of(cls, judged: JudgedRun, rows: Integers) -> TiedRows:
        """Return some rows of a run."""
        query, first = judged.query[rows], judged.tie_first[rows].astype(np.int64)
        last = np.minimum(judged.tie_last[rows], judged.length[query]).astype(np.int64)
        new = np.ones(len(first), dtype=np.bool_)
        new[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
        starts = np.flatnonzero(new)
        group = np.cumsum(new) - 1
        return cls(query, first, last, starts[group], np.append(starts[1:], len(first))[group])

    @property
    def size(self) -> Integers:
        """Number of documents of the tie."""
        return self.last - self.first + 1

    @property
    def number(self) -> Integers:
        """Number of these rows that are in the tie."""
        return self.stop - self.start


def sorted_ties(judged: JudgedRun, *, best: bool) -> JudgedRun:
    """Return the lists with the documents of each tie sorted by grade.

    Unjudged documents are ordered between grade 0 and negative grades. Where a list was cut inside a tie,
    only the remaining documents are reordered.
    """
    if not (judged.tie_last > judged.tie_first).any():
        return judged
    ties = TiedRows.of(judged, np.arange(len(judged.query)))
    sign = -1.0 if best else 1.0
    order = np.lexsort((sign * judged.grade, ties.first, ties.query))
    position = np.arange(len(order)) - ties.start
    front = (judged.grade[order] >= 0) == best
    rank = np.where(front, ties.first + position, ties.last - (ties.number - 1 - position)).astype(np.int32)
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=judged.offsets,
        rank=rank,
        row=judged.row[order],
        ties=(rank - judged.tie_first, judged.tie_last - rank),
        unjudged_ties=judged.unjudged_ties,
    )


class AllJudged(JudgedRun):
    """Judged run in which unjudged documents have a grade; R and the ideal list are those of the qrels."""

    def __init__(self, judged: JudgedRun, grade: float) -> None:
        offsets = np.concatenate(([0], np.cumsum(judged.length))).astype(np.int64)
        query = np.repeat(np.arange(len(judged.length)), judged.length)
        rank = (np.arange(len(query)) - offsets[query] + 1).astype(np.int32)
        position = offsets[judged.query] + judged.rank - 1
        row = np.full(len(query), -1, dtype=np.int32)
        row[position] = judged.row
        grades = np.full(len(query), grade)
        grades[position] = judged.grade
        freeze(grades)
        self._grades = grades
        empty: Codes = np.empty(0, dtype=np.int32)
        super().__init__(
            judged.qrels,
            present=judged.present,
            length=judged.length,
            offsets=offsets,
            rank=rank,
            row=row,
            unjudged_ties=TieGroups(empty, empty, empty),
        )

    @cached_property
    def levels(self) -> Floats:
        """Return the grade of every row."""
        return self._grades


def bounds_of(measures: Sequence[Measure], judged: JudgedRun) -> Bounds:
    """Return the bounds of one run by query and measure.

    >>> from leadline.measures import MEASURES
    >>> from leadline.io.objects import Qrels
    >>> from leadline.io.objects import Run
    >>> tied = JudgedRun.of_run(Run.of([(b"1", b"a", 0.5), (b"1", b"b", 0.5)]), Qrels.of([(b"1", b"a", 1)]))
    >>> bounds_of([MEASURES.parse("RR")], tied).limits[0, 0]
    array([0.5 , 1.  , 0.75, 0.5 , 1.  ])
    """
    size = (len(judged.present), len(measures), 5)
    values = np.full(size, np.nan)
    available = np.zeros(size[1:], dtype=np.bool_)
    extremes = [sorted_ties(judged, best=best) for best in (False, True)]
    judged_high = AllJudged(judged, judged.qrels.highest_grade)
    for index, measure in enumerate(measures):
        if type(measure).__name__ not in RULES:
            continue
        bounds = [*_over_ties(measure, judged, extremes), *_over_grades(measure, judged, judged_high)]
        for bound, values_of_bound in enumerate(bounds):
            if values_of_bound is not None:
                values[:, index, bound] = values_of_bound
                available[index, bound] = True
    return Bounds(values, available)


def _over_ties(
    measure: Measure, judged: JudgedRun, extremes: Sequence[JudgedRun]
) -> tuple[Floats | None, ...]:
    """Return the lowest, highest and expected value over the orders of tied documents."""
    ascending, descending = (measure.values(lists) for lists in extremes)
    low, high = np.minimum(ascending, descending), np.maximum(ascending, descending)
    rule = RULES[type(measure).__name__]
    expected = None if rule is None else rule(measure, _Tied(judged, ascending, descending))
    # By rounding, the mean may exceed the extremes.
    return low, high, None if expected is None else np.clip(expected, low, high)


def _over_grades(measure: Measure, judged: JudgedRun, judged_high: JudgedRun) -> tuple[Floats | None, ...]:
    """Return the values with all unjudged documents non-relevant, and with all at the highest grade."""
    # By the printed rules of interpolation, an interval of recall may become non-empty and lower.
    if type(measure).__name__ in NOT_MONOTONE or str(getattr(measure, "rule", "")).startswith("printed"):
        return None, None
    lower = measure.values(judged)
    upper = np.clip(measure.values(judged_high), measure.low, measure.high)
    return np.minimum(lower, upper), np.maximum(lower, upper)


class _Tied(NamedTuple):
    """One run, and its values by a measure with ties in ascending and in descending order of grade."""

    judged: JudgedRun
    low: Floats
    high: Floats


def _gains(measure: Any, tied: _Tied) -> Floats:
    """Return sums of gain x weight of the rank, divided by a quantity that does not depend on the order.

    A document of a tie is at each rank of the tie equally often, so in expectation its gain is multiplied by
    the mean weight of these ranks. Weights do not increase with the rank, so by the rearrangement inequality
    the sorted orders give the extremes.
    """
    judged = tied.judged
    weights = np.zeros(int(judged.length.max(initial=0)) + 1)
    ranks = np.arange(1, len(weights))
    if isinstance(measure, RBP):
        weights[1:] = rank_biased(ranks.astype(np.int32), measure.p)
        return _rank_biased(measure, judged, weights)
    if isinstance(measure, DCG):
        jk = measure.discount == "jk"
        weights[1:] = 1.0 / np.log2(np.maximum(ranks, 2.0) if jk else ranks + 1.0)
        return _discounted(measure, judged, weights)
    gain = judged.gains.gain
    if isinstance(measure, SDCG):
        weights[1:] = 1.0 / np.log2(ranks + 1.0)
        best = sum_to_cutoff(measure.cutoff, lambda ranks: 1.0 / np.log2(ranks + 1))
        return _weighted(judged, gain, weights, measure.cutoff) / (measure.max_grade * best)
    weights[1:] = 1.0
    return _weighted(judged, gain, weights, measure.cutoff)


def _discounted(measure: DCG, judged: JudgedRun, weights: Floats) -> Floats:
    """Return DCG or nDCG."""
    query, _, grade = judged.gains
    if not isinstance(measure, nDCG):
        gain = gain_of(measure, grade, np.zeros(len(query)))
        return _weighted(judged, gain, weights, measure.cutoff)
    power = measure.too_large(best_grades(judged))
    part = _weighted(judged, gain_of(measure, grade, power[query]), weights, measure.cutoff)
    return ratio(part, measure.added(judged, *judged.qrels.ideal, power))


def _rank_biased(measure: RBP, judged: JudgedRun, weights: Floats) -> Floats:
    """Return RBP with any of its gains."""
    if measure.gain == "binary":
        rows = np.flatnonzero(judged.grade >= measure.rel)
        return _weighted(judged, np.ones(len(rows)), weights, measure.cutoff, rows=rows)
    query, _, grade = judged.gains
    largest = np.full(len(judged.present), measure.max_grade)
    if measure.gain == "scaled":
        largest[:] = np.maximum(best_grades(judged), 1.0)
    return _weighted(judged, grade / largest[query], weights, measure.cutoff)


def best_grades(judged: JudgedRun) -> Floats:
    """Return the largest grade of every query, 0 if none is positive."""
    ideal = judged.qrels.ideal
    best = np.zeros(len(judged.present))
    best[ideal.query[ideal.rank == 1]] = ideal.gain[ideal.rank == 1]
    return best


def gain_of(measure: DCG, grade: Floats, power: Floats) -> Floats:
    """Return the gain of documents of grades of at least 0, divided by 2^power."""
    less = np.exp2(-power)
    if measure.gain != "exp":
        return grade * less
    with np.errstate(over="ignore"):
        return np.asarray(np.exp2(grade - power) - less)


def _weighted(
    judged: JudgedRun, gain: Floats, weights: Floats, cutoff: int | None, *, rows: Integers | None = None
) -> Floats:
    """Return the sums by query of gain x mean weight of the ranks of the tie."""
    if cutoff is not None:
        weights[cutoff + 1 :] = 0.0
    below = np.cumsum(weights)
    ties = TiedRows.of(judged, np.flatnonzero(judged.grade > 0) if rows is None else rows)
    return judged.total(ties.query, gain * ((below[ties.last] - below[ties.first - 1]) / ties.size))


def _first_hit(measure: Any, tied: _Tied) -> Floats:
    """Return RR or Success, which depend on the first relevant document only.

    It is in the first tie with a relevant document. If r of the m documents of the tie are relevant, the
    first is at position i with probability C(m - i, r - 1) / C(m, r): r/m at position 1, and from position i
    to the next (m - i - r + 1) / (m - i) times as much.
    """
    judged, low, high = tied
    ties = TiedRows.of(judged, np.flatnonzero(judged.grade >= measure.rel))
    size, number = ties.size, ties.number
    values = low.copy()
    moving = low[ties.query] != high[ties.query]
    for row in np.flatnonzero((judged.hits(measure.rel).nth == 1) & moving).tolist():
        chances = chances_of_first(int(size[row]), int(number[row]))
        ranks = np.arange(len(chances)) + ties.first[row]
        worth = 1.0 / ranks if type(measure).__name__ == "RR" else np.ones(len(ranks))
        if measure.cutoff is not None:
            worth[ranks > measure.cutoff] = 0.0
        values[ties.query[row]] = float(chances @ worth)
    return values


def chances_of_first(size: int, relevant: int) -> Floats:
    """Return the probability that the first relevant document of a tie is at each of its positions.

    >>> chances_of_first(4, 2)
    array([0.5       , 0.33333333, 0.16666667])
    """
    position = np.arange(1, size - relevant + 1)
    steps = (size - position - relevant + 1) / (size - position)
    return np.asarray(np.cumprod(np.concatenate(([relevant / size], steps))), dtype=np.float64)


def _rank(measure: RankOf, tied: _Tied) -> Floats:
    """Return RankOf: the j-th of r relevant documents in a tie of m is expected at j (m + 1) / (r + 1).

    The relevant documents divide the others into r + 1 segments of equal expected length (m - r)/(r + 1), and
    j segments precede the j-th. `form=search` is an expectation over the orders already.
    """
    judged = tied.judged
    if measure.form == "search":
        return tied.low
    ties = TiedRows.of(judged, np.flatnonzero(judged.grade >= measure.rel))
    position = np.arange(len(ties.query)) - ties.start + 1
    reached = ties.first - 1.0 + position * (ties.size + 1) / (ties.number + 1)
    number = judged.qrels.relevant(measure.rel)
    target = number if measure.n == "all" else np.full(len(number), int(measure.n))
    last = np.flatnonzero(judged.hits(measure.rel).nth == target[ties.query])
    values = np.full(len(number), np.nan)
    values[ties.query[last]] = reached[last]
    return values


def _preference(measure: Bpref, tied: _Tied) -> Floats | None:
    """Return Bpref: a relevant document has u of the judged non-relevant ones of its tie above, u uniform.

    Among the n judged non-relevant documents of its tie, a relevant document has n + 1 equally likely
    positions. With q of them above the tie, the expected loss is the mean over u = 0..n of
    min(q + u, R) / min(N, R), of min(q + u, R) / R, or of (q + u) / N.
    """
    if measure.divisor == "above":
        return None
    judged = tied.judged
    size, grades = relevant(judged, measure.rel), judged.qrels.grades
    others = judged.qrels.count((grades >= 0) & (grades < measure.rel)).astype(np.float64)
    is_other = (judged.grade >= 0) & (judged.grade < measure.rel)
    running = np.concatenate(([0], np.cumsum(is_other)))
    ties = TiedRows.of(judged, np.arange(len(judged.query)))
    rows = np.flatnonzero(judged.grade >= measure.rel)
    query = judged.query[rows]
    above = (running[ties.start] - running[judged.offsets[:-1]][judged.query])[rows]
    number = (running[ties.stop] - running[ties.start])[rows]
    limit = (others if measure.divisor == "N" else size)[query]
    free = np.clip(limit - above, 0, number + 1)  # how many u keep q + u below R
    lost = free * above + free * (free - 1) / 2 + (number + 1 - free) * limit
    bound = measure.bound(others, size)[query]
    return ratio(judged.total(query, 1.0 - lost / (number + 1) / bound), size)


def _nonrelevant_above(measure: binG, tied: _Tied) -> Floats:
    """Return binG: a relevant document has u of the n non-relevant ones of its tie above, u uniform on 0..n.

    With q non-relevant documents above the tie, the expected contribution of a relevant document is the mean
    of 1 / log2(2 + q + u). If it moves above a non-relevant document, its contribution increases and the
    others do not change. A document that becomes relevant adds its own contribution and is no longer a
    non-relevant document above others.
    """
    judged = tied.judged
    ties = TiedRows.of(judged, np.flatnonzero(judged.grade >= measure.rel))
    others = ties.size - ties.number
    above = ties.first - judged.hits(measure.rel).nth[ties.start]
    parts = 1.0 / np.log2(2.0 + np.arange(int(judged.length.max(initial=0)) + 1))
    below = np.concatenate(([0.0], np.cumsum(parts)))
    mean = (below[above + others + 1] - below[above]) / (others + 1)
    return ratio(judged.total(ties.query, mean), relevant(judged, measure.rel))


def _counts(measure: Measure, tied: _Tied) -> Floats:
    """Return linear functions a + b x count, where a and b do not depend on the order.

    Each document of a tie at ranks f..l is at a rank up to k with probability
    min(max(k - f + 1, 0), l - f + 1) / (l - f + 1), and the expected count is the sum. The expected value of
    a linear function divides the range of values as the expected count divides the range of counts. F is
    linear in the count r: (1 + beta^2) r / (beta^2 R + n); E is its complement.
    """
    judged, low, high = tied
    judgments = type(measure).__name__ in ("Judged", "Unj")
    ties = TiedRows.of(
        judged, np.flatnonzero(judged.grade >= (0.0 if judgments else float(getattr(measure, "rel", 1.0))))
    )
    cutoff = _cutoff(measure, judged, ties.query)
    within = ties.last if cutoff is None else np.minimum(cutoff, ties.last)
    size, number = ties.size, ties.number
    inside = np.clip(within - ties.first + 1, 0, size)
    counted = judged.total(ties.query, inside / size)
    fewest = judged.total(ties.query, np.maximum(number - size + inside, 0) / number)
    most = judged.total(ties.query, np.minimum(number, inside) / number)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (counted - fewest) / (most - fewest)
    return low + (high - low) * np.where(most == fewest, 0.0, share)


def _cutoff(measure: Measure, judged: JudgedRun, query: Codes) -> Floats | int | None:
    """Return the cutoff that applies to every row; None without a cutoff."""
    multiple = 1.0 if type(measure).__name__ == "Rprec" else getattr(measure, "multiple", None)
    if multiple is None:
        return getattr(measure, "cutoff", None)
    size = judged.qrels.relevant(float(getattr(measure, "rel", 1.0)))[query]
    return np.asarray(size if multiple == 1 else np.floor(multiple * size + 0.9), dtype=np.float64)


def _cascade(measure: ERR, tied: _Tied) -> Floats:
    """Return ERR: the user passes j documents of a tie with the mean of all products of j factors 1 - s.

    The mean over all subsets of size j is the elementary symmetric polynomial e(j) divided by its number of
    terms, so the user stops at the j-th position with probability mean(j - 1) - mean(j). Extremes: of two
    neighbors with s > t, the better one first adds (s - t)(1/r - 1/(r + 1)) and leaves the probability of
    reaching lower ranks unchanged. A larger s at rank r adds 1/r for users who would otherwise stop at
    r + 1 or below.
    """
    judged, low, high = tied
    rows = np.flatnonzero(judged.grade > 0)
    ties = TiedRows.of(judged, rows)
    continues = 1.0 - stop_probability(judged.grade[rows], measure.gain, measure.max_grade)
    values = low.copy()
    reached = np.ones(len(low))
    moving = low != high
    values[moving] = 0.0
    for row in np.flatnonzero((ties.start == np.arange(len(rows))) & moving[ties.query]).tolist():
        query, first, last = ties.query[row], int(ties.first[row]), int(ties.last[row])
        means = mean_products(continues[row : ties.stop[row]], last - first + 1)
        stopping = reached[query] * -np.diff(means)
        counted = slice(measure.cutoff and max(measure.cutoff - first + 1, 0))
        values[query] += float((stopping / np.arange(first, last + 1))[counted].sum())
        reached[query] *= means[-1]
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


def _average_precision(measure: AP, tied: _Tied) -> Floats:
    """Return AP: the sum of the expected precision at each position of a tie.

    Let a tie of m documents, r of them relevant, follow n documents, s of them relevant. Its i-th position
    has a relevant document with probability r / m. In that case the i - 1 positions before it have
    (i - 1)(r - 1)/(m - 1) relevant documents on average (sampling without replacement from the m - 1 others),
    so that the expected precision there is (s + 1 + (i - 1) c) / (n + i), c = (r - 1)/(m - 1). With
    (i - 1) c = c (n + i) - c (n + 1), and H the harmonic numbers, the t positions above the cutoff add

        r / m (c t + (s + 1 - c (n + 1)) (H(n + t) - H(n))).

    A relevant document that moves up increases its own precision and decreases no other, so the sorted orders
    give the extremes. Likewise a document that becomes relevant increases the value (for fixed R).
    """
    judged = tied.judged
    ties = TiedRows.of(judged, np.flatnonzero(judged.grade >= measure.rel))
    above, size = ties.first - 1, ties.size
    before = judged.hits(measure.rel).nth[ties.start] - 1
    inside = size if measure.cutoff is None else np.clip(measure.cutoff - above, 0, size)
    harmonic = np.cumsum(1.0 / np.maximum(np.arange(int(judged.length.max(initial=0)) + 1), 1))
    slope = (ties.number - 1) / np.maximum(size - 1, 1)
    precision = (before + 1 - slope * (above + 1)) * (harmonic[above + inside] - harmonic[above])
    number = relevant(judged, measure.rel)
    if measure.norm == "min" and measure.cutoff is not None:
        number = np.minimum(number, measure.cutoff)
    added = slope * inside + precision
    return ratio(judged.total(ties.query, added / size), number)  # each of the r rows adds 1 / m


def _unchanged(_measure: Measure, tied: _Tied) -> Floats:
    """Return a value that is the same for all orders."""
    return tied.low


# The expected value of each measure over all orders of tied documents; None if there is no closed form. A
# measure listed here must be monotone over the orders of a tie: exchanging two tied documents so that the
# higher grade moves up never lowers (or never raises) the value, where unjudged documents count as between
# grade 0 and negative grades. Its extreme values are then those of the two sorted orders. Other measures have
# no bounds. `tests/evaluation/test_ties.py` checks every rule on all orders and all grades of small lists.
RULES: dict[str, Callable[[Any, _Tied], Floats | None] | None] = {
    **dict.fromkeys(("CG", "DCG", "RBP", "SDCG", "nDCG"), _gains),
    **dict.fromkeys(("RR", "Success"), _first_hit),
    "RankOf": _rank,
    "Bpref": _preference,
    "binG": _nonrelevant_above,
    **dict.fromkeys(
        ("E", "F", "Judged", "NumRelRet", "P", "R", "RelP", "Rprec", "RprecMult", "Unj"), _counts
    ),
    "ERR": _cascade,
    "AP": _average_precision,
    # The maximum of n / rank of the n-th relevant document over a set of n that depends on R, not on the
    # order: all ranks decrease when relevant documents move up.
    **dict.fromkeys(("AvgIPrec", "IPrec")),
    # Expected values of the queries do not determine a geometric mean.
    **dict.fromkeys(("GMAP", "GMBpref")),
    # Counts and set measures, which increase with the number of relevant documents; Utility is linear in it.
    **dict.fromkeys(("NumNonrelRet", "NumQ", "NumRel", "NumRet", "SetAP", "SetRelP", "Utility"), _unchanged),
}
# Measures that are not monotone in the grades of retrieved documents: if an unjudged document becomes
# relevant while R is fixed, another one may be the n-th; Bpref skips documents without a judgment; Judged and
# Unj count judgments, and so does NumNonrelRet.
NOT_MONOTONE = {"RankOf", "Bpref", "GMBpref", "Judged", "Unj", "NumNonrelRet"}
