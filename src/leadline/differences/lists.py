"""What RIC sees of a run: its judged documents in order, cut where the definition cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.judged import Judged


class Cut(NamedTuple):
    """Where a list ends: rules 2, 3 and 8 of the definition.

    `cutoff` keeps the first k ranks (of judged documents only, with `condense`), then `truncate` ends the
    list after its last document of grade `rel` or more; what is cut off counts as not retrieved.
    """

    cutoff: int | None = None
    rel: float = 1.0
    truncate: bool = True
    condense: bool = False


class Kept(NamedTuple):
    """The judged documents that a run keeps: rows of the qrels in order of rank, by query."""

    offsets: Integers
    row: Codes


def kept(judged: Judged, cut: Cut) -> Kept:
    """Cut every list of a run."""
    places = np.arange(len(judged.rank))
    query = judged.query
    rank = places - judged.offsets[query] + 1 if cut.condense else judged.rank
    keep = np.ones(len(places), dtype=np.bool_) if cut.cutoff is None else rank <= cut.cutoff
    if cut.truncate:
        last = np.full(len(judged.present), -1)
        hits = np.flatnonzero(keep & (judged.grade >= cut.rel))
        np.maximum.at(last, query[hits], hits)
        keep &= places <= last[query]
    offsets = np.concatenate(([0], np.cumsum(keep))).astype(np.int64)[judged.offsets]
    return Kept(offsets, judged.row[keep])


def ideal(grades: Floats, cut: Cut) -> Codes:
    """Give the judged documents of one query best first, cut as any list; ties keep the order given.

    >>> ideal(np.array([0.0, 2.0, 1.0, 0.0]), Cut()).tolist()
    [1, 2]
    """
    order = np.argsort(-grades, kind="stable")[: cut.cutoff]
    if cut.truncate:
        order = order[: np.count_nonzero(grades[order] >= cut.rel)]
    return order.astype(np.int32)
