"""Pooling methods: which retrieved documents are to be judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Integers
from leadline.data.registry import Aliases, Parametric, Registry, number, whole

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


class PoolMethod(Parametric):
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


POOLS: Registry[PoolMethod] = Registry(sys.modules[__name__], PoolMethod, "pool method")


class Depth(PoolMethod):
    """All documents among the first k of any run; the best rank first, ties: document id falling.

    >>> Depth(k=2).order(Offered.of([[2, 0, 4], [1, 2, 3]])).tolist()
    [2, 1, 0]
    """

    title = "the first k documents of every run"
    source = "Sparck Jones and van Rijsbergen 1975; TREC; lecture, 'Standard relevance benchmark: TREC'"
    positional: ClassVar[str] = "k"

    k: int = whole(100)

    @property
    def reach(self) -> int | None:
        """Give the rank to which a run brings documents."""
        return self.k

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        """Give the chosen documents."""
        best = np.full(offered.documents, self.k)
        for one in offered.lists:
            first = one[: self.k]
            best[first] = np.minimum(best[first], np.arange(len(first)))
        chosen = np.flatnonzero(best < self.k)
        return chosen[np.lexsort((-chosen, best[chosen]))]


class MoveToFront(PoolMethod):
    """Documents of the run that did best so far: it is asked until it gives one that is not relevant.

    All runs begin with the same priority. The run of the highest one (ties: the one asked longest ago, then
    the order of the runs) gives its next document that no run gave before; a relevant one keeps the run
    where it is, another takes 1 from its priority. A document that is not judged yet is taken for not
    relevant until it is, so that without any judgments the runs are asked in turn, a document each: call
    again with the judgments, as often as there are new ones.

    >>> offered = Offered.of([[0, 1, 2], [3, 4, 5]])
    >>> MoveToFront(documents=4).order(offered).tolist()
    [0, 3, 1, 4]
    >>> MoveToFront(documents=4).order(offered, {0: True, 1: True}).tolist()  # the first run goes on
    [0, 1, 2, 3]
    """

    title = "so many documents, from the runs that find relevant ones"
    source = "Cormack, Palmer and Clarke 1998"
    adaptive = True
    aliases: ClassVar[Aliases] = {"MTF": {}}

    documents: int = whole(100)

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:
        """Give the documents that were asked for so far, and those to judge next if they disappoint."""
        lists = [iter(one.tolist()) for one in offered.lists]
        waiting = [(0, 0, run) for run in range(len(lists))]  # penalty, when it was asked, which
        heapify(waiting)
        taken: dict[int, None] = {}
        while waiting and len(taken) < self.documents:
            penalty, _, run = heappop(waiting)
            document = next((one for one in lists[run] if one not in taken), None)
            while document is not None:
                taken[document] = None
                if not judged.get(document, False) or len(taken) == self.documents:
                    heappush(waiting, (penalty + 1, len(taken), run))
                    break
                document = next((one for one in lists[run] if one not in taken), None)
        return np.array(list(taken), dtype=np.int64)


class RBP(PoolMethod):
    """The documents with the largest sums over runs of (1 - p) p^(rank - 1): what RBP stands to gain by them.

    A judgment of them takes most from the residuals of rank-biased precision over all runs. Ties: document id
    falling.

    >>> RBP(documents=2, p=0.5).order(Offered.of([[2, 0, 1], [1, 2, 3]])).tolist()
    [2, 1]
    """

    title = "so many documents, by their weight in rank-biased precision over the runs"
    source = "Moffat, Webber and Zobel 2007, method A"

    documents: int = whole(100)
    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        """Give the chosen documents."""
        longest = max(map(len, offered.lists), default=0)
        weight = [(1 - self.p) * self.p**rank for rank in range(longest)]
        return by_weight(offered, weight, self.documents)


class RRF(PoolMethod):
    """The documents with the largest sums over runs of 1 / (k + rank); ties: document id falling.

    >>> RRF(documents=2).order(Offered.of([[2, 0, 1], [1, 2, 3]])).tolist()
    [2, 1]
    """

    title = "so many documents, by reciprocal rank fusion of the runs"
    source = "Cormack, Clarke and Buettcher 2009"

    documents: int = whole(100)
    k: float = number(60.0, low=0.0)

    def order(self, offered: Offered, judged: Mapping[int, bool] = NOTHING) -> Integers:  # noqa: ARG002
        """Give the chosen documents."""
        longest = max(map(len, offered.lists), default=0)
        weight = [1 / (self.k + rank) for rank in range(1, longest + 1)]
        return by_weight(offered, weight, self.documents)
