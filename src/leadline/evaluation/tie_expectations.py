"""Expected values of measures over the orders of tied documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.evaluation.bounds import Rule, group_bounds, last_places
from leadline.measures import Measure, over, relevant
from leadline.measures.average_precision import AP
from leadline.measures.cumulated_gain import CG, DCG, SDCG, nDCG
from leadline.measures.first_rank import RankOf
from leadline.measures.preference import Bpref, binG
from leadline.measures.user_models import ERR, RBP, added_to
from leadline.measures.user_models import weights as rank_biased


class Gains(Rule):
    """The value is a sum over documents of gain x weight of the rank, over a divisor without order.

    Expectation is linear, and a document of a tie group stands at each of the group's ranks equally
    often: so each gain is multiplied by the mean weight of those ranks. Weights never rise with the
    rank, so by the rearrangement inequality the sorted orders are the ends.
    """

    measures: ClassVar[tuple[str, ...]] = ("CG", "DCG", "RBP", "SDCG", "nDCG")

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
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
            best = added_to(measure.cutoff, lambda ranks: 1.0 / np.log2(ranks + 1))
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
    return over(part, measure.added(judged, *judged.qrels.ideal, power))


def _rank_biased(measure: RBP, judged: JudgedRun, weights: Floats) -> Floats:
    """Return RBP with any of its gains."""
    if measure.gain == "binary":
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        return _weighted(judged, np.ones(len(chosen)), weights, measure.cutoff, chosen=chosen)
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
    """Return what a gain at each rank is multiplied by."""
    return np.asarray(1.0 / np.log2(ranks + 1.0 if measure.discount == "log2" else np.maximum(ranks, 2.0)))


def _gain(measure: DCG, judged: JudgedRun, power: Floats) -> Floats:
    """Return the gain of every document of positive grade, divided by its query's 2^power."""
    query, _, grade = judged.gains
    less = np.exp2(-power[query])
    with np.errstate(over="ignore"):
        exponential = np.exp2(grade - power[query]) - less
    return exponential if measure.gain == "exp" else grade * less


def _weighted(
    judged: JudgedRun, gain: Floats, weights: Floats, cutoff: int | None, *, chosen: Integers | None = None
) -> Floats:
    """Add up, per query, the gains by the mean weight of the ranks of each one's tie group.

    `chosen` are the rows that the gains are of; by default those of positive grade.
    """
    if cutoff is not None:
        weights[cutoff + 1 :] = 0.0
    below = np.cumsum(weights)
    chosen = np.flatnonzero(judged.grade > 0) if chosen is None else chosen
    first, last = judged.tie_first[chosen], last_places(judged)[chosen]
    mean = (below[last] - below[first - 1]) / (last - first + 1)
    return judged.total(judged.query[chosen], gain * mean)


class FirstHit(Rule):
    """RR and Success look at the first relevant document only.

    It stands in the first tie group that has one. When r of the group's m documents are relevant, the
    first is at place i with probability C(m - i, r - 1) / C(m, r): r/m at place 1, and from place i to
    the next (m - i - r + 1) / (m - i) times as much.
    """

    measures: ClassVar[tuple[str, ...]] = ("RR", "Success")

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
        rel, cutoff = float(getattr(measure, "rel", 1.0)), getattr(measure, "cutoff", None)
        chosen = np.flatnonzero(judged.grade >= rel)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        last = last_places(judged)[chosen]
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
    """Return the probability of each place to hold the first of some relevant documents in any order.

    >>> chances_of_first(4, 2)
    array([0.5       , 0.33333333, 0.16666667])
    """
    place = np.arange(1, size - relevant + 1)
    steps = (size - place - relevant + 1) / (size - place)
    return np.asarray(np.cumprod(np.concatenate(([relevant / size], steps))), dtype=np.float64)


class Rank(Rule):
    """RankOf: the j-th of r relevant documents in a group of m is expected at place j (m + 1) / (r + 1).

    The relevant documents part the others into r + 1 stretches of equal expected length (m - r)/(r + 1), and
    j of these stand before the j-th. `form=search` is an expectation over the orders already. With more
    relevant documents, R kept, another document may be the n-th of `n=all`, and where it is never reached
    there is no value: no bounds for unjudged documents.
    """

    measures: ClassVar[tuple[str, ...]] = ("RankOf",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
        del high
        assert isinstance(measure, RankOf)
        if measure.form == "search":
            return low
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        size = last_places(judged)[chosen] - first + 1
        start, stop = group_bounds(query, first)
        place = np.arange(len(chosen)) - start + 1
        reached = first - 1.0 + place * (size + 1) / (stop - start + 1)
        number = judged.qrels.relevant(measure.rel)
        wanted = number if measure.n == "all" else np.full(len(number), int(measure.n))
        last = np.flatnonzero(judged.hits(measure.rel).nth == wanted[query])
        values = np.full(len(number), np.nan)
        values[query[last]] = reached[last]
        return values

    def monotone(self, measure: Measure) -> bool:
        """Another document may be the one that counts."""
        del self, measure
        return False


class Preference(Rule):
    """Each relevant document of a group has u of its judged non-relevant ones above, u uniform.

    Among the n judged non-relevant documents of its group a relevant one has n + 1 places, all equally
    likely. With q of them above the group, the expected loss is the mean over u = 0..n of
    min(q + u, R) / min(N, R). A document that gets a judgment may lower the value (as a non-relevant one)
    or raise it, so there are no bounds for unjudged documents.
    """

    measures: ClassVar[tuple[str, ...]] = ("Bpref",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
        del low, high
        assert isinstance(measure, Bpref)
        size, grades = relevant(judged, measure.rel), judged.qrels.grades
        others = judged.qrels.count((grades >= 0) & (grades < measure.rel)).astype(np.float64)
        is_other = (judged.grade >= 0) & (judged.grade < measure.rel)
        running = np.concatenate(([0], np.cumsum(is_other)))
        start, stop = group_bounds(judged.query, judged.tie_first)
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query = judged.query[chosen]
        above = (running[start] - running[judged.offsets[:-1]][judged.query])[chosen]
        tied = (running[stop] - running[start])[chosen]
        limit = size[query]
        free = np.clip(limit - above, 0, tied + 1)  # how many u keep q + u below R
        lost = free * above + free * (free - 1) / 2 + (tied + 1 - free) * limit
        bound = np.maximum(np.minimum(others[query], limit), 1.0)
        return over(judged.total(query, 1.0 - lost / (tied + 1) / bound), size)

    def monotone(self, measure: Measure) -> bool:
        """Bpref skips documents without a judgment."""
        del self, measure
        return False


class NonrelevantAbove(Rule):
    """Each relevant document of a group has u of its non-relevant ones above, u uniform on 0..n.

    With q non-relevant documents above the group, a relevant one is expected to add the mean of
    1 / log2(2 + q + u). One that moves up past a non-relevant one adds more and takes nothing from the
    others; a document that turns relevant adds its own part, and stands no longer above others as
    non-relevant.
    """

    measures: ClassVar[tuple[str, ...]] = ("binG",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
        del low, high
        assert isinstance(measure, binG)
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        start, stop = group_bounds(query, first)
        others = last_places(judged)[chosen] - first + 1 - (stop - start)
        above = first - judged.hits(measure.rel).nth[start]
        parts = 1.0 / np.log2(2.0 + np.arange(int(judged.length.max(initial=0)) + 1))
        below = np.concatenate(([0.0], np.cumsum(parts)))
        mean = (below[above + others + 1] - below[above]) / (others + 1)
        return over(judged.total(query, mean), relevant(judged, measure.rel))


class Counts(Rule):
    """The value is a + b x count, where order changes neither a nor b.

    Of a tie group at ranks f..l, each document stands at a rank up to k with probability
    min(max(k - f + 1, 0), l - f + 1) / (l - f + 1), and the expected count is the sum. A value that is
    a line in the count is expected where the expected count lies between the lowest and the highest.
    F: the count r appears once, in (1 + beta^2) r / (beta^2 R + n); E is its complement.
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
        """Return the mean over all orders."""
        least = 0.0 if _counts_judgments(measure) else float(getattr(measure, "rel", 1.0))
        chosen = np.flatnonzero(judged.grade >= least)
        query = judged.query[chosen]
        first = judged.tie_first[chosen].astype(np.int64)
        last = last_places(judged)[chosen]
        cutoff = _cutoff(measure, judged, query)
        within = last if cutoff is None else np.minimum(cutoff, last)
        size = last - first + 1
        inside = np.clip(within - first + 1, 0, size)
        counted = judged.total(query, inside / size)
        ends = [judged.total(query, part) for part in _ends(query, first, inside, size)]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (counted - ends[0]) / (ends[1] - ends[0])
        return low + (high - low) * np.where(ends[1] == ends[0], 0.0, share)

    def monotone(self, measure: Measure) -> bool:
        """Judged and Unj count judgments, not grades."""
        del self
        return not _counts_judgments(measure)


def _counts_judgments(measure: Measure) -> bool:
    return type(measure).__name__ in ("Judged", "Unj")


def _cutoff(measure: Measure, judged: JudgedRun, query: Codes) -> Floats | int | None:
    """Return the last rank that counts, for every row; None where the whole list does."""
    multiple = 1.0 if type(measure).__name__ == "Rprec" else getattr(measure, "multiple", None)
    if multiple is None:
        return getattr(measure, "cutoff", None)
    size = judged.qrels.relevant(float(getattr(measure, "rel", 1.0)))[query]
    return np.asarray(size if multiple == 1 else np.floor(multiple * size + 0.9), dtype=np.float64)


def _ends(query: Codes, first: Integers, inside: Integers, size: Integers) -> tuple[Floats, Floats]:
    """Return each row's part of the lowest and of the highest count.

    Of r chosen documents in a group of `size`, of which `inside` ranks count, at least
    r - (size - inside) and at most `inside` count.
    """
    start, stop = group_bounds(query, first)
    chosen = stop - start
    low, high = np.maximum(chosen - size + inside, 0), np.minimum(chosen, inside)
    return low / chosen, high / chosen


class Cascade(Rule):
    """The user goes on past j documents of a tie group with the mean of all products of j factors.

    The factors are 1 - s of the documents of the group, and the mean over all subsets of size j is the
    elementary symmetric polynomial e(j) over its number of terms. So the user stops at the j-th place with
    probability mean(j - 1) - mean(j). Ends: of two neighbours with s > t the better first gives
    (s - t)(1/r - 1/(r + 1)) more and leaves as many users for the ranks below. A larger s at rank r gains
    what comes to 1/r from users who would at best have stopped at r + 1.
    """

    measures: ClassVar[tuple[str, ...]] = ("ERR",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
        assert isinstance(measure, ERR)
        chosen = np.flatnonzero(judged.grade > 0)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        last = last_places(judged)[chosen]
        start, stop = group_bounds(query, first)
        going_on = 1.0 - (np.exp2(judged.grade[chosen]) - 1.0) / 2.0**measure.max_grade
        values = low.copy()
        left = np.ones(len(low))
        moving = low != high
        values[moving] = 0.0
        for row in np.flatnonzero((start == np.arange(len(chosen))) & moving[query]).tolist():
            means = mean_products(going_on[row : stop[row]], int(last[row] - first[row]) + 1)
            stopping = left[query[row]] * -np.diff(means)
            ranks = np.arange(first[row], last[row] + 1)
            counted = slice(measure.cutoff and max(measure.cutoff - int(first[row]) + 1, 0))
            values[query[row]] += float((stopping / ranks)[counted].sum())
            left[query[row]] *= means[-1]
        return values


def mean_products(factors: Floats, size: int) -> Floats:
    """Give, for j = 0..size, the mean product of j of some factors, filled up with ones to `size`.

    >>> mean_products(np.array([0.5]), 2)
    array([1.  , 0.75, 0.5 ])
    """
    means = np.ones(size - len(factors) + 1)
    for factor in factors.tolist():
        number = len(means)
        with_it = np.arange(number + 1) / number  # the share of the subsets of size j that hold it
        means = (1.0 - with_it) * np.append(means, 0.0) + with_it * factor * np.concatenate(([0.0], means))
    return means


class AveragePrecision(Rule):
    """Expected precision at each place of a tie group, summed.

    A group of m documents, r of them relevant, stands below n documents with s relevant ones. Its i-th
    place holds a relevant document with probability r / m; given that, the i - 1 places before it hold
    (i - 1)(r - 1)/(m - 1) relevant ones on average (they are drawn without replacement from the m - 1
    others), so that the expected precision there is (s + 1 + (i - 1) c) / (n + i), c = (r - 1)/(m - 1).
    With (i - 1) c = c (n + i) - c (n + 1), and H the harmonic numbers, the t places above the cutoff add

        r / m (c t + (s + 1 - c (n + 1)) (H(n + t) - H(n))).

    A relevant document that moves up raises its own precision and lowers none, so the sorted orders are the
    ends; for the same reason a document that turns relevant raises the value (R is kept).
    """

    measures: ClassVar[tuple[str, ...]] = ("AP",)

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats:
        """Return the mean over all orders."""
        del low, high
        assert isinstance(measure, AP)
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query = judged.query[chosen]
        above = judged.tie_first[chosen].astype(np.int64) - 1
        size = last_places(judged)[chosen] - above
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
        return over(judged.total(query, added / size), number)  # each of the r rows adds 1 / m


class Curves(Rule):
    """The highest of the precisions n / rank of the n-th relevant document, over a choice of n.

    The choice depends on n and R, not on the order; every rank falls when relevant documents move up, so the
    sorted orders are the ends. The mean of a highest value has no closed form that we know.
    """

    measures: ClassVar[tuple[str, ...]] = ("AvgIPrec", "IPrec")

    def monotone(self, measure: Measure) -> bool:
        """Under the printed rules a stretch that was empty may fill, and then hides a higher precision."""
        del self
        return not str(getattr(measure, "rule", "")).startswith("printed")


class Geometric(Rule):
    """AP and Bpref with a geometric mean: what is expected of each query says nothing of that mean."""

    measures: ClassVar[tuple[str, ...]] = ("GMAP", "GMBpref")

    def monotone(self, measure: Measure) -> bool:
        """Bpref skips documents without a judgment."""
        del self
        return type(measure).__name__ == "GMAP"


class Orderless(Rule):
    """Counts and set measures.

    NumQ, NumRel and NumRet do not look at the grades of a list either. NumNonrelRet rises with a grade 0 and
    falls with a larger one. The others grow with the number of relevant documents, and Utility is a
    line in it, up or down.
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
        """Return the value itself."""
        del self, measure, judged, high
        return low

    def monotone(self, measure: Measure) -> bool:
        """Leave out the count of non-relevant documents, which a judgment may raise."""
        del self
        return type(measure).__name__ != "NumNonrelRet"
