"""Measures that add up gains, each weighted by its rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.bounds import Rule
from leadline.bounds.orders import last_places
from leadline.judged import Judged
from leadline.measures import Measure, over
from leadline.measures._sums import added_to
from leadline.measures.cumulative_gain import CG
from leadline.measures.discounted_gain import DCG
from leadline.measures.ndcg import nDCG
from leadline.measures.rank_biased import RBP
from leadline.measures.rank_biased import weights as rank_biased
from leadline.measures.scaled_discounted_gain import SDCG


class Gains(Rule):
    """The value is a sum over documents of gain x weight of the rank, over a divisor without order.

    Expectation is linear, and a document of a tie group stands at each of the group's ranks equally
    often: so each gain is multiplied by the mean weight of those ranks. Weights never rise with the
    rank, so by the rearrangement inequality the sorted orders are the ends.
    """

    measures: ClassVar[tuple[str, ...]] = ("CG", "DCG", "RBP", "SDCG", "nDCG")

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
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


def _discounted(measure: DCG, judged: Judged, weights: Floats) -> Floats:
    """Give DCG or nDCG."""
    if not isinstance(measure, nDCG):
        gain = _gain(measure, judged, np.zeros(len(judged.present)))
        return _weighted(judged, gain, weights, measure.cutoff)
    power = measure.too_large(_best(judged))
    part = _weighted(judged, _gain(measure, judged, power), weights, measure.cutoff)
    return over(part, measure.added(judged, *judged.qrels.ideal, power))


def _rank_biased(measure: RBP, judged: Judged, weights: Floats) -> Floats:
    """Give RBP with any of its gains."""
    if measure.gain == "binary":
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        return _weighted(judged, np.ones(len(chosen)), weights, measure.cutoff, chosen=chosen)
    query, _, grade = judged.gains
    largest = np.full(len(judged.present), measure.max_grade)
    if measure.gain == "scaled":
        largest[:] = np.maximum(_best(judged), 1.0)
    return _weighted(judged, grade / largest[query], weights, measure.cutoff)


def _best(judged: Judged) -> Floats:
    ideal = judged.qrels.ideal
    best = np.zeros(len(judged.present))
    best[ideal.query[ideal.rank == 1]] = ideal.gain[ideal.rank == 1]
    return best


def _discount(measure: DCG, ranks: Integers) -> Floats:
    """Give what a gain at each rank is multiplied by."""
    return np.asarray(
        1.0 / np.log2(ranks + 1.0 if measure.discount == "log2" else np.maximum(ranks, 2.0))
    )


def _gain(measure: DCG, judged: Judged, power: Floats) -> Floats:
    """Give the gain of every document of positive grade, divided by its query's 2^power."""
    query, _, grade = judged.gains
    less = np.exp2(-power[query])
    with np.errstate(over="ignore"):
        exponential = np.exp2(grade - power[query]) - less
    return exponential if measure.gain == "exp" else grade * less


def _weighted(
    judged: Judged,
    gain: Floats,
    weights: Floats,
    cutoff: int | None,
    *,
    chosen: Integers | None = None,
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
