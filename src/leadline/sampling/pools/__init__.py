"""Which retrieved documents are to be judged: one way a file, found by looking; `POOLS` has them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.arrays import Codes, Integers
from leadline.naming import Named, Room

NOTHING: Mapping[int, bool] = {}


class Offered(NamedTuple):
    """The lists of one query, one a run, best first; documents are numbers in the order of their ids."""

    lists: Sequence[Codes | Integers]
    documents: int

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> Offered:
        """Make it from lists of numbers.

        >>> Offered.of([[2, 0], [1]]).documents
        3
        """
        made = [np.array(one, dtype=np.int64) for one in lists]
        return cls(made, 1 + max((max(one) for one in lists if one), default=-1))


class PoolMethod(Named):
    """A way to choose the documents of a query that are to be judged.

    `adaptive` ones look at what was judged before. `reach` is the rank to which a run counts as having
    brought a document, None for the whole list.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    adaptive: ClassVar[bool] = False

    @property
    def reach(self) -> int | None:
        """Give the rank to which a run brings documents."""
        return None

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:
        """Give the chosen documents, the first to be judged first.

        `judged` says of documents that were judged whether they are relevant.
        """
        raise NotImplementedError


def by_weight(offered: Offered, weight: Sequence[float], documents: int) -> Integers:
    """Give the documents with the largest sums of a weight by rank; ties: document id falling."""
    sums = np.zeros(offered.documents)
    for one in offered.lists:
        sums[one] += weight[: len(one)]
    found = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *offered.lists]))
    # Sums of the same weights in another order are ties: twelve digits count, however small the weights.
    digits, power = np.frexp(sums[found])
    order = np.lexsort((-found, -np.ldexp(np.round(digits, 12), power)))
    return found[order][:documents]


POOLS: Room[PoolMethod] = Room(sys.modules[__name__], PoolMethod, "pool method")
