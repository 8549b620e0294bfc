"""The two strata of sampled evaluation: all documents of positive grade, and a sample of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from leadline.arrays import Codes, Flags, Floats, Integers
from leadline.errors import InputError, UsageError
from leadline.histograms.recipe import Recipe
from leadline.histograms.values import Rows, row_keys, rows_of
from leadline.judged import Judged, Ties
from leadline.qrels import Qrels
from leadline.sampling.hashed import smallest

POSITIVE = float(np.nextafter(0.0, 1.0))
Population = int | Mapping[str, int] | None


class Query(NamedTuple):
    """One query: rows in the qrels of its documents of positive grade, best first; what lies around them.

    `group[i]` numbers the distinct scores from the best; `cells` count the sampled others above the first
    score, equal to it, between it and the next, and so on: 2 x scores + 1. `size` is N, how many others
    there are.
    """

    row: Codes
    group: Integers
    cells: Floats
    size: int

    @property
    def sampled(self) -> int:
        """Give n, how many others have a score."""
        return int(self.cells.sum())

    @property
    def constant(self) -> bool:
        """Say whether all scores, of some of either kind, are equal."""
        return len(self.cells) == 3 and 0 < self.cells[1] == self.sampled

    def above(self, cells: Floats) -> Floats:
        """Give how many sampled others stand above each document, half of those tied (... x documents)."""
        running = np.cumsum(cells, axis=-1)[..., 0:-1:2]
        found: Floats = (running + cells[..., 1::2] / 2)[..., self.group]
        return found

    def ranks(self, above: Floats) -> Floats:
        """Give estimated ranks: 1 + documents of positive grade above + N/n others above."""
        weight = self.size / self.sampled if self.sampled else 0.0
        found: Floats = np.arange(1, len(self.row) + 1) + weight * above
        return found


def strata(
    judged: Judged,
    population: Population,
    sample: int | None,
    seed: int,
    whole_from: float = POSITIVE,
) -> dict[int, Query]:
    """Give the strata of every query that has a document of positive grade and scores.

    `whole_from` is the least grade whose documents are all kept and never sampled.
    """
    recipe = Recipe(rel=whole_from, sample=sample, seed=seed)
    rows = rows_of(judged, recipe)
    assert judged.lists is not None
    score = judged.lists.scores[rows.place]
    other = _sampled(judged, rows, sample, seed)
    whole = np.bincount(rows.query[~rows.relevant], minlength=len(judged.present))
    sizes = sizes_of(judged.qrels, population, whole)
    starts = np.flatnonzero(np.diff(rows.query, prepend=-1))
    found = {}
    for low, high in zip(starts.tolist(), np.append(starts[1:], len(score)).tolist(), strict=False):
        code, span = int(rows.query[low]), slice(low, high)
        cells, group = _cells(score[span][rows.relevant[span]], score[span][other[span]])
        row = judged.lists.rows[rows.place[span][rows.relevant[span]]]
        one = Query(row, group, cells, int(sizes[code]))
        if one.sampled > one.size:
            raise InputError(
                f"query '{judged.qrels.queries[code]}' has {one.sampled} scored documents that are not "
                f"relevant in a population of {one.size}", expected="no more than there are",
            )  # fmt: skip
        found[code] = one
    return found


def _sampled(judged: Judged, rows: Rows, sample: int | None, seed: int) -> Flags:
    other = ~rows.relevant
    if sample is not None:
        places = np.flatnonzero(other)
        kept = smallest(row_keys(judged, rows, other, seed), rows.query[places], sample)
        other[places[~kept]] = False
    return other


def _cells(relevant: Floats, other: Floats) -> tuple[Floats, Integers]:
    """Count the others around the distinct scores of relevant documents.

    >>> _cells(np.array([3.0, 3.0, 1.0]), np.array([5.0, 3.0, 2.0, 0.0]))
    (array([1., 1., 1., 0., 1.]), array([0, 0, 1]))
    """
    levels, group = np.unique(-relevant, return_inverse=True)
    low = np.searchsorted(levels, -other, side="left")
    equal = low < np.searchsorted(levels, -other, side="right")
    cells = np.bincount(2 * low + equal, minlength=2 * len(levels) + 1).astype(np.float64)
    return cells, group.astype(np.int64)


def sizes_of(qrels: Qrels, population: Population, scored: Integers) -> Integers:
    """Give N of every query: as said for it, a collection less its relevant documents, or all scored."""
    if population is None:
        return scored
    if isinstance(population, Mapping):
        lacking = [query for query in qrels.queries if query not in population]
        if lacking:
            raise UsageError(
                f"no population for query '{lacking[0]}'; expected one for every query"
            )
        return np.array([population[query] for query in qrels.queries], dtype=np.int64)
    sizes: Integers = population - qrels.relevant(POSITIVE)
    if (sizes < 0).any():
        query = qrels.queries[int(np.argmin(sizes))]
        raise UsageError(
            f"population={population}, fewer than the relevant documents of query '{query}'; expected the "
            "number of documents in the collection"
        )
    return sizes


def estimated(judged: Judged, queries: Mapping[int, Query], ranks: Mapping[int, Floats]) -> Judged:
    """Make the join that measures read, with estimated ranks: they need not be whole."""
    size = len(judged.present)
    found = np.zeros(size, dtype=np.int64)
    length = np.zeros(size)
    for code, one in queries.items():
        found[code] = len(one.row)
        length[code] = len(one.row) + one.size
    order = sorted(queries)
    rank = np.concatenate([np.empty(0), *(ranks[code] for code in order)])
    row = np.concatenate([np.empty(0, dtype=np.int32), *(queries[code].row for code in order)])
    none = np.empty(0, dtype=np.int32)
    return Judged(
        judged.qrels, present=judged.present, length=length,  # type: ignore[arg-type]  # not whole here
        offsets=np.concatenate(([0], np.cumsum(found))).astype(np.int64), rank=rank,
        row=row, tie_first=rank, tie_last=rank, unjudged_ties=Ties(none, none, none),
    )  # fmt: skip
