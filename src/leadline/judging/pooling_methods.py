"""Pooling methods: selection of retrieved documents to judge."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Integers
from leadline.data.registry import Aliases, Parametric, Registry, number, whole

NOTHING: Mapping[int, bool] = {}


class RankedLists(NamedTuple):
    """The lists of one query, one a run, best first; documents are numbers in the order of their ids."""

    lists: Sequence[Codes | Integers]
    documents: int

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> RankedLists:
        """Make it from lists of numbers.

        >>> RankedLists.of([[2, 0], [1]]).documents
        3
        """
        arrays = [np.array(documents, dtype=np.int64) for documents in lists]
        return cls(arrays, 1 + max((max(documents) for documents in lists if documents), default=-1))


class PoolMethod(Parametric):
    """Base class of the pooling methods.

    `adaptive` methods use existing judgments. `reach` is the rank to which a run counts as having contributed
    a document, None for the whole list.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    adaptive: ClassVar[bool] = False

    @property
    def reach(self) -> int | None:
        """Rank to which a run contributes documents."""
        return None

    def order(self, offered: RankedLists, judged: Mapping[int, bool] = NOTHING) -> Integers:
        """Return the selected documents, in the order in which to judge them.

        `judged` maps judged documents to whether they are relevant.
        """
        raise NotImplementedError


def by_weight(offered: RankedLists, weight: Sequence[float], documents: int) -> Integers:
    """Return the documents with the largest sums of rank weights; ties in decreasing order of id."""
    sums = np.zeros(offered.documents)
    for ranking in offered.lists:
        sums[ranking] += weight[: len(ranking)]
    union = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *offered.lists]))
    # Sums of the same weights in another order are ties: compare 12 significant digits.
    digits, power = np.frexp(sums[union])
    order = np.lexsort((-union, -np.ldexp(np.round(digits, 12), power)))
    return union[order][:documents]


POOLS: Registry[PoolMethod] = Registry(sys.modules[__name__], PoolMethod, "pool method")


class Depth(PoolMethod):
    """Union of the top k documents of every run; ordered by best rank, ties in decreasing order of id.

    >>> Depth(k=2).order(RankedLists.of([[2, 0, 4], [1, 2, 3]])).tolist()
    [2, 1, 0]
    """

    title = "the first k documents of every run"
    source = "Sparck Jones and van Rijsbergen 1975; Voorhees and Harman 2005"
    positional: ClassVar[str] = "k"

    k: int = whole(100)

    @property
    def reach(self) -> int | None:
        return self.k

    def order(self, offered: RankedLists, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        best = np.full(offered.documents, self.k)
        for documents in offered.lists:
            first = documents[: self.k]
            best[first] = np.minimum(best[first], np.arange(len(first)))
        chosen = np.flatnonzero(best < self.k)
        return chosen[np.lexsort((-chosen, best[chosen]))]


class MoveToFront(PoolMethod):
    """Move-to-front pooling: documents of the run whose documents were relevant most recently.

    All runs begin with equal priority. The run with the highest priority (ties: the least recently used, then
    the order of the runs) contributes its next new document; a relevant one keeps the run in place, another
    decreases its priority by 1. A document not judged yet counts as non-relevant, so that without any
    judgments the runs take turns: repeat the call as judgments arrive.

    >>> offered = RankedLists.of([[0, 1, 2], [3, 4, 5]])
    >>> MoveToFront(documents=4).order(offered).tolist()
    [0, 3, 1, 4]
    >>> MoveToFront(documents=4).order(offered, {0: True, 1: True}).tolist()  # stays with the first run
    [0, 1, 2, 3]
    """

    title = "documents from the runs that keep finding relevant documents"
    source = "Cormack, Palmer and Clarke 1998"
    adaptive = True
    aliases: ClassVar[Aliases] = {"MTF": {}}

    documents: int = whole(100)

    def order(self, offered: RankedLists, judged: Mapping[int, bool] = NOTHING) -> Integers:
        """Return the documents selected so far, then those to judge next if these are not relevant."""
        lists = [iter(documents.tolist()) for documents in offered.lists]
        waiting = [(0, 0, run) for run in range(len(lists))]  # penalty, when it was asked, which
        heapify(waiting)
        selected: dict[int, None] = {}
        while waiting and len(selected) < self.documents:
            penalty, _, run = heappop(waiting)
            document = next((documents for documents in lists[run] if documents not in selected), None)
            while document is not None:
                selected[document] = None
                if not judged.get(document, False) or len(selected) == self.documents:
                    heappush(waiting, (penalty + 1, len(selected), run))
                    break
                document = next((documents for documents in lists[run] if documents not in selected), None)
        return np.array(list(selected), dtype=np.int64)


class RBP(PoolMethod):
    """Documents with the largest sums over runs of their RBP weight, (1 - p) p^(rank - 1).

    Their judgments reduce the residuals of rank-biased precision the most. Ties are in decreasing order of
    id.

    >>> RBP(documents=2, p=0.5).order(RankedLists.of([[2, 0, 1], [1, 2, 3]])).tolist()
    [2, 1]
    """

    title = "documents with the largest rank-biased precision weights, summed over the runs"
    source = "Moffat, Webber and Zobel 2007, method A"

    documents: int = whole(100)
    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)

    def order(self, offered: RankedLists, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        longest = max(map(len, offered.lists), default=0)
        weight = [(1 - self.p) * self.p**rank for rank in range(longest)]
        return by_weight(offered, weight, self.documents)


class RRF(PoolMethod):
    """Documents with the largest reciprocal rank fusion scores, 1 / (k + rank) summed over runs.

    Ties are in decreasing order of id.

    >>> RRF(documents=2).order(RankedLists.of([[2, 0, 1], [1, 2, 3]])).tolist()
    [2, 1]
    """

    title = "documents with the largest reciprocal rank fusion scores"
    source = "Cormack, Clarke and Buettcher 2009"

    documents: int = whole(100)
    k: float = number(60.0, low=0.0)

    def order(self, offered: RankedLists, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        longest = max(map(len, offered.lists), default=0)
        weight = [1 / (self.k + rank) for rank in range(1, longest + 1)]
        return by_weight(offered, weight, self.documents)
