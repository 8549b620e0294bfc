"""Corrected estimates of rank measures from sampled ranks, and their sampling variance.

Which measures can be estimated from a sample of scored documents is found by trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers, group_sums
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError, either
from leadline.estimation.designs import discount_of
from leadline.estimation.score_sets import POSITIVE
from leadline.evaluation.bounds import best_grades, gain_of
from leadline.measures import Measure, relevant
from leadline.measures.average_precision import AP
from leadline.measures.cumulated_gain import DCG, nDCG
from leadline.measures.precision import RR, P, R, Success
from leadline.measures.user_models import RBP


class RankTerms(NamedTuple):
    """A measure as a sum of `weight * of_rank(rank)` over the documents of positive grade."""

    weight: Floats  # weight of each judged document, from the known order of the relevant documents
    of_rank: Callable[[Floats], Floats]  # function of an array of estimated ranks, of any shape


def rank_terms(measure: Measure, judged: JudgedRun) -> RankTerms | None:
    """Return a measure as weights and a function of the rank; None if it is not such a sum.

    Weights are 0 for queries with an undefined value.

    >>> terms = rank_terms(AP(), JudgedRun.of_grades([1, None, 1]))
    >>> terms.weight.tolist(), terms.of_rank(np.array([1.0, 3.0])).tolist()
    ([0.5, 1.0], [1.0, 0.3333333333333333])
    """
    builder = BUILDERS.get(type(measure))
    return None if builder is None else builder(measure, judged)


def sums_over_ranks(measures: Sequence[Measure]) -> list[bool]:
    """Return, for each measure, whether `rank_terms` supports it."""
    probe = JudgedRun.of_grades([1])
    return [rank_terms(measure, probe) is not None for measure in measures]


def _hits(judged: JudgedRun, rel: float) -> tuple[Floats, Floats]:
    """Return flags of the rows of grade `rel` or more, and their ordinal numbers in their queries."""
    chosen = judged.grade >= rel
    nth = np.where(chosen, judged.before(chosen) + 1.0, 0.0)
    return chosen.astype(np.float64), nth


def _over(weight: Floats, size: Floats, judged: JudgedRun) -> Floats:
    """Return weights divided by a number of their query; 0 where the number is 0."""
    by_row = size[judged.query]
    return np.divide(weight, by_row, out=np.zeros(len(weight)), where=by_row > 0)


def _within(cutoff: int | None, function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Return the function with value 0 beyond the cutoff."""
    if cutoff is None:
        return function
    return lambda rank: np.where(rank <= cutoff, function(rank), 0.0)


def _average_precision(measure: AP, judged: JudgedRun) -> RankTerms:
    _, nth = _hits(judged, measure.rel)
    size = relevant(judged, measure.rel).astype(np.float64)
    if measure.norm == "min" and measure.cutoff is not None:
        size = np.minimum(size, measure.cutoff)
    return RankTerms(_over(nth, size, judged), _within(measure.cutoff, np.reciprocal))


def _first_relevant(measure: RR | Success, judged: JudgedRun) -> RankTerms:
    _, nth = _hits(judged, measure.rel)
    of_rank = np.reciprocal if isinstance(measure, RR) else np.ones_like
    return RankTerms((nth == 1).astype(np.float64), _within(measure.cutoff, of_rank))


def _found(measure: P | R, judged: JudgedRun) -> RankTerms | None:
    if measure.cutoff is None:
        return None
    hit, _ = _hits(judged, measure.rel)
    size = relevant(judged, measure.rel).astype(np.float64)
    if isinstance(measure, P):
        size = np.full(len(size), float(measure.cutoff))
    return RankTerms(_over(hit, size, judged), _within(measure.cutoff, np.ones_like))


def _rank_biased(measure: RBP, judged: JudgedRun) -> RankTerms | None:
    if measure.gain != "binary":
        return None
    hit, _ = _hits(judged, measure.rel)
    p = measure.p
    return RankTerms(hit, _within(measure.cutoff, lambda rank: (1 - p) * p ** (rank - 1.0)))


def _discounted_gain(measure: DCG, judged: JudgedRun) -> RankTerms:
    weight = gain_of(measure, np.maximum(judged.grade, 0.0), np.zeros(len(judged.grade)))
    return RankTerms(weight, _within(measure.cutoff, discount_of(measure)))


def _normalised_gain(measure: nDCG, judged: JudgedRun) -> RankTerms:
    power = measure.too_large(best_grades(judged))
    weight = gain_of(measure, np.maximum(judged.grade, 0.0), power[judged.query])
    size = measure.added(judged, *judged.qrels.ideal, power)
    return RankTerms(_over(weight, size, judged), _within(measure.cutoff, discount_of(measure)))


BUILDERS: dict[type[Measure], Callable[..., RankTerms | None]] = {
    AP: _average_precision,
    RR: _first_relevant,
    Success: _first_relevant,
    P: _found,
    R: _found,
    RBP: _rank_biased,
    DCG: _discounted_gain,
    nDCG: _normalised_gain,
}


# Grades of test lists: estimable measures do not change if judged non-relevant documents are removed.
PROBES: tuple[tuple[float | None, ...], ...] = (
    (1, 0, None, 2, 0, 1),
    (0, 0, 1, 1),
    (None, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    (0, None, 0, 0),
    (0, 0, 0, 0, 0, 1, 2),
    (1, 1, 0, 0),
    (-1, 0, 1, -1, 0, 0, 2, -1, 1),
)


def check_estimable(measures: Sequence[Measure]) -> None:
    """Raise UsageError for measures that depend on more than the ranks of documents of positive grade."""
    wrong = [str(measure) for measure in measures if not is_estimable(measure)]
    if wrong:
        level = any(getattr(measure, "rel", 1.0) <= 0 for measure in measures)
        raise UsageError(
            f"{either(wrong, 'and')} cannot be estimated from a sample. Use a measure that is averaged over "
            "queries and depends only on the ranks and grades of documents graded above 0, such as AP, "
            f"nDCG@10, RR, P@10 or R@100{', and a lowest relevant grade above 0' * level}."
        )


def is_estimable(measure: Measure) -> bool:
    """Return whether a measure depends only on ranks of documents of positive grade, integer or not.

    >>> from leadline.measures import MEASURES
    >>> [is_estimable(MEASURES.parse(name)) for name in ("AP", "nDCG@10", "Bpref", "Judged@10")]
    [True, True, False, False]
    """
    if measure.needs != "judgments" or getattr(measure, "rel", 1.0) <= 0 or measure.average != "mean":
        return False
    for probe in PROBES:
        whole = JudgedRun.of_grades(probe, [1, 1, 0, 3, *(grade for grade in probe if grade is not None)])
        try:
            values = [
                measure.values(variant)[0]
                for variant in (whole, _positive_only(whole, 0), _positive_only(whole, 0.5))
            ]
        except (UsageError, IndexError, TypeError, ValueError):
            return False
        if not np.isclose(values[0], values[1], equal_nan=True):
            return False
    return True


def _positive_only(judged: JudgedRun, more: float) -> JudgedRun:
    """Return the list without judged documents of non-positive grade, with `more` added to all ranks."""
    kept = judged.grade >= POSITIVE
    rank: Any = judged.rank[kept] + more  # not integers
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=np.array([0, np.count_nonzero(kept)]),
        rank=rank,
        row=judged.row[kept],
        unjudged_ties=judged.unjudged_ties,
    )


# Of N documents, n are drawn without replacement; a relevant document with d of the N above it has
# X ~ Hypergeometric(N, d, n) sampled ones above it. Krichene and Rendle estimate a function f of the rank by
# the function g of X that minimises
#
#     sum over d of p(d) ((E[g(X) | d] - f(d))^2 + gamma Var[g(X) | d]),
#
# with solution g = ((1 - gamma) A'A + gamma diag(c))^-1 A'b, where A = sqrt(p(d)) P(x | d),
# b = sqrt(p(d)) f(d) and c(x) is the sum over d of p(d) P(x | d). Here p(d) is
# proportional to (1 + d)^-a; a = 0 is their uniform prior.
#
# References
# ----------
# Krichene and Rendle (2020), On sampled metrics for item recommendation, KDD; CACM 65(7), 2022.
# Booth, Butler and Hall (1994), Bootstrap methods for finite populations, JASA 89 (pseudo-populations).

EXPONENTS = np.array([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10.0])
EXACT_OFFSETS = 128  # up to this many documents above, every number is a grid point
GROWTH = 1.03  # ratio of grid points beyond
MOST_DRAWN = 20_000  # documents drawn per query that can be corrected
COARSE = 1000  # population sizes from here on are rounded to 0.5 %, so that queries share tables
OfRank = Callable[[Floats], Floats]


class Pairs(NamedTuple):
    """Relevant documents with the sampled documents above them, in list order, grouped by query."""

    query: Integers  # query number, from 0
    start: Floats  # rank if none of the N documents were above
    above: Floats  # number of sampled documents above; ties count a half
    # population size N and sample size n
    size: Integers
    drawn: Integers


class Channel:
    """Distribution of the number of sampled documents above a relevant one, given the true number.

    Sampling of `drawn` from `size` documents is without replacement.
    """

    def __init__(self, size: int, drawn: int) -> None:
        from scipy.special import gammaln

        self.size, self.drawn = size, drawn
        self.offset = _grid(size)
        d, x = self.offset[:, None].astype(np.float64), np.arange(drawn + 1.0)[None]
        possible = (x <= d) & (drawn - x <= size - d)
        x, d = np.where(possible, x, 0.0), np.where(possible, d, 0.0)
        rest, missed = size - d, np.where(possible, drawn - x, 0.0)

        def choose(n: Floats, k: Floats) -> Floats:
            return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

        whole = gammaln(size + 1) - gammaln(drawn + 1) - gammaln(size - drawn + 1)
        self.law: Floats = np.where(possible, np.exp(choose(d, x) + choose(rest, missed) - whole), 0.0)
        width = np.diff(self.offset, append=size + 1).astype(np.float64)
        prior = width * (1.0 + self.offset) ** -EXPONENTS[:, None]
        self.prior: Floats = prior / prior.sum(axis=1, keepdims=True)
        self.marginal: Floats = np.maximum(self.prior @ self.law, 1e-300)
        self._estimators: dict[tuple[int, float], Floats] = {}

    def estimator(self, exponent: int, gamma: float) -> Floats:
        """Return the matrix G, (drawn + 1) x offsets, with g(x) = sum over d of G[x, d] f(d).

        Solved in the space of offsets: with C = diag(c), G = C^-1 A' ((1 - gamma) A C^-1 A' + gamma I)^-1
        yields the same g as the formula above.
        """
        key = exponent, gamma
        if key not in self._estimators:
            root = np.sqrt(self.prior[exponent])
            scaled = root[:, None] * self.law
            back = scaled / self.marginal[exponent]
            system = (1 - gamma) * (back @ scaled.T) + gamma * np.eye(len(root))
            self._estimators[key] = back.T @ np.linalg.solve(system, np.diag(root))
        return self._estimators[key]

    def quantiles(self, prior: Floats, above: int, levels: Floats) -> Integers:
        """Return posterior quantiles of the number of documents above, given the number of sampled ones."""
        running = np.cumsum(prior * self.law[:, above])
        if not running[-1]:
            return np.full(levels.shape, round(above * self.size / max(self.drawn, 1)))
        index = np.searchsorted(running / running[-1], levels)
        return self.offset[np.minimum(index, len(self.offset) - 1)]


def _grid(size: int) -> Integers:
    """Return the grid of numbers of documents above, from 0 to `size`."""
    grid = list(range(min(EXACT_OFFSETS, size) + 1))
    while grid[-1] < size:
        grid.append(min(size, max(grid[-1] + 1, int(grid[-1] * GROWTH))))
    return np.array(grid, dtype=np.int64)


@lru_cache(maxsize=256)
def channel(size: int, drawn: int) -> Channel:
    """Return the channel of N and n; N is rounded to 0.5 % if it is large and 2n < N."""
    if size > COARSE and 2 * drawn < size:
        step = 10.0 ** np.floor(np.log10(size)) / 200
        size = int(np.rint(size / step) * step)
    return _channel(size, drawn)


@lru_cache(maxsize=64)
def _channel(size: int, drawn: int) -> Channel:
    return Channel(size, drawn)


class RankEstimator:
    """Corrected estimates of functions of the rank, with pseudo-populations for their variance.

    `gamma`, up to 1, weights the variance against the squared bias. Without the `exponent` of the prior, its
    maximum likelihood estimate is taken for each octave of `start`.
    """

    def __init__(self, pairs: Pairs, gamma: float, exponent: float | None) -> None:
        self.pairs, self.gamma = pairs, gamma
        codes = pairs.size * (int(pairs.drawn.max(initial=0)) + 1) + pairs.drawn
        _, first, self._table = np.unique(codes, return_index=True, return_inverse=True)
        self._channels = [channel(int(pairs.size[row]), int(pairs.drawn[row])) for row in first.tolist()]
        self._octave = np.log2(np.maximum(pairs.start, 1.0)).astype(np.int64)
        self._likelihood = self._fitted()
        if exponent is None:
            self.exponent: Integers = self._likelihood.argmax(axis=1)[self._octave]
        else:
            nearest = int(np.abs(EXPONENTS - exponent).argmin())
            self.exponent = np.full(len(pairs.query), nearest)

    def _fitted(self) -> Floats:
        """Return the likelihood of each exponent by octave of `start`, relative to the maximum."""
        logs = np.zeros((int(self._octave.max(initial=0)) + 1, len(EXPONENTS)))
        whole = np.floor(self.pairs.above).astype(np.int64)
        for number, table in enumerate(self._channels):
            rows = np.flatnonzero(self._table == number)
            np.add.at(logs, self._octave[rows], np.log(table.marginal[:, whole[rows]]).T)
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def terms(self, above: Floats, functions: Sequence[OfRank]) -> list[Floats]:
        """Return corrected values of functions of the rank."""
        results = [np.empty(above.shape) for _ in functions]
        starts, start = np.unique(self.pairs.start, return_inverse=True)
        twice = np.rint(2 * above).astype(np.int64)
        for table, exponent, rows in self._alike():
            width = 2 * table.drawn + 2
            code, back = np.unique(start[rows][:, None] * width + twice[rows], return_inverse=True)
            back = back.reshape(len(rows), -1)
            matrix = table.estimator(exponent, self.gamma)
            values = [np.empty(len(code)) for _ in functions]
            for low in range(0, len(code), 4096):
                part = code[low : low + 4096]
                twice_above = part % width
                weights = (matrix[twice_above // 2] + matrix[(twice_above + 1) // 2]) / 2
                ranks = starts[part // width][:, None] + table.offset[None]
                for function, value in zip(functions, values, strict=True):
                    value[low : low + 4096] = np.einsum("ij,ij->i", weights, function(ranks))
            for value, into in zip(values, results, strict=True):
                into[rows] = value[back]
        return results

    def _alike(self) -> Iterator[tuple[Channel, int, Integers]]:
        """Yield channel, exponent and rows of the documents that share them."""
        code = self._table * len(EXPONENTS) + self.exponent
        order = np.argsort(code, kind="stable")
        bounds = np.flatnonzero(np.diff(code[order], prepend=-1))
        for low, high in zip(bounds.tolist(), [*bounds[1:].tolist(), len(code)], strict=True):
            first = int(code[order[low]])
            yield self._channels[first // len(EXPONENTS)], first % len(EXPONENTS), order[low:high]

    def redrawn(self, draws: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw pseudo-populations from the posterior, and two samples from each.

        The number of documents above each relevant one is drawn from its posterior with one uniform random
        number per query and draw, which preserves the order of the list. The prior is the mean of the priors
        of all exponents, weighted by likelihood. Then n of the N documents are drawn.
        """
        pairs = self.pairs
        offset = self._posterior_draws(draws, rng)
        position = np.arange(len(pairs.query)) - np.searchsorted(pairs.query, pairs.query)
        order = np.argsort(position, kind="stable")
        bounds = np.cumsum(np.bincount(position))[:-1]
        levels = np.split(order, bounds)
        for rows in levels[1:]:
            offset[rows] = np.maximum(offset[rows], offset[rows - 1])
        twice = np.tile(offset, (1, 2))
        above = np.empty_like(twice)
        size = np.array([table.size for table in self._channels], dtype=np.int64)
        last = np.append(pairs.query[1:] != pairs.query[:-1], True)
        for rows in reversed(levels):
            ends, inner = rows[last[rows]], rows[~last[rows]]
            above[ends] = rng.hypergeometric(
                twice[ends],
                size[self._table[ends]][:, None] - twice[ends],
                np.broadcast_to(pairs.drawn[ends][:, None], (len(ends), 2 * draws)),
            )
            if len(inner):
                above[inner] = rng.hypergeometric(
                    twice[inner], twice[inner + 1] - twice[inner], above[inner + 1]
                )
        return offset, above

    def _posterior_draws(self, draws: int, rng: np.random.Generator) -> Integers:
        pairs = self.pairs
        share = self._likelihood / self._likelihood.sum(axis=1, keepdims=True)
        whole = np.floor(pairs.above).astype(np.int64)
        keys = np.stack([self._table, self._octave, whole], axis=1)
        cells, back = np.unique(keys, axis=0, return_inverse=True)
        queries = int(pairs.query[-1]) + 1 if len(pairs.query) else 0
        # Stratified uniform numbers in random order: one in each of `draws` intervals of equal length.
        strata = np.argsort(rng.random((queries, draws)), axis=1)
        levels = (strata + rng.random((queries, draws))) / draws
        order = np.argsort(back.ravel(), kind="stable")
        bounds = np.cumsum(np.bincount(back.ravel(), minlength=len(cells)))[:-1]
        offsets = np.empty((len(pairs.query), draws), dtype=np.int64)
        for (number, octave, seen), rows in zip(cells.tolist(), np.split(order, bounds), strict=True):
            table = self._channels[number]
            offsets[rows] = table.quantiles(share[octave] @ table.prior, seen, levels[pairs.query[rows]])
        return offsets


class Corrected(NamedTuple):
    """Corrected values, their variance over samples and expected bias; arrays of queries x measures."""

    values: Floats
    variance: Floats
    bias: Floats


def corrected(
    estimator: RankEstimator,
    weights: Sequence[Floats],
    functions: Sequence[OfRank],
    draws: int,
    rng: np.random.Generator,
) -> Corrected:
    """Estimate measures that are sums of weight x function of the rank, by query."""
    pairs = estimator.pairs
    queries = int(pairs.query[-1]) + 1 if len(pairs.query) else 0
    seen = estimator.terms(pairs.above[:, None], functions)
    values = np.stack(
        [
            group_sums(weight[:, None] * term, pairs.query, queries)[:, 0]
            for weight, term in zip(weights, seen, strict=True)
        ],
        axis=1,
    )
    variance, bias = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    if draws:
        offset, above = estimator.redrawn(draws, rng)
        again = estimator.terms(above.astype(np.float64), functions)
        ranks = pairs.start[:, None] + offset
        for column, (weight, function) in enumerate(zip(weights, functions, strict=True)):
            made = group_sums(weight[:, None] * again[column], pairs.query, queries)
            truth = group_sums(weight[:, None] * function(ranks), pairs.query, queries)
            variance[:, column] = ((made[:, :draws] - made[:, draws:]) ** 2).mean(axis=1) / 2
            bias[:, column] = made.mean(axis=1) - truth.mean(axis=1)
    return Corrected(values, variance, bias)
