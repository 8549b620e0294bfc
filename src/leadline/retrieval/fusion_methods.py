"""Methods that fuse the ranked lists of several runs into one."""

from __future__ import annotations

import sys
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats, Hashes, Integers
from leadline.data.registry import Aliases, Parametric, Registry, number
from leadline.retrieval.fusion_lists import FusionLists

BLOCK = 1 << 22  # pairs of documents whose votes are counted at a time


class FusionMethod(Parametric):
    """Base class of the fusion methods.

    `uses_scores` is whether the scores of the runs matter, not only the ranks; `weighted` is whether runs may
    have weights, and without them a fused score is one of the scores or their mean. The examples are of three
    runs: {a: 3, b: 2, c: 1}, {b: 5, a: 4} and {c: 2}.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    uses_scores: ClassVar[bool] = False
    weighted: ClassVar[bool] = True

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        """Return the fused score of every candidate of lists with normalized scores; weights are above 0."""
        raise NotImplementedError


FUSIONS: Registry[FusionMethod] = Registry(sys.modules[__name__], FusionMethod, "fusion method")


class CombSUM(FusionMethod):
    """Sum of the scores; a run that did not retrieve a document adds 0.

    a: 3 + 4 = 7, b: 2 + 5 = 7, c: 1 + 2 = 3.
    """

    title = "sum of scores"
    formula = "sum of w s"
    source = "Fox and Shaw 1993"
    aliases: ClassVar[Aliases] = {"sum": {}, "wsum": {}}
    uses_scores = True

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        return lists.total(weights[lists.source] * lists.score)


class CombMNZ(FusionMethod):
    """Sum of the scores times the number of runs that retrieved the document, to the power gamma.

    With weights, the sum of the weights of these runs takes the place of their number, and the scores are not
    weighted (WMNZ). a: (3 + 4) 2 = 14, b: 14, c: (1 + 2) 2 = 6.
    """

    title = "sum of scores times the number of runs with the document"
    formula = "(sum of s) (sum of w)^gamma"
    source = "Fox and Shaw 1993; gamma: Lee 1997; weights: Wu and Crestani 2002"
    aliases: ClassVar[Aliases] = {"mnz": {}, "wmnz": {}, "CombGMNZ": {}, "gmnz": {}}
    uses_scores = True

    gamma: float = number(1.0, low=0.0, high=100.0)

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        factor: Floats = lists.total(weights[lists.source]) ** self.gamma
        return lists.total(lists.score) * factor


class CombANZ(FusionMethod):
    """Mean score of the runs that retrieved the document.

    a: (3 + 4) / 2 = 3.5, b: 3.5, c: (1 + 2) / 2 = 1.5.
    """

    title = "mean of the scores of the runs that retrieved the document"
    formula = "(sum of w s) / (sum of w)"
    source = "Fox and Shaw 1993"
    aliases: ClassVar[Aliases] = {"anz": {}}
    uses_scores = True

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        weight = weights[lists.source]
        return lists.total(weight * lists.score) / lists.total(weight)


class CombMED(FusionMethod):
    """Median score of the runs that retrieved the document; of two middle scores, their mean.

    a: 3.5, b: 3.5, c: 1.5.
    """

    title = "median of the scores of the runs that retrieved the document"
    formula = "median of s"
    source = "Fox and Shaw 1993"
    aliases: ClassVar[Aliases] = {"med": {}}
    uses_scores = True
    weighted = False

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:  # noqa: ARG002  # all equal
        ordered = lists.score[np.lexsort((lists.score, lists.candidate))]
        low, high = lists.starts + (lists.counts - 1) // 2, lists.starts + lists.counts // 2
        middle = lists.cancelled((ordered[low] + ordered[high]) / 2, lists.score)
        one = (ordered[low] == ordered[high]) & (not lists.centred)
        return np.where(one, ordered[low], middle)


class CombMAX(FusionMethod):
    """Largest score. a: 4, b: 5, c: 2."""

    title = "largest score"
    formula = "max of s"
    source = "Fox and Shaw 1993"
    aliases: ClassVar[Aliases] = {"max": {}}
    uses_scores = True
    weighted = False

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:  # noqa: ARG002  # all equal
        found: Floats = np.maximum.reduceat(lists.score, lists.starts)
        return found


class CombMIN(FusionMethod):
    """Smallest score of the runs that retrieved the document. a: 3, b: 2, c: 1."""

    title = "smallest score of the runs that retrieved the document"
    formula = "min of s"
    source = "Fox and Shaw 1993"
    aliases: ClassVar[Aliases] = {"min": {}}
    uses_scores = True
    weighted = False

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:  # noqa: ARG002  # all equal
        found: Floats = np.minimum.reduceat(lists.score, lists.starts)
        return found


class Mixed(FusionMethod):
    """Sum of the weighted scores times the root of the number of runs that retrieved the document.

    a: (3 + 4) sqrt(2) = 9.8995, b: 9.8995, c: (1 + 2) sqrt(2) = 4.2426.
    """

    title = "sum of scores times the square root of the number of runs with the document"
    formula = "(sum of w s) sqrt(number of runs with the document)"
    source = "Wu and Crestani 2002"
    uses_scores = True

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        return lists.total(weights[lists.source] * lists.score) * np.sqrt(lists.counts)


class RRF(FusionMethod):
    """Reciprocal rank fusion: sum of 1 / (k + rank).

    a: 1/61 + 1/62, b: 1/62 + 1/61, c: 1/63 + 1/61.
    """

    title = "reciprocal rank fusion"
    formula = "sum of w / (k + rank)"
    source = "Cormack, Clarke and Buettcher 2009"

    k: float = number(60.0, low=0.0, high=1e9)

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        return lists.total(weights[lists.source] / (self.k + lists.rank))


class ISR(FusionMethod):
    """Sum of inverse squared ranks times the number of runs that retrieved the document.

    a: (1 + 1/4) 2 = 2.5, b: (1/4 + 1) 2 = 2.5, c: (1/9 + 1) 2 = 2.2222.
    """

    title = "inverse square rank"
    formula = "(sum of w / rank^2) (number of runs with the document)"
    source = "Mourao, Martins and Magalhaes 2014"

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        return lists.total(weights[lists.source] / lists.rank.astype(np.float64) ** 2) * lists.counts


class LogISR(FusionMethod):
    """Sum of inverse squared ranks times the logarithm of (number of runs + sigma).

    With sigma = 0, a document that one run retrieved has score 0. a: (1 + 1/4) ln 2 = 0.8664, b: 0.8664,
    c: (1/9 + 1) ln 2 = 0.7702.
    """

    title = "logarithmic inverse square rank"
    formula = "(sum of w / rank^2) ln(number of runs with the document + sigma)"
    source = "Mourao, Martins and Magalhaes 2014"
    aliases: ClassVar[Aliases] = {"LogNISR": {"sigma": 0.01}}

    sigma: float = number(0.0, low=0.0, high=1.0)

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        inverse = lists.total(weights[lists.source] / lists.rank.astype(np.float64) ** 2)
        factor: Floats = np.log(lists.counts + self.sigma)
        return inverse * factor


class RBC(FusionMethod):
    """Rank-biased centroids: sum of (1 - p) p^(rank - 1).

    With p = 0.8, a: 0.2 + 0.16 = 0.36, b: 0.16 + 0.2 = 0.36, c: 0.128 + 0.2 = 0.328.
    """

    title = "rank-biased centroids"
    formula = "sum of w (1 - p) p^(rank - 1)"
    source = "Bailey, Moffat, Scholer and Thomas 2017"

    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        return lists.total(weights[lists.source] * (1 - self.p) * self.p ** (lists.rank - 1.0))


class Borda(FusionMethod):
    """Borda count: N points for the first of N candidates of a query, N - 1 for the second, and so on.

    The candidates that a run did not retrieve share its remaining points equally. Of N = 3 candidates, a:
    3 + 2 + 1.5 = 6.5, b: 2 + 3 + 1.5 = 6.5, c: 1 + 1 + 3 = 5.
    """

    title = "Borda count"
    formula = "sum of w (N + 1 - rank), or w (N - n + 1) / 2 for a run of n documents without this one"
    source = "Aslam and Montague 2001"
    aliases: ClassVar[Aliases] = {"bordafuse": {}, "BordaFuse": {}}

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        number = lists.candidates[lists.row_query]
        shared: Floats = weights[:, None] * (lists.candidates - lists.sizes + 1) / 2
        points = weights[lists.source] * (number + 1 - lists.rank)
        complete = lists.completed(points, shared)
        return complete.total(complete.score)


class Condorcet(FusionMethod):
    """Number of candidates that a document defeats in pairwise majority votes, plus 1; draws count 1/2.

    Each run votes for the document that it ranks higher, or that it alone retrieved; runs that retrieved
    neither do not vote. A Condorcet winner is first; where majorities form no cycle the order is that of the
    majorities. a: draws with b (1 : 1), c: 2 runs prefer a to c and 1 c to a, so that a defeats c: 1 +
    1/2 + 1 = 2.5; b: 2.5; c: 1.
    """

    title = "Condorcet fusion by number of pairwise wins (Copeland)"
    formula = "1 + number of candidates defeated in pairwise votes + (number of draws) / 2"
    source = "Montague and Aslam 2002; Copeland 1951"

    def scores(self, lists: FusionLists, weights: Floats) -> Floats:
        wins = np.empty(len(lists.query))
        ends = np.cumsum(lists.candidates)
        rows = np.concatenate([[0], np.cumsum(np.bincount(lists.row_query, minlength=len(lists.queries)))])
        for query, (stop, size) in enumerate(zip(ends.tolist(), lists.candidates.tolist(), strict=True)):
            part = slice(*rows[query : query + 2].tolist())
            rank = np.full((len(weights), size), np.iinfo(np.int64).max)
            rank[lists.source[part], lists.candidate[part] - (stop - size)] = lists.rank[part]
            voting = lists.sizes[:, query] > 0
            rank, power = rank[voting], weights[voting]
            whole = whole_weights(power) if size >= MANY else None
            votes = _compared(rank, power) if whole is None else _counted_in_bits(rank, whole)
            wins[stop - size : stop] = votes
        return wins


MANY = 200  # candidates from which votes are counted in bits
LARGEST = 1 << 16  # sum of whole weights
BITS = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


def whole_weights(weights: Floats) -> list[int] | None:
    """Return whole numbers with the proportions of the weights; None if there are no small ones.

    >>> whole_weights(np.array([0.3, 0.7, 0.3])), whole_weights(np.array([1.0, np.pi]))
    ([3, 7, 3], None)
    """
    for divisor in range(1, 101):
        scaled = weights / weights.min() * divisor
        total = float(scaled.sum())
        if total > LARGEST:
            return None
        nearest = np.round(scaled)
        if float(np.abs(scaled - nearest).max()) <= 1e-13 * total:
            return [int(weight) for weight in nearest.tolist()]
    return None


def _counted_in_bits(rank: Integers, weights: list[int]) -> Floats:
    """Return the wins of every document; the votes of 64 pairs are added at a time."""
    size, total = rank.shape[1], sum(weights)
    planes = total.bit_length() + 1
    offset = (1 << (planes - 1)) - total - 1
    wins, draws = np.zeros((2, size))
    orders = [np.argsort(ranks, kind="stable") for ranks in rank]
    retrieved = np.count_nonzero(rank < np.iinfo(np.int64).max, axis=1).tolist()
    words = max(1, BLOCK // (64 * size))
    for start in range(0, size, 64 * words):
        columns = np.arange(min(64 * words, size - start))
        own = np.zeros((size, -(-len(columns) // 64)), dtype=np.uint64)
        own[start + columns, columns >> 6] = np.uint64(1) << (columns & 63).astype(np.uint64)
        every = np.bitwise_or.reduce(own, axis=0)
        sums = [np.where(offset >> plane & 1, every, np.uint64(0)) for plane in range(planes)]
        sums = [np.repeat(plane[None], size, axis=0) for plane in sums]
        for order, ends, weight in zip(orders, retrieved, weights, strict=True):
            upto = np.bitwise_or.accumulate(own[order[:ends]], axis=0)
            below, not_above = np.zeros_like(own), np.empty_like(own)
            below[order[:ends]] = every & ~upto
            not_above[order[0]] = every
            not_above[order[1:ends]] = every & ~upto[:-1]
            not_above[order[ends:]] = every & ~upto[-1]
            for votes in (below, not_above):
                _add(sums, votes, weight)
        *lower, won = sums
        wins += _ones(won)
        drawn = ~won & every
        for plane in lower:
            drawn &= plane
        draws += _ones(drawn)
    points: Floats = 1 + wins + (draws - 1) / 2  # a document draws with itself
    return points


def _add(sums: list[Hashes], votes: Hashes, weight: int) -> None:
    """Add a whole number to sums in planes of bits, where a bit of `votes` is set."""
    for bit in range(weight.bit_length()):
        if weight >> bit & 1:
            carry = votes
            for plane in sums[bit:]:
                carried = plane & carry
                plane ^= carry  # noqa: PLW2901  # in place
                carry = carried


def _ones(words: Hashes) -> Integers:
    """Return the number of bits set in each row."""
    ones: Integers = BITS[words.view(np.uint16)].sum(axis=1, dtype=np.int64)
    return ones


def _compared(rank: Integers, weights: Floats) -> Floats:
    """Return the wins of every document, by comparing all pairs."""
    size = rank.shape[1]
    wins = np.empty(size)
    step = max(1, BLOCK // max(size, 1))
    for start in range(0, size, step):
        part = slice(start, start + step)
        votes = np.zeros((len(wins[part]), size))
        for ranks, weight in zip(rank, weights.tolist(), strict=True):
            votes += weight * np.sign(ranks - ranks[part, None]).astype(np.float64)
        margin = np.where(np.abs(votes) <= 1e-12 * weights.sum(), 0.0, votes)
        wins[part] = np.count_nonzero(margin > 0, axis=1) + (np.count_nonzero(margin == 0, axis=1) - 1) / 2
    points: Floats = 1 + wins
    return points
