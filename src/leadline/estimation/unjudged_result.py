"""What was estimated without judgments, by system and query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary
from leadline.data.result import Result
from leadline.data.results import ResultWarning, RunInfo, plain
from leadline.data.wording import queries
from leadline.estimation.unjudged_methods import UnjudgedEstimator


class Unjudged(Result):
    """Estimates of systems x queries, `used` documents behind each, and terms where there are any.

    `scores` are the means over queries. They order systems; they are no estimate of any measure's value.
    `by_fit` has the scores of every topic model that was fitted, fits x systems, one row if none was.
    """

    def __init__(
        self,
        method: UnjudgedEstimator,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        values: Floats,
        used: Floats,
        terms: dict[str, Floats],
        *,
        by_fit: Floats,
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.runs = list(runs)
        self.queries = queries
        self.values = values
        self.used = used
        self.terms = terms
        self.by_fit = by_fit
        self.warnings = list(warnings)
        self.options = options or {}

    @property
    def names(self) -> list[str]:
        """Give the names of the systems."""
        return [run.name for run in self.runs]

    @property
    def scores(self) -> Floats:
        """Give the mean over queries of every system; an undefined value is left out."""
        return mean_of_defined(self.values)

    @property
    def spread(self) -> Floats | None:
        """Give the standard deviation of every score over fits; None with fewer than two."""
        return self.by_fit.std(axis=0, ddof=1) if len(self.by_fit) > 1 else None

    def order(self) -> list[int]:
        """Give the places of the systems, the best first; equal ones by name."""
        scores = np.nan_to_num(self.scores, nan=-np.inf)
        return sorted(range(len(self.runs)), key=lambda place: (-scores[place], self.names[place]))

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Give it as plain data: `method`, `scores`, `used`, ..., `queries` on request."""
        data: dict[str, Any] = {
            "method": self.method.called,
            "estimator": str(self.method),
            "scores": self._by_name(self.scores),
            "used": dict(zip(self.names, self.used.sum(axis=1).astype(int).tolist(), strict=True)),
        }
        if self.terms:
            data["terms"] = {
                name: self._by_name(mean_of_defined(values)) for name, values in self.terms.items()
            }
        if self.spread is not None:
            data["spread"] = self._by_name(self.spread)
            data["by_fit"] = [self._by_name(scores) for scores in self.by_fit]
        if per_query:
            data["queries"] = {
                query: {
                    "scores": self._by_name(self.values[:, place]),
                    "used": dict(zip(self.names, self.used[:, place].astype(int).tolist(), strict=True)),
                }
                for place, query in enumerate(self.queries)
            }
        return data

    def _by_name(self, values: Floats) -> dict[str, float | None]:
        return dict(zip(self.names, map(plain, values.tolist()), strict=True))

    def __repr__(self) -> str:
        return f"Unjudged({self.method}, {len(self.runs)} systems, {queries(len(self.queries))})"


def mean_of_defined(values: Floats) -> Floats:
    """Give the mean of each row over its defined values; NaN where there is none.

    >>> mean_of_defined(np.array([[1.0, 3.0], [2.0, np.nan]]))
    array([2., 2.])
    """
    known = ~np.isnan(values)
    size = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    found: Floats = np.divide(total, size, out=np.full(len(values), np.nan), where=size > 0)
    return found
