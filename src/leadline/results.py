"""Results: runs x queries x measures, with what was counted on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from leadline.arrays import Flags, Floats, freeze
from leadline.errors import UsageError
from leadline.vocabulary import Vocabulary


class Averaged(Protocol):
    """What results need to know of a measure."""

    @property
    def average(self) -> str:
        """Say how values become one: mean, defined or sum."""

    @property
    def rising(self) -> bool:
        """Say whether larger is better."""


@dataclass(frozen=True)
class Notice:
    """Something that the user should know about the numbers: a code, words, and how often."""

    code: str
    message: str
    count: int

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class RunInfo:
    """What is known of one run besides its values."""

    name: str
    tag: str = ""
    path: str = ""
    counts: dict[str, int] = field(default_factory=dict)


class Results:
    """Values of runs x queries x measures; NaN is undefined.

    `averaged[r, q, m]` says whether query q takes part in the mean of measure m for run r; `without_mean[r]`
    that there is none (profile `trec10` with a missing query).
    """

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        measures: Sequence[Averaged],
        values: Floats,
        averaged: Flags,
        *,
        without_mean: Flags | None = None,
        notices: Sequence[Notice] = (),
        options: dict[str, Any] | None = None,
        inputs: Sequence[dict[str, Any]] = (),
    ) -> None:
        freeze(values, averaged)
        self.runs = list(runs)
        self.queries = queries
        self.measures = list(measures)
        self.values = values
        self.averaged = averaged
        self.without_mean = (
            np.zeros(len(self.runs), dtype=np.bool_) if without_mean is None else without_mean
        )
        self.notices = list(notices)
        self.options = dict(options or {})
        self.inputs = list(inputs)

    @property
    def names(self) -> list[str]:
        """Give the names of the runs."""
        return [run.name for run in self.runs]

    @cached_property
    def means(self) -> Floats:
        """Give runs x measures: the values of the averaged queries made one, as each measure says."""
        columns = [
            summary(self.values[:, :, place], self.averaged[:, :, place], measure.average)
            for place, measure in enumerate(self.measures)
        ]
        means = np.stack(columns, axis=1) if columns else np.zeros((len(self.runs), 0))
        means[self.without_mean] = np.nan
        return means

    def place(self, measure: object) -> int:
        """Give the place of a measure by object or canonical text."""
        texts = [str(known) for known in self.measures]
        if str(measure) not in texts:
            raise UsageError(
                f"no measure '{measure}' in these results; there are: " + ", ".join(texts)
            )
        return texts.index(str(measure))

    def mean(self, run: str, measure: object) -> float:
        """Give one mean."""
        return float(self.means[self._run(run), self.place(measure)])

    def value(self, run: str, query: str, measure: object) -> float:
        """Give the value of one query."""
        code = self.queries.code(query)
        if code is None:
            raise UsageError(f"no query '{query}' in these results")
        return float(self.values[self._run(run), code, self.place(measure)])

    def _run(self, name: str) -> int:
        if name not in self.names:
            raise UsageError(
                f"no run '{name}' in these results; there are: " + ", ".join(self.names)
            )
        return self.names.index(name)

    def order(self) -> list[int]:
        """Give the runs by the first measure, the best first; undefined ones last."""
        if not self.measures:
            return list(range(len(self.runs)))
        sign = -1.0 if self.measures[0].rising else 1.0
        keys = [math.inf if math.isnan(mean) else sign * mean for mean in self.means[:, 0].tolist()]
        return sorted(range(len(self.runs)), key=lambda place: (keys[place], place))

    def best(self) -> list[set[int]]:
        """Give, per measure, the runs with the best mean; none where there is only one run."""
        found: list[set[int]] = []
        for place, measure in enumerate(self.measures):
            column = self.means[:, place]
            if len(self.runs) < 2 or np.isnan(column).all() or measure.average == "sum":
                found.append(set())
                continue
            top = np.nanmax(column) if measure.rising else np.nanmin(column)
            found.append(set(np.flatnonzero(column == top).tolist()))
        return found

    def averaged_queries(self) -> list[str]:
        """Give the queries that take part in any mean."""
        used = np.flatnonzero(self.averaged.any(axis=2).any(axis=0))
        return [self.queries[code] for code in used.tolist()]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Give the results as plain data: `measures`, `queries`, `runs`; None is undefined."""
        texts = [str(measure) for measure in self.measures]
        runs = []
        for place, run in enumerate(self.runs):
            entry: dict[str, Any] = {
                "name": run.name,
                "tag": run.tag,
                "mean": dict(zip(texts, map(plain, self.means[place].tolist()), strict=True)),
            }
            if per_query:
                entry["queries"] = {
                    query: dict(zip(texts, map(plain, row), strict=True))
                    for query, row in zip(self.queries, self.values[place].tolist(), strict=True)
                }
            runs.append(entry | {"counts": run.counts})
        return {"measures": texts, "queries": self.averaged_queries(), "runs": runs}

    def __repr__(self) -> str:
        return (
            f"Results({len(self.runs)} runs, {len(self.queries)} queries, "
            f"{', '.join(map(str, self.measures))})"
        )


def plain(value: float) -> float | None:
    """Give a number, or None for an undefined or infinite one."""
    return value if math.isfinite(value) else None


def summary(values: Floats, averaged: Flags, average: str) -> Floats:
    """Make one value per run (row) from the chosen queries (columns)."""
    total: Floats = np.where(averaged & ~np.isnan(values), values, 0.0).sum(axis=1)
    if average == "sum":
        return total
    counted = averaged & ~np.isnan(values) if average == "defined" else averaged
    size = counted.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size == 0, np.nan, total / size)
