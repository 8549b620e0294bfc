"""Subsamples of the judgments and non-relevant documents of one run, joined once."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers, key_ranks, sampling_keys
from leadline.data.judged_run import JudgedRun
from leadline.estimation.histogram_result import HistogramOptions, slopes
from leadline.estimation.score_sets import Rows, Values, counts_of, refuse_infinite, row_keys, rows_of
from leadline.io.objects import Qrels


class SubsampledRun(NamedTuple):
    """Of a subsample of one run by query: histograms of scores and ranks, slopes with half counts, AP.

    `weighted` AP counts each sampled non-relevant document N/n times.
    """

    scores: Floats
    ranks: Floats
    robust: Floats
    plain: Floats
    weighted: Floats


class RunSubsampler:
    """Subsampling of the lists of one run.

    Results equal those of `histogram` and `sampled` on each subsample, but lists are joined once and samples
    are nested. Without `population` the run is a ranking: non-relevant documents and ranks are those of its
    lists, and unretrieved relevant documents are at the bottom. Otherwise the run has scored pairs of a
    collection of `population` documents: ranks are those within the subsample, and every relevant document
    has a score.
    """

    def __init__(self, judged: JudgedRun, recipe: HistogramOptions, population: int | None = None) -> None:
        self.judged, self.recipe = judged, recipe
        rows = rows_of(judged, recipe.rel, recipe.depth)
        by_query = np.argsort(rows.query, kind="stable")  # runs may list queries in any order
        self.rows = Rows._make(column[by_query] for column in rows)
        assert judged.lists is not None
        self.score: Floats = judged.lists.scores[self.rows.position]
        refuse_infinite(self.score, self.rows, judged)
        self.judgment = judged.lists.rows[self.rows.position]
        self.size = len(judged.present)
        self.ranked = population is None
        nonrelevant = ~self.rows.relevant
        if population is None:
            self.others = np.bincount(self.rows.query[nonrelevant], minlength=self.size)
        else:
            self.others = population - judged.qrels.relevant(recipe.rel)
        self.last = np.bincount(self.rows.query, minlength=self.size)
        self.lowest = np.full(self.size, np.inf)
        np.minimum.at(self.lowest, self.rows.query, self.score)

    def sample_order(self, seed: int) -> Integers:
        """Return the position of each non-relevant row in the sample of its query, from 0; -1 if relevant."""
        nonrelevant = ~self.rows.relevant
        positions = np.full(len(nonrelevant), -1, dtype=np.int64)
        keys = row_keys(self.judged, self.rows, nonrelevant, seed)
        positions[nonrelevant] = key_ranks(keys, self.rows.query[nonrelevant])
        return positions

    def part(self, judged_part: Flags, turns: Integers, sample: int) -> SubsampledRun:
        """Return the subsample of judged relevant documents and the first `sample` others of each query."""
        relevant = self.rows.relevant & judged_part[self.judgment]
        used = np.flatnonzero(relevant | ((turns >= 0) & (turns < sample)))
        query, relevant = self.rows.query[used].astype(np.int64), relevant[used]
        relevant_counts = np.bincount(self.judged.qrels.query[judged_part], minlength=self.size)
        rank = self.rows.rank[used] if self.ranked else _within(query) + 1
        scores = self._counts(query, relevant, relevant_counts, self.score[used], self.lowest)
        falling, last = -rank.astype(np.float64), -self.last.astype(np.float64)
        ranks = self._counts(query, relevant, relevant_counts, falling, last)
        robust = slopes(ranks, self.recipe.robust)
        plain, weighted = self._ap(query, relevant, self.score[used], relevant_counts)
        return SubsampledRun(scores, ranks, robust, plain, weighted)

    def _counts(
        self, query: Integers, relevant: Flags, relevant_counts: Integers, value: Floats, lowest: Floats
    ) -> Floats:
        """Return histograms of the subsample, with unretrieved relevant documents at the lowest score."""
        retrieved = np.bincount(query[relevant], minlength=self.size)
        unretrieved = np.where(self.ranked & (self.last > 0), relevant_counts - retrieved, 0)
        codes = np.repeat(np.arange(self.size), unretrieved)
        values = Values(
            np.concatenate([query, codes]),
            np.concatenate([relevant, np.ones(len(codes), np.bool_)]),
            np.concatenate([value, lowest[codes]]),
            retrieved,
        )
        return counts_of(values, self.recipe.norm, self.recipe.bins)

    def _ap(
        self, query: Integers, relevant: Flags, score: Floats, relevant_counts: Integers
    ) -> tuple[Floats, Floats]:
        """Return AP of each query, without and with weight N/n for sampled documents."""
        others = np.concatenate([[0], np.cumsum(~relevant)])  # above each place, and at the end
        begin = np.searchsorted(query, query)
        new = np.ones(len(query), dtype=np.bool_)
        new[1:] = (query[1:] != query[:-1]) | (score[1:] != score[:-1])
        starts = np.flatnonzero(new)
        tie = np.cumsum(new) - 1
        tie_ends = np.append(starts[1:], len(query))
        above = ((others[starts[tie]] + others[tie_ends[tie]]) / 2 - others[begin])[relevant]
        nth = (np.arange(1, len(query) + 1) - begin - (others[1:] - others[begin]))[relevant]
        sampled = np.bincount(query[~relevant], minlength=self.size)
        weight = self.others / np.maximum(sampled, 1)
        values = [
            np.bincount(query[relevant], nth / (nth + times * above), self.size)
            / np.maximum(relevant_counts, 1)
            for times in (1.0, weight[query[relevant]])
        ]
        return values[0], values[1]


def shares(qrels: Qrels, rel: float, share: float, seed: int) -> Flags:
    """Return flags of a proportion of the relevant documents of each query, rounded up, selected by hash.

    >>> judged = Qrels.of((b"q", b"d%d" % place, float(place < 5)) for place in range(9))
    >>> [int(shares(judged, 1.0, share, 0).sum()) for share in (0.25, 0.5, 1.0)]
    [2, 3, 5]
    """
    flags = np.zeros(len(qrels.grades), dtype=np.bool_)
    for code, name in enumerate(qrels.queries.names):
        low, high = int(qrels.begin[code]), int(qrels.end[code])
        rows = low + np.flatnonzero(qrels.grades[low:high] >= rel)
        order = np.argsort(sampling_keys(name, qrels.documents.take(rows), seed), kind="stable")
        flags[rows[order[: ceil(share * len(rows))]]] = True
    return flags


def _within(query: Integers) -> Integers:
    """Return the position of each row in its query, from 0."""
    positions: Integers = np.arange(len(query)) - np.searchsorted(query, query)
    return positions
