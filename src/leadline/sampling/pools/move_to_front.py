"""Move-to-front pooling: runs that have just given relevant documents are asked first."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import ClassVar

import numpy as np

from leadline.arrays import Integers
from leadline.naming import Spellings, whole
from leadline.sampling.pools import NOTHING, Offered, PoolMethod


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
    spellings: ClassVar[Spellings] = {"MTF": {}}

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
