"""Average precision, expected over the orders of tied documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.bounds import Rule
from leadline.bounds.orders import group_bounds, last_places
from leadline.judged import Judged
from leadline.measures import Measure, over, relevant
from leadline.measures.average_precision import AP


class AveragePrecision(Rule):
    """Expected precision at each place of a tie group, summed.

    A group of m documents, r of them relevant, stands below n documents with s relevant ones. Its i-th
    place holds a relevant document with probability r / m; given that, the i - 1 places before it hold
    (i - 1)(r - 1)/(m - 1) relevant ones on average (they are drawn without replacement from the m - 1
    others), so that the expected precision there is (s + 1 + (i - 1) c) / (n + i), c = (r - 1)/(m - 1).
    With (i - 1) c = c (n + i) - c (n + 1), and H the harmonic numbers, the t places above the cutoff add

        r / m (c t + (s + 1 - c (n + 1)) (H(n + t) - H(n))).

    A relevant document that moves up raises its own precision and lowers none, so the sorted orders are the
    ends; for the same reason a document that turns relevant raises the value (R is kept).
    """

    measures: ClassVar[tuple[str, ...]] = ("AP",)

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        del low, high
        assert isinstance(measure, AP)
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query = judged.query[chosen]
        above = judged.tie_first[chosen].astype(np.int64) - 1
        size = last_places(judged)[chosen] - above
        start, stop = group_bounds(query, above)
        before = judged.hits(measure.rel).nth[start] - 1
        counted = stop - start
        inside = size if measure.cutoff is None else np.clip(measure.cutoff - above, 0, size)
        harmonic = np.cumsum(1.0 / np.maximum(np.arange(int(judged.length.max(initial=0)) + 1), 1))
        slope = (counted - 1) / np.maximum(size - 1, 1)
        added = slope * inside + (before + 1 - slope * (above + 1)) * (
            harmonic[above + inside] - harmonic[above]
        )
        number = relevant(judged, measure.rel)
        if measure.norm == "min" and measure.cutoff is not None:
            number = np.minimum(number, measure.cutoff)
        return over(judged.total(query, added / size), number)  # each of the r rows adds 1 / m
