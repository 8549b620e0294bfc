"""Precision at a multiple of the number of relevant documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over
from leadline.naming import Alone, Parameter, Spellings, number

MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))


class RprecMult(Measure):
    """Precision at rank m R, where R is the number of relevant documents of the query.

    The rank is int(m R + 0.9), as trec_eval counts; where that is 0 the value is undefined.

    >>> RprecMult(multiple=0.5).of([1, 0, 1], judged=[1, 1, 1, 1, 0])
    0.5
    """

    title = "precision at a multiple of R"
    formula = "relevant documents at ranks 1..c / c, c = int(m R + 0.9)"
    source = "trec_eval Rprec_mult"
    spellings: ClassVar[Spellings] = {"Rprec_mult": {}}
    alone: ClassVar[Alone] = {"rprec_mult": MULTIPLES}

    rel: float = number(1.0, low=0.0)
    multiple: float = Parameter(..., kind=float, low=0.0, high=1e6, at=True)  # type: ignore[assignment]

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        cutoff = np.floor(self.multiple * judged.qrels.relevant(self.rel) + 0.9)
        return over(judged.total(hits.query[hits.rank <= cutoff[hits.query]]), cutoff)
