"""The two strata of sampled evaluation: all documents of positive grade, and a sample of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Hashes, Integers
from leadline.data.hashing import smallest
from leadline.data.judged_run import JudgedRun, Ties
from leadline.data.qrels import Qrels
from leadline.errors import InputError, UsageError
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.estimation.score_histograms.score_sets import Certain, Rows, drawn_beside, row_keys, rows_of

POSITIVE = float(np.nextafter(0.0, 1.0))
Population = int | Mapping[str, int] | None


class Query(NamedTuple):
    """One query: rows in the qrels of its documents of positive grade, best first; what lies around them.

    `group[i]` numbers the distinct scores from the best; `cells` count the drawn others above the first
    score, equal to it, between it and the next, and so on: 2 x scores + 1. `size` is N, the number of others
    from which they were drawn. `certain[i]` counts the others taken for certain above a document, half of
    those tied with it; there are `fixed` of them, `unscored` of which have no score. `sample` identifies the
    scored others, 0 where that was not asked for.
    """

    row: Codes
    group: Integers
    cells: Floats
    size: int
    certain: Floats
    fixed: int = 0
    unscored: int = 0
    sample: int = 0

    @property
    def sampled(self) -> int:
        """Return n, the number of drawn others that have a score."""
        return int(self.cells.sum())

    @property
    def exact(self) -> bool:
        """Return whether the ranks are known: all others have a score."""
        return self.sampled == self.size

    @property
    def start(self) -> Floats:
        """Return the rank of each document if no drawn other stood above it."""
        found: Floats = np.arange(1, len(self.row) + 1) + self.certain
        return found

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
        """Return estimated ranks: `start` + N/n drawn others above."""
        weight = self.size / self.sampled if self.sampled else 0.0
        found: Floats = self.start + weight * above
        return found


def strata(
    judged: JudgedRun,
    population: Population,
    sample: int | None,
    seed: int,
    whole_from: float = POSITIVE,
    certain: Certain | None = None,
    *,
    identify: bool = False,
) -> dict[int, Query]:
    """Return the strata of every query that has a document of positive grade and scores.

    Parameters
    ----------
    judged : Judged
        One run joined with the judgments, its lists kept.
    population : int, mapping or None
        Documents in the collection, or others by query; None: those that have scores.
    sample : int or None
        Others to keep per query, the certain ones included; None: all that have scores.
    seed : int
        Seed of the sample.
    whole_from : float
        Smallest grade whose documents are all kept and never sampled.
    certain : Certain or None
        Others that are part of the sample for certain.
    identify : bool
        Whether to give an identifier of each query's scored others.

    """
    recipe = HistogramOptions(rel=whole_from, sample=sample, seed=seed)
    rows = rows_of(judged, recipe)
    assert judged.lists is not None
    score = judged.lists.scores[rows.place]
    fixed = _fixed(judged, rows, certain)
    drawn = _sampled(judged, rows, ~rows.relevant & ~fixed, drawn_beside(certain, sample), seed)
    size = len(judged.present)
    whole = np.bincount(rows.query[~rows.relevant & ~fixed], minlength=size)
    known = [0] * size if certain is None else [len(one) for one in certain.documents]
    sizes = sizes_of(judged.qrels, population, whole, np.array(known))
    samples = _identified(judged, rows, drawn | fixed) if identify else np.zeros(size, np.uint64)
    starts = np.flatnonzero(np.diff(rows.query, prepend=-1))
    found = {}
    for low, high in zip(starts.tolist(), np.append(starts[1:], len(score)).tolist(), strict=False):
        code, span = int(rows.query[low]), slice(low, high)
        relevant = score[span][rows.relevant[span]]
        cells, group = cells_of(relevant, score[span][drawn[span]])
        row = judged.lists.rows[rows.place[span][rows.relevant[span]]]
        scored = score[span][fixed[span]]
        one = Query(
            row,
            group,
            cells,
            int(sizes[code]),
            tied_above(relevant, scored),
            known[code],
            known[code] - len(scored),
            int(samples[code]),
        )
        if one.sampled > one.size:
            beside = f" beside {one.fixed} certain ones" if one.fixed else ""
            raise InputError(
                f"query '{judged.qrels.queries[code]}' has {one.sampled} scored documents that are not "
                f"relevant in a population of {one.size}{beside}",
                expected="no more than there are",
            )
        found[code] = one
    return found


def _fixed(judged: JudgedRun, rows: Rows, certain: Certain | None) -> Flags:
    """Return which rows are others taken for certain."""
    found = np.zeros(len(rows.query), dtype=np.bool_)
    if certain is not None:
        assert judged.lists is not None
        assert judged.lists.ids is not None
        places = np.flatnonzero(~rows.relevant)
        names = judged.lists.ids.take(rows.place[places])
        pairs = zip(rows.query[places].tolist(), names, strict=True)
        found[places] = [name in certain.documents[code] for code, name in pairs]
    return found


def _sampled(judged: JudgedRun, rows: Rows, other: Flags, sample: int | None, seed: int) -> Flags:
    if sample is not None:
        places = np.flatnonzero(other)
        kept = smallest(row_keys(judged, rows, other, seed), rows.query[places], sample)
        other[places[~kept]] = False
    return other


def _identified(judged: JudgedRun, rows: Rows, chosen: Flags) -> Hashes:
    """Return a number by query that depends on which documents were chosen, and on nothing else."""
    assert judged.lists is not None
    assert judged.lists.ids is not None
    places = np.flatnonzero(chosen)
    names = judged.lists.ids.take(rows.place[places])
    keys = np.array([hash(name) for name in names], dtype=np.int64).view(np.uint64)
    found = np.zeros(len(judged.present), dtype=np.uint64)
    np.add.at(found, rows.query[places], keys | np.uint64(1))
    return found


def tied_above(relevant: Floats, other: Floats) -> Floats:
    """Count the others above each relevant document, half of those tied with it.

    >>> tied_above(np.array([3.0, 1.0]), np.array([5.0, 3.0, 2.0])).tolist()
    [1.5, 3.0]
    """
    ordered = np.sort(other)
    first, last = (np.searchsorted(ordered, relevant, side=side) for side in ("left", "right"))
    found: Floats = len(ordered) - (first + last) / 2
    return found


def cells_of(relevant: Floats, other: Floats) -> tuple[Floats, Integers]:
    """Count the others around the distinct scores of relevant documents.

    >>> cells_of(np.array([3.0, 3.0, 1.0]), np.array([5.0, 3.0, 2.0, 0.0]))
    (array([1., 1., 1., 0., 1.]), array([0, 0, 1]))
    """
    levels, group = np.unique(-relevant, return_inverse=True)
    low = np.searchsorted(levels, -other, side="left")
    equal = low < np.searchsorted(levels, -other, side="right")
    cells = np.bincount(2 * low + equal, minlength=2 * len(levels) + 1).astype(np.float64)
    return cells, group.astype(np.int64)


def sizes_of(qrels: Qrels, population: Population, scored: Integers, certain: Integers) -> Integers:
    """Return N of every query: the others without the certain ones; without a population, the scored ones."""
    if population is None:
        return scored
    if isinstance(population, Mapping):
        lacking = [query for query in qrels.queries if query not in population]
        if lacking:
            raise UsageError(f"no population for query '{lacking[0]}'; expected one for every query")
        sizes = np.array([population[query] for query in qrels.queries], dtype=np.int64)
    else:
        sizes = population - qrels.relevant(POSITIVE)
    if (sizes < 0).any():
        query = qrels.queries[int(np.argmin(sizes))]
        raise UsageError(
            f"population={population}, fewer than the relevant documents of query '{query}'; expected the "
            "number of documents in the collection"
        )
    sizes = sizes - certain
    if (sizes < 0).any():
        code = int(np.argmin(sizes))
        raise UsageError(
            f"a population of {int(sizes[code] + certain[code])} documents that are not relevant for query "
            f"'{qrels.queries[code]}', of which {int(certain[code])} are certain; expected no fewer"
        )
    return sizes


def estimated(judged: JudgedRun, queries: Mapping[int, Query], ranks: Mapping[int, Floats]) -> JudgedRun:
    """Make the join that measures read, with estimated ranks: they need not be whole."""
    size = len(judged.present)
    found = np.zeros(size, dtype=np.int64)
    length = np.zeros(size)
    for code, one in queries.items():
        found[code] = len(one.row)
        length[code] = len(one.row) + one.fixed + one.size
    order = sorted(queries)
    rank = np.concatenate([np.empty(0), *(ranks[code] for code in order)])
    row = np.concatenate([np.empty(0, dtype=np.int32), *(queries[code].row for code in order)])
    none = np.empty(0, dtype=np.int32)
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=length,  # type: ignore[arg-type]  # not whole here
        offsets=np.concatenate(([0], np.cumsum(found))).astype(np.int64),
        rank=rank,
        row=row,
        tie_first=rank,
        tie_last=rank,
        unjudged_ties=Ties(none, none, none),
    )
