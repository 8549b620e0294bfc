"""The sequential dependence model."""

from __future__ import annotations

from typing import ClassVar

from leadline.data.arrays import Integers
from leadline.data.registry import number, whole
from leadline.errors import UsageError
from leadline.retrieval.index.reader import Index, windows
from leadline.retrieval.models import Model
from leadline.retrieval.models.language_models import Weighted, of_term, smoothed
from leadline.retrieval.models.query_plan import Plan, Query


class SDM(Model):
    """Query likelihood of terms, of neighbours in order, and of neighbours near each other.

    Each of the three is a mean over what the collection has of it, weighted by `terms`, `ordered` and
    `unordered`. `gap` is how many words further the second term may stand (1: next to it), `window` the
    width of the unordered window. Windows are smoothed as terms are, by their own collection frequency.
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
        """Give the plan of a query."""
        if not self.terms:
            raise UsageError("terms=0 in SDM; expected more: documents are found by terms")
        single = [of_term(index, code, times) for code, times in query.weights.items()]
        ordered = self._windows(index, query, ordered=True, width=self.gap)
        near = self._windows(index, query, ordered=False, width=self.window)
        parts = _mean(single, self.terms) + _mean(ordered, self.ordered)
        return smoothed(index, parts + _mean(near, self.unordered), self.mu)

    def _windows(self, index: Index, query: Query, *, ordered: bool, width: int) -> list[Weighted]:
        """Give the windows of all neighbours."""
        found = [windows(index, *pair, ordered=ordered, width=width) for pair in query.pairs]
        return [Weighted(postings, int(postings.counts.sum()), 1.0) for postings in found]


def _mean(parts: list[Weighted], weight: float) -> list[Weighted]:
    """Share a weight among the parts that occur at all."""
    found = [part for part in parts if part.occurrences]
    size = sum(part.weight for part in found)
    return [part._replace(weight=weight * part.weight / size) for part in found]
