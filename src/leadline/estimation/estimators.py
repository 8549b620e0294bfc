"""Estimators of measures from a sample of judgments, with their variance components."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers, group_sums
from leadline.data.judged_run import JudgedRun
from leadline.estimation.designs import (
    AveragePrecision,
    Cascade,
    Kind,
    Linear,
    Ratio,
    Target,
    Weights,
    attention,
    cascade,
)
from leadline.estimation.guesses import Guess, fit, fit_outside
from leadline.estimation.ideal_lists import IdealLists, PoolPairs, list_values, pool_pairs
from leadline.estimation.sampling_errors import NONE, ROUNDING, RunEstimate, second_errors
from leadline.io.objects import Qrels

REPLICATES = 200  # replicates of the sampling weights, for ratio measures
SOURCES = ("judged", "drawn", "guessed", "unknown")


@dataclass(frozen=True)
class Sample:
    """A probability sample of judged query-document pairs; one row per pair, as in `table`."""

    table: Qrels  # the pairs and their grades; grades of unjudged pairs are 0
    probability: Floats  # inclusion probability in [0, 1]; 0 for pairs outside the sampling frame
    judged: Flags  # pairs that were drawn (or are certain) and judged
    cell: Integers  # cell (post-stratum) of each pair, in which grades are predicted
    # number of cells, and the cell of documents that are not in `table`
    cells: int
    outside: int
    apart: int | None  # cell of pairs without a machine label, which is never merged with others
    guessing: bool  # whether grades of unjudged pairs are predicted; otherwise they count as 0
    fold: Integers  # fold of each query
    # rows, and their ranks in the pooled runs, from which the weights of the fit are computed
    brought: tuple[Integers, Integers]
    pooled: int  # number of pooled runs
    seed: int = 0  # seed of the replicates
    # pooled run of each rank in `brought`, numbered by name; a single run if omitted
    run: Integers | None = None
    in_pool: Flags | None = None  # pairs of the pool, whether or not they could be drawn; all if omitted
    frameless: bool = False  # whether the pairs that could have been drawn, and were not, are unknown
    # rows of the pairs to which several judges gave unlike grades, a row for each judge, and the grades
    votes: tuple[Integers, Floats] = (np.zeros(0, np.int64), np.zeros(0))
    # rows of the pairs that a second judge judged again, their probability of it, and the second grades
    twice: tuple[Integers, Floats, Floats] = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    def reached(self, target: Target) -> Floats:
        """Return the target value of each pair, expanded to the second judge where there is one."""
        values = self.first_reached(target)
        rows, chance, _ = self.twice
        values[rows] += self.changes(target) / chance
        return values

    def changes(self, target: Target) -> Floats:
        """Return what the second judge changes in the target value of the pairs that were judged again."""
        rows, _, grades = self.twice
        return np.asarray(target.of(grades) - self.first_reached(target)[rows])

    def first_reached(self, target: Target) -> Floats:
        """Return the target value of each pair; the mean over its judges where their grades are unlike."""
        values = target.of(self.table.grades)
        rows, grades = self.votes
        if len(rows):
            shared, place, count = np.unique(rows, return_inverse=True, return_counts=True)
            values[shared] = np.bincount(place, target.of(grades)) / count
        return values

    @cached_property
    def exact(self) -> bool:
        """Whether every pair of the frame was judged with certainty and no grade is predicted."""
        certain = bool((self.judged & (self.probability == 1))[self.framed].all())
        return not self.guessing and certain and not len(self.twice[0])

    @cached_property
    def pool_pairs(self) -> PoolPairs:
        """Pairs of the pool, for the ideal lists of nDCG."""
        return pool_pairs(self)

    @cached_property
    def pooled_pairs(self) -> Flags:
        """Whether each pair is one of the pool."""
        return np.ones(len(self.probability), dtype=np.bool_) if self.in_pool is None else self.in_pool

    @cached_property
    def complete(self) -> bool:
        """Whether every pair of the pool was judged with certainty."""
        return bool((self.judged & (self.probability == 1))[self.pooled_pairs].all())

    @cached_property
    def framed(self) -> Flags:
        """Whether each pair is in the sampling frame."""
        return self.probability > 0

    @cached_property
    def query(self) -> Integers:
        """Query index of each pair."""
        return self.table.query.astype(np.int64)

    @cached_property
    def drawn(self) -> Integers:
        """Rows of the judged pairs with inclusion probability below 1."""
        return np.flatnonzero(self.judged & (self.probability < 1))

    @cached_property
    def draw_index(self) -> Integers:
        """Index of each row in `drawn`, -1 for all others."""
        index = np.full(len(self.probability), -1, dtype=np.int64)
        index[self.drawn] = np.arange(len(self.drawn))
        return index

    @cached_property
    def source(self) -> Integers:
        """Index in `SOURCES` of the source of each row."""
        certain = np.where(self.judged & (self.probability == 1), 0, 1)
        return np.where(self.framed, certain, 2 if self.guessing else 3)

    def guess(self, target: Target, weights: Weights | None, cutoff: int | None) -> Guess:
        """Fit the predicted values of a target; `weights` are None for counts of documents."""
        if not self.guessing:
            nothing = np.zeros((int(self.fold.max(initial=0)) + 1, self.cells))
            return Guess(nothing, nothing)
        rows = np.flatnonzero(self.judged)
        p = self.probability[rows]
        weight = (1.0 - p) / p  # for counts, predictions represent the pairs that were not drawn
        low = np.zeros(len(rows), dtype=np.bool_)
        if weights is not None:
            importance = self._importance(weights, cutoff)[rows]
            weight = (1.0 - p) / p**2 * importance
            low = importance == 0
        reached, cell, fold = self.reached(target)[rows], self.cell[rows], self.fold[self.query[rows]]
        table = fit(
            reached,
            cell,
            fold,
            weight,
            1.0 / p,
            cells=self.cells,
            folds=int(self.fold.max(initial=0)) + 1,
            apart=self.apart,
        )
        if self.frameless:  # any other document may have been in the frame
            return Guess(table, table)
        return Guess(table, fit_outside(table, reached[low], cell[low], fold[low], 1.0 / p[low], self.apart))

    def _importance(self, weights: Weights, cutoff: int | None) -> Floats:
        """Return the mean over pooled runs of the squared weight of each pair."""
        rows, ranks = self.brought
        if not self.pooled:
            return np.ones(len(self.probability))
        weight = weights(ranks.astype(np.float64))
        if cutoff is not None:
            weight = np.where(ranks <= cutoff, weight, 0.0)
        return np.bincount(rows, weight**2, minlength=len(self.probability)) / self.pooled

    @cached_property
    def replicated(self) -> Floats:
        """Weights of the drawn pairs: 1 / p, then replicates with the same mean.

        A replicate is 1/p + (x - 1) sqrt(1 - p) / p with x standard exponential: positive, and with the
        estimated variance (1 - p) / p^2 of the weight of a drawn pair.
        """
        p = self.probability[self.drawn][:, None]
        rng = np.random.default_rng(self.seed)
        noise = rng.exponential(size=(len(self.drawn), REPLICATES)) - 1.0
        return np.concatenate([1.0 / p, 1.0 / p + noise * np.sqrt(1.0 - p) / p], axis=1)


def _not_listed(total: Floats, query: Integers, weight: Floats, length: Integers) -> Floats:
    """Return the weight of the ranks of each list whose documents are not in the table."""
    listed = np.bincount(query, weight, minlength=len(length))
    complete = np.bincount(query, minlength=len(length)) == length
    return np.where(complete, 0.0, np.maximum(total - listed, 0.0))


@dataclass(frozen=True)
class Estimator:
    """Estimator of one measure from one sample of judgments."""

    sample: Sample
    kind: Kind

    @cached_property
    def _guess(self) -> Guess:
        return self.sample.guess(self.kind.target, self.kind.weights, self.kind.cutoff)

    @cached_property
    def guessed(self) -> Floats:
        """Predicted target of each pair."""
        sample = self.sample
        return self._guess.of(sample.fold[sample.query], sample.cell, sample.framed)

    @cached_property
    def outside(self) -> Floats:
        """Predicted target of documents that are not in the table, by query."""
        return np.asarray(self._guess.outside[self.sample.fold, self.sample.outside])

    @cached_property
    def _reached(self) -> Floats:
        """Target of each pair."""
        return self.sample.reached(self.kind.target)

    @cached_property
    def _residual(self) -> Floats:
        """Target minus prediction of each judged pair, 0 for all others."""
        sample = self.sample
        return np.where(sample.judged, self._reached - self.guessed, 0.0)

    @cached_property
    def pseudo(self) -> Floats:
        """Pseudo-grade of each pair: m + (I / p) (y - m)."""
        sample = self.sample
        chance = np.where(sample.judged, sample.probability, 1.0)
        exact = sample.judged & (chance == 1)
        with np.errstate(over="ignore"):  # refused in `estimate`
            corrected = self.guessed + self._residual / chance
        return np.where(exact, self._reached, corrected)

    @cached_property
    def predicted_error(self) -> Floats:
        """Predicted standard error of each pair's weighted residual; 0 outside the sampling, NONE if unknown.

        A target in [0, 1] that is m on average varies by m (1 - m) at most. Its sum is scaled to that of the
        squared residuals of the judged pairs, both weighted by 1 / p.
        """
        sample = self.sample
        p = sample.probability
        sampled = (p > 0) & (p < 1)
        spread = np.clip(self.guessed, 0.0, 1.0) * (1.0 - np.clip(self.guessed, 0.0, 1.0))
        drawn = sample.drawn
        expected = float((spread[drawn] / p[drawn]).sum())
        if not expected > 0:
            return NONE
        scale = float((self._residual[drawn] ** 2 / p[drawn]).sum()) / expected
        chance = np.where(sampled, p, 1.0)
        return np.sqrt((1.0 - chance) / chance * spread * scale)

    @cached_property
    def top(self) -> float:
        """Largest target among the judged pairs; 1 for indicators."""
        if self.kind.target.kind == "indicator":
            return 1.0
        return float(self._reached[self.sample.judged].max(initial=0.0))

    def of(self, judged: JudgedRun) -> RunEstimate:
        """Estimate the measure for a run joined with the pairs of the sample."""
        if isinstance(self.kind, Linear):
            return self._linear(judged, self.kind)
        if isinstance(self.kind, Cascade):
            return self._cascade(judged, self.kind)
        if isinstance(self.kind, AveragePrecision):
            return self._average_precision(judged, self.kind)
        return self._ideal(judged) if self.kind.ideal else self._ratio(judged, self.kind)

    # Shared by all kinds of measures.

    def _above_cutoff(self, judged: JudgedRun) -> tuple[Integers, Integers, Integers, Integers]:
        """Return query, row and rank of the pairs above the cutoff, and the length of each list."""
        columns, length = [judged.query, judged.row, judged.rank], judged.length.astype(np.int64)
        if self.kind.cutoff is not None:
            kept = np.flatnonzero(judged.rank <= self.kind.cutoff)
            columns, length = [column[kept] for column in columns], np.minimum(length, self.kind.cutoff)
        query, row, rank = (column.astype(np.int64) for column in columns)
        return query, row, rank, length

    def _listed(self, judged: JudgedRun) -> tuple[Integers, Integers, Floats, Floats, Integers]:
        """Return query, row and weight of listed pairs, weight of all other documents, and list length."""
        query, row, rank, length = self._above_cutoff(judged)
        weight = self.kind.weights(rank.astype(np.float64))
        ranks = np.arange(1, int(length.max(initial=0)) + 1, dtype=np.float64)
        total = np.concatenate(([0.0], np.cumsum(self.kind.weights(ranks))))[length]
        return query, row, weight, _not_listed(total, query, weight, length), length

    def _shares(self, query: Integers, row: Integers, weight: Floats, rest: Floats) -> Floats:
        """Return the mean weight by source; queries without documents count as judged."""
        sample = self.sample
        queries = len(rest)
        weights = np.zeros((queries, len(SOURCES)))
        np.add.at(weights, (query, sample.source[row]), weight)
        weights[:, 2 if sample.guessing else 3] += rest
        total = weights.sum(axis=1)
        weights[total == 0, 0] = 1.0
        weights /= np.where(total == 0, 1.0, total)[:, None]
        return np.asarray(weights.mean(axis=0))

    def _doubt(
        self, query: Integers, row: Integers, weight: Floats, rest: Floats
    ) -> tuple[Floats, tuple[Integers, Floats, Floats]]:
        """Return the largest decrease and increase of the mean by pairs outside the frame, and of each."""
        sample = self.sample
        free = sample.probability[row] == 0
        lower = (weight * self.guessed[row])[free]
        upper = (weight * (self.top - self.guessed[row]))[free]
        queries = len(rest)
        low = np.bincount(query[free], lower, minlength=queries) + rest * self.outside
        high: Floats = np.bincount(query[free], upper, minlength=queries).astype(np.float64)
        high = high + rest * (self.top - self.outside)
        return np.array([low.mean(), high.mean()]), (row[free], lower / queries, upper / queries)

    def _open(
        self, rest: Integers, squares: Floats, free: tuple[Integers, Floats, Floats]
    ) -> tuple[float, float]:
        """Return the number of documents outside the frame, and their predicted variance in the mean."""
        beyond = squares * self.outside * (self.top - self.outside) / len(squares) ** 2
        return float(len(free[0]) + rest.sum()), float((free[1] * free[2]).sum() + beyond.sum())

    def _spread(self, row: Integers, coefficient: Floats) -> Floats:
        """Return the error terms of the mean, by drawn pair, from the coefficients of listed rows."""
        sample, rows = self.sample, self.sample.drawn
        of_pairs = np.zeros(len(sample.probability))
        of_pairs[row] = coefficient
        p = sample.probability[rows]
        errors = np.sqrt(1.0 - p) / p * self._residual[rows]  # standard errors of the weighted residuals
        again, chance, _ = sample.twice
        changes = of_pairs[again] * sample.changes(self.kind.target)
        halved = isinstance(self.kind, Cascade) and bool(len(self.predicted_error))
        second = second_errors(changes, sample.probability[again], chance, halved=halved)
        return np.concatenate([of_pairs[rows] * errors, second])

    def _depends(self, row: Integers, coefficient: Floats) -> bool:
        """Return whether a pair that was not sampled with certainty has a coefficient above rounding."""
        uncertain = (self.sample.source[row] == 1) | np.isin(row, self.sample.twice[0])
        return bool((np.abs(coefficient[uncertain]) > ROUNDING).any())

    # One estimator per kind of measure.

    def _linear(self, judged: JudgedRun, kind: Linear) -> RunEstimate:
        query, row, weight, rest, length = self._listed(judged)
        queries = len(length)
        scale = length.astype(np.float64) if kind.share else np.ones(queries)
        total = np.bincount(query, weight * self.pseudo[row], minlength=queries)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = (total + rest * self.outside) / scale
        inverse = np.where(scale > 0, 1.0 / np.maximum(scale, 1.0), 0.0) if kind.share else 1.0 / scale
        doubt, free = self._doubt(query, row, weight * inverse[query], rest * inverse)
        ranks = np.arange(1.0, int(length.max(initial=0)) + 1)
        total = np.concatenate(([0.0], np.cumsum(self.kind.weights(ranks) ** 2)))[length]
        squares = np.maximum(total - np.bincount(query, weight**2, minlength=queries), 0.0) * inverse**2
        coefficient = weight * inverse[query] / queries
        return RunEstimate(
            values,
            self._spread(row, coefficient),
            shares=self._shares(query, row, weight, rest),
            doubt=doubt,
            free=free,
            sampled=self._depends(row, coefficient),
            open=self._open(length - np.bincount(query, minlength=queries), squares, free),
        )

    def _dense(self, judged: JudgedRun) -> tuple[Floats, Integers, Integers, Integers, Integers]:
        """Return pseudo-grades (queries x ranks, 0 below the list), and query, row and rank of listed pairs.

        For average precision, documents outside the frame count as 0, as they do in the number of relevant
        documents.
        """
        query, row, rank, length = self._above_cutoff(judged)
        depth = int(length.max(initial=0))
        table = np.where(np.arange(depth) < length[:, None], self.outside[:, None], 0.0)
        pseudo = self.pseudo[row]
        if isinstance(self.kind, AveragePrecision) and len(self.sample.drawn):
            table[:] = 0.0
            pseudo = np.where(self.sample.probability[row] > 0, pseudo, 0.0)
        table[query, rank - 1] = pseudo
        return table, query, row, rank, length

    def _cascade(self, judged: JudgedRun, kind: Cascade) -> RunEstimate:
        table, query, row, rank, length = self._dense(judged)
        queries, depth = table.shape
        weight = kind.weights(np.arange(1.0, depth + 1))
        values, slope = cascade(table, weight)
        seen = attention(table, weight, length)
        own = seen[query, rank - 1]
        rest = _not_listed(seen.sum(axis=1), query, own, length)
        doubt, free = self._doubt(query, row, own, rest)
        squares = (seen**2).sum(axis=1) - np.bincount(query, own**2, minlength=queries)
        coefficient = slope[query, rank - 1] / queries
        return RunEstimate(
            values,
            self._spread(row, coefficient),
            shares=self._shares(query, row, own, rest),
            doubt=doubt,
            free=free,
            sampled=self._depends(row, coefficient),
            predicted=self._predicted(table, query, row, rank, weight),
            open=self._open(length - np.bincount(query, minlength=queries), np.maximum(squares, 0.0), free),
        )

    def _predicted(
        self, table: Floats, query: Integers, row: Integers, rank: Integers, weight: Floats
    ) -> tuple[Integers, Floats]:
        """Return rows and predicted error terms of a cascade, at the expected targets of its pairs."""
        error = self.predicted_error
        if not len(error):
            return np.zeros(0, np.int64), NONE
        expected = table.copy()
        expected[query, rank - 1] = np.where(self.sample.judged, self._reached, self.guessed)[row]
        _, slope = cascade(expected, weight)
        kept = error[row] > 0
        return row[kept], slope[query, rank - 1][kept] / len(table) * error[row[kept]]

    @cached_property
    def ideal_lists(self) -> IdealLists:
        """Completions of the pool, for the ideal lists of nDCG."""
        if not isinstance(self.kind, Ratio):
            raise TypeError
        return IdealLists(self.sample.pool_pairs, self.kind, self.sample.seed)

    def _ideal(self, judged: JudgedRun) -> RunEstimate:
        query, row, weight, rest, _ = self._listed(judged)
        lists = self.ideal_lists
        pairs = lists.pairs
        place, number = pairs.place[row], pairs.number
        inside = place >= 0
        elsewhere = rest * self.outside
        elsewhere += np.bincount(
            query[~inside], weight[~inside] * self.guessed[row[~inside]], minlength=len(rest)
        )
        order = np.flatnonzero(inside)
        order = order[np.argsort(number[query[order]], kind="stable")]
        by_number = np.empty(len(rest))
        by_number[number] = elsewhere
        values, replicates = list_values(lists, number[query[order]], place[order], weight[order], by_number)
        scale = lists.completed.inverse.mean(axis=1)[number]
        kept = ~inside
        doubt, free = self._doubt(query[kept], row[kept], weight[kept] * scale[query[kept]], rest * scale)
        return RunEstimate(
            values[number],
            replicates=replicates,
            shares=self._shares(query, row, weight, rest),
            doubt=doubt,
            free=free,
            sampled=not lists.complete,
        )

    def _ratio(self, judged: JudgedRun, kind: Ratio) -> RunEstimate:
        query, row, weight, rest, length = self._listed(judged)
        sample, queries = self.sample, len(length)
        size = length if kind.constant is None else np.full(queries, kind.constant)
        divisor = kind.slope * self._count(kind.target) + size.astype(np.float64)[:, None]
        base = np.bincount(query, weight * self.pseudo[row], minlength=queries) + rest * self.outside
        index = sample.draw_index[row]
        drawn = np.flatnonzero(index >= 0)
        drawn = drawn[np.argsort(query[drawn], kind="stable")]
        part = weight[drawn] * self._residual[row[drawn]]
        shift = sample.replicated[index[drawn]] - sample.replicated[index[drawn], :1]
        moves = group_sums(part[:, None] * shift, query[drawn], queries)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.where(divisor > 0, (base[:, None] + moves) / divisor, np.nan)
        values = 2.0 * ratios[:, 0] - ratios[:, 1:].mean(axis=1) if len(sample.drawn) else ratios[:, 0]
        return RunEstimate(values, shares=self._shares(query, row, weight, rest))

    def _count(self, target: Target) -> Floats:
        """Return the estimated number of documents of each query that reach a target, with replicates."""
        sample, queries = self.sample, len(self.sample.fold)
        guess = sample.guess(target, None, None).of(sample.fold[sample.query], sample.cell, sample.framed)
        reached = np.where(sample.judged, sample.reached(target), 0.0)
        certain = sample.judged & (sample.probability == 1)
        certain_count = np.bincount(sample.query[certain], reached[certain], minlength=queries)
        open_ = ~certain & (sample.framed if len(sample.drawn) else True)
        total = np.bincount(sample.query[open_], guess[open_], minlength=queries)
        rows = sample.drawn
        p, weight = sample.probability[rows][:, None], sample.replicated
        y, m = reached[rows][:, None], guess[rows][:, None]
        sums = [
            group_sums(part, sample.query[rows], queries)
            for part in (p * weight * y, p * weight * m, (1 - p) * weight * y, (1 - p) * weight * m)
        ]
        # The prior has the weight of one drawn pair. With less, the ratio is so noisy that the ideal gain,
        # which is concave in the counts, is underestimated; with more, all queries shrink to the prediction.
        spare = (1.0 - sample.probability[rows]) / sample.probability[rows] * guess[rows]
        prior = (float(spare.mean()) if len(rows) else 0.0) + 0.05
        unseen = np.maximum(total[:, None] - sums[1], 0.0)
        return np.asarray(certain_count[:, None] + sums[0] + unseen * (sums[2] + prior) / (sums[3] + prior))

    def _average_precision(self, judged: JudgedRun, kind: AveragePrecision) -> RunEstimate:
        table, query, row, rank, length = self._dense(judged)
        queries, depth = table.shape
        ranks = np.arange(1.0, depth + 1)
        above = np.cumsum(table, axis=1) - table
        total = (table / ranks * (1.0 + above)).sum(axis=1) if depth else np.zeros(queries)
        count = self._count(Target("indicator", kind.target.rel))[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(count > 0, total / count, np.nan)
        weight = 1.0 / rank
        every = (1.0 / ranks * (np.arange(depth) < length[:, None])).sum(axis=1)
        rest = _not_listed(every, query, weight, length)
        return RunEstimate(values, shares=self._shares(query, row, weight, rest))
