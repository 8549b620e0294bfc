"""Q-measure."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats
from leadline.judged import Judged
from leadline.measures import Measure, finite, over, relevant
from leadline.measures._graded import running
from leadline.naming import Spellings, choice, cutoff, number
from leadline.qrels import Qrels


class Q(Measure):
    """Average precision with the blended ratio in place of precision, so that grades count.

    The blended ratio at rank r is (relevant documents + beta * gain) / (r + beta * ideal gain),
    both gains summed to rank r; the gain is the grade. `beta=0` is AP. With a cutoff it still
    divides by R; `norm=min` divides by the smaller of R and k.

    >>> round(Q().of([1, 0, 2]), 4)  # 1/2 * ((1 + 1) / (1 + 2) + (2 + 3) / (3 + 3))
    0.75
    """

    title = "Q-measure"
    formula = "sum over relevant documents at ranks r <= k of (relevant to r + beta * gain to r) / "
    formula += "(r + beta * ideal gain to r), / R"
    source = "Sakai 2004; NTCIREVAL"
    spellings: ClassVar[Spellings] = {"q_measure": {}, "Q-measure": {}, "qm": {}}

    beta: float = number(1.0, low=0.0)
    rel: float = number(1.0, low=0.0)
    norm: str = choice("relevant", "min")
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        chosen = np.flatnonzero((judged.grade >= self.rel) | (judged.grade > 0))
        query, rank, grade = judged.query[chosen], judged.rank[chosen], judged.grade[chosen]
        hit = grade >= self.rel
        count = running(query, hit.astype(np.float64), np.add)
        with np.errstate(over="ignore"):
            gain = finite(self, self._weighed(running(query, np.maximum(grade, 0.0), np.add)))
            best = finite(self, self._weighed(self._best(judged.qrels, query, rank)))
        if self.cutoff is not None:
            hit &= rank <= self.cutoff
        blended = (count + gain)[hit] / (rank + best)[hit]
        size = relevant(judged, self.rel)
        if self.norm == "min" and self.cutoff is not None:
            size = np.minimum(size, self.cutoff)
        return over(judged.total(query[hit], blended), size)

    def _weighed(self, gain: Floats) -> Floats:
        return gain * self.beta if self.beta else np.zeros_like(gain)

    def _best(self, qrels: Qrels, query: Codes, rank: Codes) -> Floats:
        """Give the gain of the ideal list to a rank of a query."""
        ideal = qrels.ideal
        added = running(ideal.query, ideal.gain, np.add)
        first = np.searchsorted(ideal.query, query)
        last = np.searchsorted(ideal.query, query, side="right")
        place = np.minimum(first + rank, last)
        return np.where(place > first, np.append(0.0, added)[place], 0.0)
