"""DCG at every rank of some lists."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.judged import Gains, Judged
from leadline.measures._gains import running
from leadline.qrels import Ideal


class DCGCurve:
    """The DCG of every list after each of its documents with a gain.

    `dcg` holds it in the order of the gains; `size` and `last` are the number of such documents and
    the DCG of the whole list, by query.
    """

    def __init__(self, judged: Judged, gains: Gains | Ideal) -> None:
        self.bounds = np.searchsorted(gains.query, np.arange(len(judged.present) + 1))
        self.dcg = running(gains.gain / np.log2(gains.rank + 1.0), self.bounds)
        self.size: Integers = np.diff(self.bounds)
        self.last = np.zeros(len(self.size))
        some = self.size > 0
        self.last[some] = self.dcg[self.bounds[1:][some] - 1]
        self._deepest = int(gains.rank.max(initial=0)) + 1
        self._keys = gains.query.astype(np.int64) * self._deepest + gains.rank

    def at(self, query: Codes, rank: Codes | Integers) -> Floats:
        """Give the DCG of lists at some ranks."""
        wanted = query.astype(np.int64) * self._deepest + np.minimum(rank, self._deepest - 1)
        place = np.searchsorted(self._keys, wanted, side="right")
        values = np.zeros(len(place))
        reached = place > self.bounds[query]
        values[reached] = self.dcg[place[reached] - 1]
        return values
