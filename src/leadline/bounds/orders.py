"""The two sorted orders of tied documents."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Codes, Integers
from leadline.judged import Judged


def sorted_ties(judged: Judged, *, best: bool) -> Judged:
    """Give the same lists with every group of equal scores sorted by grade, the best first or last.

    Documents without a judgment stand between grade 0 and negative grades. Where a list was cut inside a
    group, the documents that are left of it change places.
    """
    if not (judged.tie_last > judged.tie_first).any():
        return judged
    query, first = judged.query, judged.tie_first.astype(np.int64)
    last = last_places(judged)
    sign = -1.0 if best else 1.0
    order = np.lexsort((sign * judged.grade, first, query))
    start, stop = group_bounds(query, first)
    place = np.arange(len(order)) - start
    front = (judged.grade[order] >= 0) == best
    rank = np.where(front, first + place, last - (stop - start - 1 - place))
    return Judged(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=judged.offsets,
        rank=rank.astype(np.int32),
        row=judged.row[order],
        tie_first=judged.tie_first,
        tie_last=judged.tie_last,
        unjudged_ties=judged.unjudged_ties,
    )


def last_places(judged: Judged) -> Integers:
    """Give the last rank of every row's tie group that the list still has."""
    last: Integers = np.minimum(judged.tie_last, judged.length[judged.query]).astype(np.int64)
    return last


def group_bounds(query: Codes, first: Codes | Integers) -> tuple[Integers, Integers]:
    """Give, for rows in order of rank, the first row of each row's tie group and the row after the last."""
    new = np.ones(len(first), dtype=np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    return starts[group], np.append(starts[1:], len(first))[group]
