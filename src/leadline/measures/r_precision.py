"""R-precision."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over, relevant
from leadline.naming import Spellings, number


class Rprec(Measure):
    """Precision at rank R, where R is the number of relevant documents of the query.

    >>> round(Rprec().of([1, 1, 0, 1, 0, 1], judged=[1] * 6 + [0, 0]), 4)
    0.6667
    """

    title = "R-precision"
    formula = "relevant documents at ranks 1..R / R"
    source = "lecture, 'R-Precision'; trec_eval Rprec"
    spellings: ClassVar[Spellings] = {"r-precision": {}, "r_precision": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        size = relevant(judged, self.rel)
        return over(judged.total(hits.query[hits.rank <= size[hits.query]]), size)
