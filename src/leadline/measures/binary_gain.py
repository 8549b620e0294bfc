"""Binary G."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over, relevant
from leadline.naming import Spellings, number


class binG(Measure):  # noqa: N801  # the field's spelling
    """Each relevant document counts less for every non-relevant one above it, by a logarithm.

    >>> binG().of([1, 0, 0, 1], judged=[1, 1, 0, 0])  # (1 + 1/log2(4)) / 2
    0.75
    """

    title = "binary G"
    formula = "1/R sum over retrieved relevant documents of 1 / log2(2 + non-relevant above it)"
    source = "trec_eval binG"
    spellings: ClassVar[Spellings] = {"binary_g": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        weights = 1.0 / np.log2(2.0 + hits.rank - hits.nth)
        return over(judged.total(hits.query, weights), relevant(judged, self.rel))
