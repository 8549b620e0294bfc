"""Scores of systems without relevance judgments, by system and query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary
from leadline.data.records import RunInfo, plain
from leadline.data.table import Column
from leadline.data.wording import counted, queries
from leadline.estimation.unjudged_methods import UnjudgedEstimator
from leadline.result import Make, Result


@dataclass(repr=False, eq=False)
class Unjudged(Result):
    """Scores of systems without relevance judgments.

    Attributes
    ----------
    values : ndarray of float64, shape (n_systems, n_queries)
        Scores by query; NaN where undefined.
    used : ndarray of float64, shape (n_systems, n_queries)
        Number of documents from which each score is computed.
    terms : dict of str to ndarray of float64
        Terms of the scores, if any, shaped like `values`.
    by_fit : ndarray of float64, shape (n_fits, n_systems)
        Scores of each fitted topic model; one row without topic models.
    """

    method: UnjudgedEstimator
    runs: list[RunInfo]
    queries: Vocabulary
    values: Floats
    used: Floats
    terms: dict[str, Floats]
    by_fit: Floats

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [run.name for run in self.runs]

    @property
    def scores(self) -> Floats:
        """Mean of each system over the queries with a defined value."""
        return mean_of_defined(self.values)

    @property
    def spread(self) -> Floats | None:
        """Standard deviation of each score over fits; None with fewer than two fits."""
        return self.by_fit.std(axis=0, ddof=1) if len(self.by_fit) > 1 else None

    def order(self) -> list[int]:
        """Return the indices of the systems in descending order of score; ties are ordered by name."""
        scores = np.nan_to_num(self.scores, nan=-np.inf)
        return sorted(range(len(self.runs)), key=lambda index: (-scores[index], self.names[index]))

    def _columns(self) -> list[Column]:
        order = self.order()
        return [
            Column("system", [self.names[run] for run in order]),
            Column(self.method.called, self.scores[order]),
            Column("documents", self.used.mean(axis=1)[order]),
            *(Column(name, mean_of_defined(values)[order]) for name, values in self.terms.items()),
            *([] if self.spread is None else [Column("spread", self.spread[order])]),
        ]

    def _notes(self) -> list[str]:
        size = f"{counted(len(self.runs), 'system')}, mean over {queries(len(self.queries))}"
        notes = [
            f"{self.method}: {size}; without judgments",
            "documents: mean number used per query; scores order systems and do not estimate any measure",
        ]
        if self.spread is not None:
            notes.append(
                f"spread: standard deviation of the score over {len(self.by_fit)} fits of the topics"
            )
        return [*notes, *super()._notes()]

    def lines(self) -> list[dict[str, Any]]:
        """Return one record per system."""
        names = ("name", "score", "used", *self.terms)
        return [dict(zip(names, row, strict=False)) for row in self.table().rows]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys method, estimator, scores and used.

        Parameters
        ----------
        per_query : bool, default False
            Add the scores of each query.
        """
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
                    "scores": self._by_name(self.values[:, column]),
                    "used": dict(zip(self.names, self.used[:, column].astype(int).tolist(), strict=True)),
                }
                for column, query in enumerate(self.queries)
            }
        return data

    def _by_name(self, values: Floats) -> dict[str, float | None]:
        return dict(zip(self.names, map(plain, values.tolist()), strict=True))

    def _figure(self) -> Make:
        """Draw the distribution over queries of the score of every system, the highest mean at the top."""
        from leadline.charts import COLUMN
        from leadline.charts.distribution_plots import distributions

        order = self.order()
        queries = counted(self.values.shape[1], "query", "queries")
        return lambda width: distributions(
            [self.names[run] for run in order],
            list(self.values[order]),
            self.scores[order],
            label=f"{self.method}, score without judgments ({queries})",
            rows="systems",
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        return f"Unjudged({self.method}, {len(self.runs)} systems, {queries(len(self.queries))})"


def mean_of_defined(values: Floats) -> Floats:
    """Return the mean of the defined values of each row; NaN if there are none.

    Examples
    --------
    >>> mean_of_defined(np.array([[1.0, 3.0], [2.0, np.nan]]))
    array([2., 2.])
    """
    defined = ~np.isnan(values)
    size = defined.sum(axis=1)
    total = np.where(defined, values, 0.0).sum(axis=1)
    means: Floats = np.divide(total, size, out=np.full(len(values), np.nan), where=size > 0)
    return means
