"""The sequential dependence model."""

from __future__ import annotations

from typing import ClassVar

from leadline.data.arrays import Integers
from leadline.data.registry import number, whole
from leadline.errors import UsageError
from leadline.retrieval.index.reader import Index, windows
from leadline.retrieval.models import Model
from leadline.retrieval.models.language_models import WeightedPostings, of_term, smoothed
from leadline.retrieval.models.query_plan import Plan, Query


class SDM(Model):
    """Sequential dependence model: query likelihood of terms, ordered and unordered windows.

    Each of the three is the mean over those that occur in the collection, weighted by `terms`, `ordered` and
    `unordered`. `gap` is the maximum distance of the second term of an ordered window (1: adjacent), `window`
    the width of the unordered window. Windows are smoothed like terms, by their own collection frequency.
    """

    title: ClassVar[str] = "sequential dependence model"
    formula: ClassVar[str] = (
        "terms mean ln P(t|d) + ordered mean ln P(#gap(a b)|d) + unordered mean ln P(#uw window(a b)|d), "
        "P = (tf + mu cf/C)/(dl + mu)"
    )
    source: ClassVar[str] = "Metzler and Croft 2005"

    terms: float = number(0.85, low=0.0)
    ordered: float = number(0.1, low=0.0)
    unordered: float = number(0.05, low=0.0)
    gap: int = whole(1)
    window: int = whole(8, low=2)
    mu: float = number(1500, low=0.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        if not self.terms:
            raise UsageError("SDM finds documents by their terms, so `terms` must be above 0")
        single = [of_term(index, code, times) for code, times in query.weights.items()]
        ordered = self._windows(index, query, ordered=True, width=self.gap)
        near = self._windows(index, query, ordered=False, width=self.window)
        parts = _mean(single, self.terms) + _mean(ordered, self.ordered)
        return smoothed(index, parts + _mean(near, self.unordered), self.mu)

    def _windows(self, index: Index, query: Query, *, ordered: bool, width: int) -> list[WeightedPostings]:
        """Return the windows of all pairs of adjacent terms."""
        matched = [windows(index, *pair, ordered=ordered, width=width) for pair in query.pairs]
        return [WeightedPostings(postings, int(postings.counts.sum()), 1.0) for postings in matched]


def _mean(parts: list[WeightedPostings], weight: float) -> list[WeightedPostings]:
    """Divide a weight among the parts that occur."""
    occurring = [part for part in parts if part.occurrences]
    size = sum(part.weight for part in occurring)
    return [part._replace(weight=weight * part.weight / size) for part in occurring]
