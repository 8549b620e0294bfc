"""nDCG from a sample of judgments: the ideal list is that of completions of the pool, drawn from a model.

The judged grades fit a model of the grades. In each of 200 completions, the grades of all
other pairs of the pool are drawn from its posterior; nDCG is the mean over the completions. Each drawn pair
then corrects it with weight 1 / p - 1, by the difference between nDCG with its grade and nDCG expected before
its judgment. To first order neither the gain of the list nor the ideal then depends on the model.

The model says how grades fall with the ranks of the runs, for each query separately. One regression per
level of the grade gives the probability that a pair which has reached the level below
reaches this one (continuation ratios). Its coefficients are common to all queries; each query has its own
level and slope.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from leadline.data.arrays import Flags, Floats, Integers, counts_above, group_sums
from leadline.estimation.designs import Ratio, Target
from leadline.estimation.guesses import VOTE_CONSTANT

if TYPE_CHECKING:
    from leadline.estimation.estimators import Sample

ROUNDS = 25
FIRST_AVERAGED = 3  # round from which probabilities are averaged over the posterior
FIRST_VARIANCES = 2  # round from which the variances are estimated
LARGEST_LOGIT = 12.0
LARGEST_STEP = 3.0
MOST_VARIANCE = 25.0  # of a logit, in the averages
LEAST_WEIGHT = 1e-5
WIDE = 9.0  # prior variance of the coefficients of intercept and ranks
PRIOR = 0.25  # prior mean of the estimated variances of coefficients, and of the slopes of queries
PRIOR_LEVEL = 1.0  # the same of the levels of queries
PRIOR_SIZE = 3.0  # weight of these, in coefficients or queries
VOTE_CELLS = (3, 6, 11, 21, 41)  # first rank by votes of each cell after the first
CENTRES = (2.3, 2.0, 2.0)  # of the logarithms: rank by votes, best rank, and rank by votes in the slope


class Features(NamedTuple):
    """What the grade of a pair is predicted from."""

    common: Floats  # features with the same coefficients in all queries (n_pairs x n_features)
    # group of each feature: 0 with a wide prior; the coefficients of each other group have one variance,
    # which is estimated
    group: Integers
    # features with coefficients of their own in each query: 1 and the rank by votes (n_pairs x 2)
    own: Floats

    def rows(self, kept: Flags | Integers) -> Features:
        """Return the features of some pairs."""
        return Features(self.common[kept], self.group, self.own[kept])


def features_of(pairs: PoolPairs, cutoff: int | None) -> Features:
    """Return the features of the pairs of a pool."""
    votes, best, ranks = pairs.votes, pairs.best, pairs.ranks
    logs = np.log(votes), np.log(best)
    columns = [np.ones(len(votes)), logs[0] - CENTRES[0], logs[1] - CENTRES[1]]
    place = np.searchsorted(VOTE_CELLS, votes, side="right")
    columns += [(place == number).astype(np.float64) for number in range(len(VOTE_CELLS) + 1)]
    columns.append((best > (np.inf if cutoff is None else cutoff)).astype(np.float64))
    group = [0] * 3 + [1] * (len(columns) - 3)
    if ranks.shape[1] > 1:
        listed = np.maximum(ranks, 1)
        columns += list(np.where(ranks > 0, 1.0 / np.log2(1.0 + listed), 0.0).T)
        group += [2] * ranks.shape[1]
    if pairs.cells > 1:
        columns += [(pairs.cell == number).astype(np.float64) for number in range(pairs.cells)]
        group += [3] * pairs.cells
    own = np.stack([np.ones(len(votes)), logs[0] - CENTRES[2]], axis=1)
    return Features(np.stack(columns, axis=1), np.array(group, dtype=np.int64), own)


class GradeModel(NamedTuple):
    """Fitted model of one level: normal approximation of its posterior."""

    common: Floats  # coefficients common to all queries
    own: Floats  # level and slope of each query (n_queries x 2)
    precision: Floats  # posterior precision of `common` (n_features x n_features)
    own_covariance: Floats  # posterior covariance of level and slope, given `common` (n_queries x 2 x 2)
    # decrease of level and slope per increase of each common coefficient (n_queries x n_features x 2)
    shift: Floats

    def draws(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return draws from the posterior: features x size, and queries x 2 x size."""
        root = np.linalg.cholesky(self.precision)
        moves = np.linalg.solve(root.T, rng.standard_normal((len(self.common), size)))
        noise = np.linalg.cholesky(self.own_covariance) @ rng.standard_normal((len(self.own), 2, size))
        own = self.own[:, :, None] + noise - np.einsum("qfi,fs->qis", self.shift, moves)
        return self.common[:, None] + moves, own


def probabilities(features: Features, query: Integers, common: Floats, own: Floats) -> Floats:
    """Return the probability of the level for each pair and draw."""
    logit = features.common @ common
    for column in range(2):
        logit += features.own[:, column, None] * own[query, column]
    np.clip(logit, -LARGEST_LOGIT, LARGEST_LOGIT, out=logit)
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def fit(features: Features, query: Integers, queries: int, reached: Flags) -> GradeModel:
    """Fit the model of one level by penalized logistic regression with two random effects per query.

    Probabilities are averaged over the normal approximation of the posterior, not taken at its mode;
    variances of the effects and of groups of coefficients are estimated (EM).
    """
    f, group, z = features
    target = reached.astype(np.float64)
    common: Floats = np.zeros(f.shape[1])
    own: Floats = np.zeros((queries, 2))
    mean = min(max((target.sum() + 0.5) / (len(target) + 1.0), 0.01), 0.99)
    common[0] = math.log(mean / (1.0 - mean))
    variance: Floats = np.array([WIDE, PRIOR, PRIOR, PRIOR])[group]
    prior = np.diag([PRIOR_LEVEL, PRIOR])
    spread = prior.copy()
    by_query = partial(group_sums, group=query, groups=queries)
    covariance: Floats = np.zeros(0)
    own_covariance = shift = precision = covariance
    for number in range(ROUNDS):
        logit = np.clip(f @ common + (z * own[query]).sum(axis=1), -LARGEST_LOGIT, LARGEST_LOGIT)
        slope: Floats | float = 1.0
        if number >= FIRST_AVERAGED:
            left = f - shift[query, :, 0] * z[:, :1] - shift[query, :, 1] * z[:, 1:]
            doubt = ((left @ covariance) * left).sum(axis=1)
            doubt += np.einsum("ni,nij,nj->n", z, own_covariance[query], z)
            slope = 1.0 / np.sqrt(1.0 + math.pi / 8.0 * np.minimum(doubt, MOST_VARIANCE))
        mu: Floats = 1.0 / (1.0 + np.exp(-slope * logit))
        weight = np.maximum(slope * mu * (1.0 - mu), LEAST_WEIGHT)
        inverse = np.linalg.inv(spread)
        weighted = weight[:, None] * z
        cross = np.stack([by_query(f * weighted[:, one, None]) for one in range(2)], axis=2)
        own_covariance = np.asarray(np.linalg.inv(by_query(weighted[:, :, None] * z[:, None, :]) + inverse))
        shift = cross @ own_covariance
        precision = (f * weight[:, None]).T @ f + np.diag(1.0 / variance)
        precision -= np.tensordot(shift, cross, axes=((0, 2), (0, 2)))
        precision = (precision + precision.T) / 2.0
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        pull = f.T @ (target - mu) - common / variance
        own_pull = by_query(z * (target - mu)[:, None]) - own @ inverse
        step = covariance @ (pull - np.tensordot(shift, own_pull, axes=((0, 2), (0, 1))))
        own_step = np.einsum("qij,qj->qi", own_covariance, own_pull - np.tensordot(cross, step, axes=(1, 0)))
        largest = max(float(np.abs(step).max()), float(np.abs(own_step).max(initial=0.0)), 1e-9)
        share = min(1.0, LARGEST_STEP / largest)
        common, own = common + share * step, own + share * own_step
        if number >= FIRST_VARIANCES:
            turned = shift.transpose(0, 2, 1)
            known = own_covariance + turned @ covariance @ shift
            spread = (own.T @ own + known.sum(axis=0) + PRIOR_SIZE * prior) / (queries + PRIOR_SIZE)
            for one in range(1, 4):
                kept = group == one
                squares = float((common[kept] ** 2).sum() + np.diag(covariance)[kept].sum())
                variance[kept] = (squares + PRIOR_SIZE * PRIOR) / (int(kept.sum()) + PRIOR_SIZE)
    return GradeModel(common, own, precision, own_covariance, shift)


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


def pool_pairs(sample: Sample) -> PoolPairs:
    """Return the pairs of the pool of a sample."""
    names, query = sample.table.queries.names, sample.query
    number = np.empty(len(names), dtype=np.int64)
    number[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    rows = np.flatnonzero(sample.pooled_pairs)
    row, rank = sample.brought
    run = np.zeros(len(row), dtype=np.int64) if sample.run is None else sample.run
    ranks = np.zeros((len(query), int(run.max(initial=-1)) + 1), dtype=np.int64)
    ranks[row, run] = rank
    best = np.full(len(query), int(rank.max(initial=0)) + 1)
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
        sample.probability[rows],
        sample.judged[rows],
        sample.reached(Target("linear"))[rows],
        votes[order],
        best[rows],
        ranks[rows],
        sample.cell[rows],
        sample.cells,
    )


def vote_ranks(query: Integers, support: Floats) -> Floats:
    """Return ranks by descending support within the query, from 1; ties share their mean rank.

    >>> vote_ranks(np.array([0, 0, 0, 1]), np.array([0.1, 0.3, 0.1, 0.2])).tolist()
    [2.5, 1.0, 2.5, 1.0]
    """
    support = np.round(support, ROUNDED)  # sums in another order are ties too
    return counts_above(query, support, np.ones(len(query), dtype=np.bool_)) + 0.5


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
        return features_of(self.pairs, self.kind.cutoff)

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


def list_values(
    lists: IdealLists, query: Integers, pair: Integers, weight: Floats, elsewhere: Floats
) -> tuple[Floats, Floats]:
    """Return nDCG of a run by query, and replicates of its mean, none if the values are exact."""
    found = lists.completed
    queries = len(found.inverse)
    gains = lists.levels.gains
    gained = elsewhere[:, None] + group_sums(weight[:, None] * gains[found.level[pair]], query, queries)
    completed = gained * found.inverse
    values, replicates = completed.mean(axis=1), completed.mean(axis=0)
    values[~(found.inverse > 0).any(axis=1)] = np.nan
    if lists.complete:
        return values, np.zeros(0)
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
    return values, centre + WIDER * (replicates - centre)


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
