"""Recall: how much of what is relevant was retrieved."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import CUTOFFS, Measure, found, over, relevant
from leadline.naming import Alone, Spellings, cutoff, number


class R(Measure):
    """Share of the relevant documents that are among the first k; without a cutoff, in the list.

    >>> R(cutoff=4).of([1, 1, 0, 1, 0, 1], judged=[1, 1, 1, 1, 1, 1, 0, 0])
    0.5
    """

    title = "recall"
    formula = "relevant documents at ranks 1..k / R"
    source = "lecture, 'Precision and Recall'; trec_eval recall"
    spellings: ClassVar[Spellings] = {"recall": {}, "set_recall": {}, "SetR": {}}
    alone: ClassVar[Alone] = {"recall": CUTOFFS, "set_recall": (), "setr": ()}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return over(found(judged, judged.hits(self.rel), self.cutoff), relevant(judged, self.rel))
