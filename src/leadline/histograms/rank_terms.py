"""Rank measures as sums over relevant documents: a weight times a function of the rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, relevant
from leadline.measures.average_precision import AP
from leadline.measures.discounted_gain import DCG
from leadline.measures.ndcg import nDCG
from leadline.measures.precision import P
from leadline.measures.rank_biased import RBP
from leadline.measures.recall import R
from leadline.measures.reciprocal_rank import RR
from leadline.measures.success import Success


class RankTerms(NamedTuple):
    """A measure as a sum over the documents of positive grade of `weight * of_rank(rank)`.

    `weight` has one entry per row of the join and depends on the order of the relevant documents, which
    is known; only the ranks are estimated. `of_rank` takes an array of any shape.
    """

    weight: Floats
    of_rank: Callable[[Floats], Floats]


def rank_terms(measure: Measure, judged: Judged) -> RankTerms | None:
    """Return a measure as weights and a function of the rank, or None if it is no such sum.

    Queries in which the measure is undefined get weights of 0.

    Examples
    --------
    >>> terms = rank_terms(AP(), Judged.of_grades([1, None, 1]))
    >>> terms.weight.tolist(), terms.of_rank(np.array([1.0, 3.0])).tolist()
    ([0.5, 1.0], [1.0, 0.3333333333333333])

    """
    builder = BUILDERS.get(type(measure))
    return None if builder is None else builder(measure, judged)


def sums_over_ranks(measures: Sequence[Measure]) -> list[bool]:
    """Return which measures are sums over relevant documents that `rank_terms` knows."""
    probe = Judged.of_grades([1])
    return [rank_terms(measure, probe) is not None for measure in measures]


def _hits(judged: Judged, rel: float) -> tuple[Floats, Floats]:
    """Return 1 for each row of grade `rel` or more, and which relevant document of its query it is."""
    chosen = judged.grade >= rel
    nth = np.where(chosen, judged.before(chosen) + 1.0, 0.0)
    return chosen.astype(np.float64), nth


def _over(weight: Floats, size: Floats, judged: Judged) -> Floats:
    """Divide weights by a number of their query; 0 where that is 0."""
    by_row = size[judged.query]
    return np.divide(weight, by_row, out=np.zeros(len(weight)), where=by_row > 0)


def _within(cutoff: int | None, function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Return the function, 0 beyond the cutoff."""
    if cutoff is None:
        return function
    return lambda rank: np.where(rank <= cutoff, function(rank), 0.0)


def _average_precision(measure: AP, judged: Judged) -> RankTerms:
    _, nth = _hits(judged, measure.rel)
    size = relevant(judged, measure.rel).astype(np.float64)
    if measure.norm == "min" and measure.cutoff is not None:
        size = np.minimum(size, measure.cutoff)
    return RankTerms(_over(nth, size, judged), _within(measure.cutoff, np.reciprocal))


def _reciprocal_rank(measure: RR, judged: Judged) -> RankTerms:
    _, nth = _hits(judged, measure.rel)
    return RankTerms((nth == 1).astype(np.float64), _within(measure.cutoff, np.reciprocal))


def _success(measure: Success, judged: Judged) -> RankTerms:
    _, nth = _hits(judged, measure.rel)
    return RankTerms((nth == 1).astype(np.float64), _within(measure.cutoff, np.ones_like))


def _precision(measure: P, judged: Judged) -> RankTerms | None:
    if measure.cutoff is None:
        return None
    hit, _ = _hits(judged, measure.rel)
    return RankTerms(hit / measure.cutoff, _within(measure.cutoff, np.ones_like))


def _recall(measure: R, judged: Judged) -> RankTerms | None:
    if measure.cutoff is None:
        return None
    hit, _ = _hits(judged, measure.rel)
    size = relevant(judged, measure.rel).astype(np.float64)
    return RankTerms(_over(hit, size, judged), _within(measure.cutoff, np.ones_like))


def _rank_biased(measure: RBP, judged: Judged) -> RankTerms | None:
    if measure.gain != "binary":
        return None
    hit, _ = _hits(judged, measure.rel)
    p = measure.p
    return RankTerms(hit, _within(measure.cutoff, lambda rank: (1 - p) * p ** (rank - 1.0)))


def _gain(measure: DCG, grade: Floats, power: Floats) -> Floats:
    """Return the gains of some grades, divided by 2^power."""
    less = np.exp2(-power)
    gain: Floats = np.exp2(grade - power) - less if measure.gain == "exp" else grade * less
    return gain


def _discount(measure: DCG) -> Callable[[Floats], Floats]:
    if measure.discount == "log2":
        return lambda rank: 1 / np.log2(rank + 1.0)
    return lambda rank: 1 / np.log2(np.maximum(rank, 2.0))


def _discounted_gain(measure: DCG, judged: Judged) -> RankTerms:
    weight = _gain(measure, np.maximum(judged.grade, 0.0), np.zeros(len(judged.grade)))
    return RankTerms(weight, _within(measure.cutoff, _discount(measure)))


def _normalised_gain(measure: nDCG, judged: Judged) -> RankTerms:
    ideal = judged.qrels.ideal
    best = np.zeros(len(judged.present))
    first = ideal.rank == 1
    best[ideal.query[first]] = ideal.gain[first]
    power = measure.too_large(best)
    weight = _gain(measure, np.maximum(judged.grade, 0.0), power[judged.query])
    size = measure.added(judged, *ideal, power)
    return RankTerms(_over(weight, size, judged), _within(measure.cutoff, _discount(measure)))


BUILDERS: dict[type[Measure], Callable[..., RankTerms | None]] = {
    AP: _average_precision, RR: _reciprocal_rank, Success: _success, P: _precision, R: _recall,
    RBP: _rank_biased, DCG: _discounted_gain, nDCG: _normalised_gain,
}  # fmt: skip
