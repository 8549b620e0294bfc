"""Bpref and binG, expected over the orders of tied documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.bounds import Rule
from leadline.bounds.orders import group_bounds, last_places
from leadline.judged import Judged
from leadline.measures import Measure, over, relevant
from leadline.measures.binary_gain import binG
from leadline.measures.bpref import Bpref


class Preference(Rule):
    """Each relevant document of a group has u of its judged non-relevant ones above, u uniform.

    Among the n judged non-relevant documents of its group a relevant one has n + 1 places, all equally
    likely. With q of them above the group, the expected loss is the mean over u = 0..n of
    min(q + u, R) / min(N, R). A document that gets a judgment may lower the value (as a non-relevant one)
    or raise it, so there are no bounds for unjudged documents.
    """

    measures: ClassVar[tuple[str, ...]] = ("Bpref",)

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        del low, high
        assert isinstance(measure, Bpref)
        size, grades = relevant(judged, measure.rel), judged.qrels.grades
        others = judged.qrels.count((grades >= 0) & (grades < measure.rel)).astype(np.float64)
        is_other = (judged.grade >= 0) & (judged.grade < measure.rel)
        running = np.concatenate(([0], np.cumsum(is_other)))
        start, stop = group_bounds(judged.query, judged.tie_first)
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query = judged.query[chosen]
        above = (running[start] - running[judged.offsets[:-1]][judged.query])[chosen]
        tied = (running[stop] - running[start])[chosen]
        limit = size[query]
        free = np.clip(limit - above, 0, tied + 1)  # how many u keep q + u below R
        lost = free * above + free * (free - 1) / 2 + (tied + 1 - free) * limit
        bound = np.maximum(np.minimum(others[query], limit), 1.0)
        return over(judged.total(query, 1.0 - lost / (tied + 1) / bound), size)

    def monotone(self, measure: Measure) -> bool:
        """Bpref skips documents without a judgment."""
        del self, measure
        return False


class NonrelevantAbove(Rule):
    """Each relevant document of a group has u of its non-relevant ones above, u uniform on 0..n.

    With q non-relevant documents above the group, a relevant one is expected to add the mean of
    1 / log2(2 + q + u). One that moves up past a non-relevant one adds more and takes nothing from the
    others; a document that turns relevant adds its own part, and stands no longer above others as
    non-relevant.
    """

    measures: ClassVar[tuple[str, ...]] = ("binG",)

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        del low, high
        assert isinstance(measure, binG)
        chosen = np.flatnonzero(judged.grade >= measure.rel)
        query, first = judged.query[chosen], judged.tie_first[chosen].astype(np.int64)
        start, stop = group_bounds(query, first)
        others = last_places(judged)[chosen] - first + 1 - (stop - start)
        above = first - judged.hits(measure.rel).nth[start]
        parts = 1.0 / np.log2(2.0 + np.arange(int(judged.length.max(initial=0)) + 1))
        below = np.concatenate(([0.0], np.cumsum(parts)))
        mean = (below[above + others + 1] - below[above]) / (others + 1)
        return over(judged.total(query, mean), relevant(judged, measure.rel))
