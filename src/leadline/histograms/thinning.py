"""Estimates of one run from a share of its relevant documents and n of its others, for many shares and n.

The same as `histogram` and `sampled` on such a part; lists are joined once and samples are nested.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from leadline.arrays import Flags, Floats, Integers
from leadline.histograms.recipe import Recipe
from leadline.histograms.resampling import slopes
from leadline.histograms.values import (
    Rows,
    Values,
    counts_of,
    refuse_infinite,
    row_keys,
    rows_of,
)
from leadline.judged import Judged
from leadline.qrels import Qrels
from leadline.sampling.hashed import keys_of, places_of


class Part(NamedTuple):
    """What a part of the scores of one run comes to, by query.

    `scores` and `ranks` are histograms (queries x 2 x bins), `robust` slopes of queries with half counts, NaN
    where there is none; `plain` is AP of the part as it stands, `weighted` with each other counted N/n times.
    """

    scores: Floats
    ranks: Floats
    robust: Floats
    plain: Floats
    weighted: Floats


class Thinned:
    """The lists of one run, of which parts are taken.

    Where the run is a ranking (`ranked`), the others of a query are those of its list, ranks are those of
    the list, and a relevant document that it lacks is at its bottom. Otherwise the run holds scored pairs of
    a collection of `population` documents: ranks are those within the part, and every relevant document has
    a score.
    """

    def __init__(self, judged: Judged, recipe: Recipe, population: int | None = None) -> None:
        self.judged, self.recipe = judged, recipe
        rows = rows_of(judged, recipe)
        by_query = np.argsort(rows.query, kind="stable")  # a file may have them in any order
        self.rows = Rows._make(column[by_query] for column in rows)
        assert judged.lists is not None
        self.score: Floats = judged.lists.scores[self.rows.place]
        refuse_infinite(self.score, self.rows, judged)
        self.judgment = judged.lists.rows[self.rows.place]
        self.size = len(judged.present)
        self.ranked = population is None
        other = ~self.rows.relevant
        if population is None:
            self.others = np.bincount(self.rows.query[other], minlength=self.size)
        else:
            self.others = population - judged.qrels.relevant(recipe.rel)
        self.last = np.bincount(self.rows.query, minlength=self.size)
        self.lowest = np.full(self.size, np.inf)
        np.minimum.at(self.lowest, self.rows.query, self.score)

    def turns(self, seed: int) -> Integers:
        """Give for every other row which place it has in the sample of its query, from 0; -1 if relevant."""
        other = ~self.rows.relevant
        found = np.full(len(other), -1, dtype=np.int64)
        keys = row_keys(self.judged, self.rows, other, seed)
        found[other] = places_of(keys, self.rows.query[other])
        return found

    def part(self, kept: Flags, turns: Integers, sample: int) -> Part:
        """Take the `kept` relevant documents (rows of the qrels) and the first `sample` others by query."""
        relevant = self.rows.relevant & kept[self.judgment]
        used = np.flatnonzero(relevant | ((turns >= 0) & (turns < sample)))
        query, relevant = self.rows.query[used].astype(np.int64), relevant[used]
        wanted = np.bincount(self.judged.qrels.query[kept], minlength=self.size)
        rank = self.rows.rank[used] if self.ranked else _within(query) + 1
        scores = self._counts(query, relevant, wanted, self.score[used], self.lowest)
        falling, last = -rank.astype(np.float64), -self.last.astype(np.float64)
        ranks = self._counts(query, relevant, wanted, falling, last)
        robust = slopes(ranks, self.recipe.robust)
        plain, weighted = self._ap(query, relevant, self.score[used], wanted)
        return Part(scores, ranks, robust, plain, weighted)

    def _counts(
        self, query: Integers, relevant: Flags, wanted: Integers, value: Floats, lowest: Floats
    ) -> Floats:
        """Count the part, relevant documents that the list lacks at its lowest score."""
        found = np.bincount(query[relevant], minlength=self.size)
        lacking = np.where(self.ranked & (self.last > 0), wanted - found, 0)
        codes = np.repeat(np.arange(self.size), lacking)
        values = Values(
            np.concatenate([query, codes]), np.concatenate([relevant, np.ones(len(codes), np.bool_)]),
            np.concatenate([value, lowest[codes]]), found,
        )  # fmt: skip
        return counts_of(values, self.recipe.norm, self.recipe.bins)

    def _ap(
        self, query: Integers, relevant: Flags, score: Floats, wanted: Integers
    ) -> tuple[Floats, Floats]:
        """Give AP of every query, as it stands and with each sampled other counted N/n times."""
        others = np.concatenate([[0], np.cumsum(~relevant)])  # above each place, and at the end
        begin = np.searchsorted(query, query)
        new = np.ones(len(query), dtype=np.bool_)
        new[1:] = (query[1:] != query[:-1]) | (score[1:] != score[:-1])
        starts = np.flatnonzero(new)
        tie = np.cumsum(new) - 1
        ends = np.append(starts[1:], len(query))
        above = ((others[starts[tie]] + others[ends[tie]]) / 2 - others[begin])[relevant]
        nth = (np.arange(1, len(query) + 1) - begin - (others[1:] - others[begin]))[relevant]
        sampled = np.bincount(query[~relevant], minlength=self.size)
        weight = self.others / np.maximum(sampled, 1)
        found = [
            np.bincount(query[relevant], nth / (nth + times * above), self.size) / np.maximum(wanted, 1)
            for times in (1.0, weight[query[relevant]])
        ]  # fmt: skip
        return found[0], found[1]


def shares(qrels: Qrels, rel: float, share: float, seed: int) -> Flags:
    """Say which rows of the qrels are kept: by query a share of the relevant ones, rounded up, by hash.

    >>> judged = Qrels.of((b"q", b"d%d" % place, float(place < 5)) for place in range(9))
    >>> [int(shares(judged, 1.0, share, 0).sum()) for share in (0.25, 0.5, 1.0)]
    [2, 3, 5]
    """
    found = np.zeros(len(qrels), dtype=np.bool_)
    for code, name in enumerate(qrels.queries.names):
        low, high = int(qrels.begin[code]), int(qrels.end[code])
        rows = low + np.flatnonzero(qrels.grades[low:high] >= rel)
        order = np.argsort(keys_of(name, qrels.documents.take(rows), seed), kind="stable")
        found[rows[order[: ceil(share * len(rows))]]] = True
    return found


def _within(query: Integers) -> Integers:
    """Give the place of each row in its query, from 0."""
    found: Integers = np.arange(len(query)) - np.searchsorted(query, query)
    return found
