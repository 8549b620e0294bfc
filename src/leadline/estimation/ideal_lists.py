"""nDCG from a sample of judgments: the ideal list is that of completions of the pool, drawn from a model.

The judged grades fit a model of the grades (`grade_model`). In each of 200 completions, the grades of all
other pairs of the pool are drawn from its posterior; nDCG is the mean over the completions. Each drawn pair
then corrects it with weight 1 / p - 1, by the difference between nDCG with its grade and nDCG expected before
its judgment. To first order neither the gain of the list nor the ideal then depends on the model.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from leadline.data.arrays import Flags, Floats, Integers
from leadline.estimation.grade_model import Features, features_of, fit, probabilities
from leadline.estimation.guesses import VOTE_CONSTANT
from leadline.estimation.measure_targets import Ratio

Levels: TypeAlias = npt.NDArray[np.int8]
COMPLETIONS = 200
MOST_LEVELS = 20  # distinct grades of the model; more are grouped
ROUNDED = 12  # decimals of votes
BLOCK = 2_000_000  # pairs x completions at a time
LEAST_CHANCE = 1e-3  # of a pair's own grade, in the weights of the completions
# Intervals are this much wider than the completions say: found in simulations, for the variance of the
# estimated variances and what the model misses.
WIDER = 1.1


class PoolPairs(NamedTuple):
    """The pairs of a pool, sorted by query and rank, so that nothing depends on names."""

    place: Integers  # pair of each row of the table of the sample, or -1
    number: Integers  # number of each query of the table, by the order of the ids
    query: Integers  # number of the query of each pair, ascending
    probability: Floats  # inclusion probability; 0 for pairs that could not be drawn
    judged: Flags  # pairs that were judged
    grade: Floats  # grade of the judged pairs
    # as in `features_of`
    votes: Floats
    best: Integers
    ranks: Integers
    cell: Integers
    cells: int

    @property
    def queries(self) -> int:
        """Return the number of queries."""
        return len(self.number)


def pool_pairs(
    *,
    kept: Flags,
    names: Sequence[bytes],
    query: Integers,
    probability: Floats,
    judged: Flags,
    grade: Floats,
    ranked: tuple[Integers, Integers, Integers],
    cell: Integers,
    cells: int,
) -> PoolPairs:
    """Return the pairs of a pool from the rows of a table."""
    number = np.empty(len(names), dtype=np.int64)
    number[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    rows = np.flatnonzero(kept)
    row, run, rank = ranked
    ranks = np.zeros((len(query), int(run.max(initial=-1)) + 1), dtype=np.int64)
    ranks[row, run] = rank
    deepest = int(rank.max(initial=0)) + 1
    best = np.full(len(query), deepest)
    np.minimum.at(best, row, rank)
    support = np.zeros(len(query))
    np.add.at(support, row, 1.0 / (VOTE_CONSTANT + rank))
    place = number[query[rows]]
    votes = vote_ranks(place, support[rows])
    order = np.lexsort((*ranks[rows].T[::-1], votes, place))
    rows = rows[order]
    index = np.full(len(query), -1, dtype=np.int64)
    index[rows] = np.arange(len(rows))
    return PoolPairs(
        index,
        number,
        place[order],
        probability[rows],
        judged[rows],
        grade[rows],
        votes[order],
        best[rows],
        ranks[rows],
        cell[rows],
        cells,
    )


def vote_ranks(query: Integers, support: Floats) -> Floats:
    """Return ranks by descending support within the query, from 1; ties share their mean rank.

    >>> vote_ranks(np.array([0, 0, 0, 1]), np.array([0.1, 0.3, 0.1, 0.2])).tolist()
    [2.5, 1.0, 2.5, 1.0]
    """
    support = np.round(support, ROUNDED)  # sums in another order are ties too
    order = np.lexsort((-support, query))
    q, s = query[order], support[order]
    fresh = np.concatenate(([True], (q[1:] != q[:-1]) | (s[1:] != s[:-1])))[: len(q)]
    group = np.cumsum(fresh) - 1
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], len(q)) - 1
    ranks = np.empty(len(q))
    ranks[order] = ((first + last) / 2.0)[group] - np.searchsorted(q, q) + 1.0
    return ranks


class _Levels(NamedTuple):
    """Distinct positive gains, from 0 up, and the index among them of the grade of each judged pair."""

    gains: Floats
    of: Integers


class Corrections(NamedTuple):
    """What the correction of every run needs, of the drawn pairs with p < 1."""

    pair: Integers  # the drawn pairs
    own: Integers  # level of the grade of each
    chance: Floats  # chance of each level before the judgment of the pair (n_drawn x n_levels)
    # weight of each completion, times 1 / ideal with each level in place of that of the pair (n_levels x
    # n_drawn x n_completions)
    credit: npt.NDArray[np.float32]
    simulated: Levels  # level drawn from the model, in the replicates (n_drawn x n_completions)
    normal: npt.NDArray[np.float32]  # standard normal numbers, in the replicates (n_drawn x n_completions)


class Completed(NamedTuple):
    """Completions of the pool."""

    # level of the grade of each pair; that of judged pairs is their own (n_pairs x n_completions)
    level: Levels
    # 1 over the discounted gain of the ideal list; 0 if that is 0 (n_queries x n_completions)
    inverse: Floats
    corrections: Corrections | None  # None if no pair was drawn with p < 1


class IdealLists:
    """Completions of the ideal lists of nDCG with a gain, discount and cutoff.

    They are `complete` if every pair was judged with certainty, so that the values are exact.
    """

    def __init__(self, pairs: PoolPairs, kind: Ratio, seed: int) -> None:
        self.pairs, self.kind, self.seed = pairs, kind, seed
        self.complete = bool((pairs.judged & (pairs.probability == 1)).all())

    @cached_property
    def levels(self) -> _Levels:
        """Levels of the judged grades; more than 20 are grouped, with the mean gain of each group."""
        pairs, target = self.pairs, self.kind.target
        grades = np.maximum(np.where(pairs.judged, pairs.grade, 0.0), 0.0)
        distinct, counts = np.unique(grades[grades > 0], return_counts=True)
        groups = np.arange(len(distinct))
        if len(distinct) > MOST_LEVELS and not self.complete:
            groups = groups * MOST_LEVELS // len(distinct)
        number = int(groups.max(initial=-1)) + 1
        gains = target.of(distinct)
        if number < len(distinct):
            gains = np.bincount(groups, gains * counts) / np.bincount(groups, counts)
        of = np.zeros(len(grades), dtype=np.int64)
        of[grades > 0] = groups[np.searchsorted(distinct, grades[grades > 0])] + 1
        return _Levels(np.concatenate(([0.0], gains)), of)

    def _discounts(self, most: int) -> Floats:
        """Return the sums of the discounts of the first 0 to `most` ranks, up to the cutoff."""
        ranks = np.arange(1.0, most + 1)
        weight = self.kind.weights(ranks)
        if self.kind.cutoff is not None:
            weight = np.where(ranks <= self.kind.cutoff, weight, 0.0)
        return np.concatenate(([0.0], np.cumsum(weight)))

    @cached_property
    def _features(self) -> Features:
        pairs = self.pairs
        return features_of(pairs.votes, pairs.best, pairs.ranks, self.kind.cutoff, pairs.cell, pairs.cells)

    def _blocks(self, size: int) -> Iterator[tuple[int, int, slice]]:
        """Yield first query, last query and rows of blocks of whole queries."""
        bounds = np.searchsorted(self.pairs.query, np.arange(self.pairs.queries + 1))
        first = 0
        while first < self.pairs.queries:
            most = bounds[first] + BLOCK // size
            last = max(int(np.searchsorted(bounds, most, side="right")) - 1, first + 1)
            yield first, last, slice(int(bounds[first]), int(bounds[last]))
            first = last

    @cached_property
    def completed(self) -> Completed:
        """Completions from the posterior of the model, and the terms of the correction."""
        pairs, levels = self.pairs, self.levels
        rng = np.random.default_rng(self.seed)
        size = 1 if self.complete else COMPLETIONS
        top = len(levels.gains) - 1
        draws = []
        for number in range(1, top + 1) if not self.complete else ():
            kept = np.flatnonzero(pairs.judged & (levels.of >= number - 1))
            model = fit(
                self._features.rows(kept), pairs.query[kept], pairs.queries, levels.of[kept] >= number
            )
            draws.append(model.draws(size, rng))
        drawn = pairs.judged & (pairs.probability < 1)
        level = np.repeat(levels.of.astype(np.int8)[:, None], size, axis=1)
        inverse = np.zeros((pairs.queries, size))
        parts = []
        for first, last, rows in self._blocks(size):
            query = pairs.query[rows] - first
            some = np.flatnonzero(~pairs.judged[rows] | drawn[rows])
            mine = drawn[rows][some]
            table = self._features.rows(rows.start + some)
            open_ = some[~mine]
            alive = np.ones((len(open_), size), dtype=np.bool_)
            chances = []
            for common, own in draws:
                chance = probabilities(table, query[some], common, own[first:last])
                alive &= rng.random(alive.shape) < chance[~mine]
                level[rows][open_] += alive
                chances.append(chance[mine])
            starts = np.searchsorted(query, np.arange(last - first))
            counts = [
                np.add.reduceat((level[rows] >= number).astype(np.int32), starts, axis=0)
                for number in range(1, top + 1)
            ]
            inverse[first:last] = _inverse(self._ideal(counts), size)
            chosen = some[mine]
            if len(chosen) and top:
                reached = levels.of[rows][chosen]
                others = [
                    count[query[chosen]] - (reached > number)[:, None] for number, count in enumerate(counts)
                ]
                parts.append(self._corrections(rows.start + chosen, others, chances, rng))
        if not parts:
            return Completed(level, inverse, None)
        axes = (0, 0, 0, 1, 0, 0)
        joined = [
            np.concatenate(column, axis) for column, axis in zip(zip(*parts, strict=True), axes, strict=True)
        ]
        return Completed(level, inverse, Corrections(*joined))

    def _ideal(self, counts: list[Integers]) -> Floats:
        """Return the discounted gain of the ideal list from the numbers of pairs that reach each level."""
        sums = self._discounts(max((int(count.max(initial=0)) for count in counts), default=0))
        total: Floats = np.zeros(1)
        for step, count in zip(np.diff(self.levels.gains).tolist(), counts, strict=True):
            total = total + step * sums[count]
        return total

    def _corrections(
        self, pair: Integers, others: list[Integers], chances: list[Floats], rng: np.random.Generator
    ) -> Corrections:
        """Return what corrects the values by some drawn pairs."""
        own, (drawn, size) = self.levels.of[pair], chances[0].shape
        reached = [np.ones((drawn, size))]
        for chance in chances:
            reached.append(reached[-1] * chance)
        exactly = [one - more for one, more in itertools.pairwise([*reached, np.zeros((drawn, size))])]
        judgment = np.select([own[:, None] == level for level in range(len(exactly))], exactly)
        weight = 1.0 / np.maximum(judgment, LEAST_CHANCE)
        weight = np.minimum(weight, weight.mean(axis=1, keepdims=True) * np.sqrt(size))
        weight /= weight.sum(axis=1, keepdims=True)
        credit = np.empty((len(reached), drawn, size), dtype=np.float32)
        for level in range(len(reached)):
            ideal = self._ideal([other + (number < level) for number, other in enumerate(others)])
            credit[level] = weight * _inverse(ideal, size)
        even = rng.random((drawn, size))
        return Corrections(
            pair,
            own,
            np.stack([(weight * one).sum(axis=1) for one in exactly], axis=1),
            credit,
            np.sum([even < one for one in reached[1:]], axis=0, dtype=np.int8),
            rng.standard_normal((drawn, size), dtype=np.float32),
        )


def _inverse(ideal: Floats, size: int) -> Floats:
    """Return 1 / ideal, 0 where that is 0, for every completion."""
    known = np.broadcast_to(ideal, (len(ideal), size))
    return np.where(known > 0, 1.0 / np.where(known > 0, known, 1.0), 0.0)


class ListValues(NamedTuple):
    """Values of one run: by query, and replicates of the mean (none if the values are exact)."""

    values: Floats
    replicates: Floats


def list_values(
    lists: IdealLists, query: Integers, pair: Integers, weight: Floats, elsewhere: Floats
) -> ListValues:
    """Return nDCG of a run by query, and replicates of its mean."""
    found = lists.completed
    queries, size = found.inverse.shape
    gains = lists.levels.gains
    gained = np.repeat(elsewhere[:, None], size, axis=1)
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    if len(starts):
        parts = weight[:, None] * gains[found.level[pair]]
        gained[query[starts]] += np.add.reduceat(parts, starts, axis=0)
    completed = gained * found.inverse
    values, replicates = completed.mean(axis=1), completed.mean(axis=0)
    values[~(found.inverse > 0).any(axis=1)] = np.nan
    if lists.complete:
        return ListValues(values, np.zeros(0))
    if found.corrections is not None:
        discount = np.zeros(len(lists.pairs.query))
        discount[pair] = weight
        drawn = found.corrections.pair
        residual, noise = _residuals(
            found.corrections, gains, discount[drawn], gained[lists.pairs.query[drawn]]
        )
        scale = 1.0 / lists.pairs.probability[drawn] - 1.0
        values = values + np.bincount(lists.pairs.query[drawn], scale * residual, minlength=queries)
        replicates = replicates + scale @ noise / queries
    centre = replicates.mean()
    return ListValues(values, centre + WIDER * (replicates - centre))


def _residuals(
    corrections: Corrections, gains: Floats, discount: Floats, gained: Floats
) -> tuple[Floats, Floats]:
    """Return nDCG with the grade of each drawn pair minus that expected before its judgment, and replicates.

    Half of the variance of the replicates is that of grades drawn from the model, half that of the residuals
    themselves, so that it is not the model alone that says how wrong the model is. `discount` is 0 for pairs
    that the run does not have above the cutoff; `gained` is that of the list of each pair's query.
    """
    others = gained - (discount * gains[corrections.own])[:, None]
    value = np.stack(
        [
            np.einsum("ds,ds->d", credit, others) + discount * gain * credit.sum(axis=1, dtype=np.float64)
            for gain, credit in zip(gains.tolist(), corrections.credit, strict=True)
        ],
        axis=1,
    )
    rows = np.arange(len(value))
    expected = (value * corrections.chance).sum(axis=1)
    residual = value[rows, corrections.own] - expected
    simulated = expected[:, None] - value[rows[:, None], corrections.simulated]
    return residual, (simulated + residual[:, None] * corrections.normal) / np.sqrt(2.0)
