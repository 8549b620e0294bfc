"""Results: runs x queries x measures, with what was counted on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from leadline.data.arrays import Flags, Floats, freeze
from leadline.data.ids import Vocabulary
from leadline.data.result import Result, framed, optional
from leadline.data.wording import counted, queries
from leadline.errors import UsageError

# Over the orders of tied documents, and over the grades of unjudged documents.
BOUNDS = {"ties": slice(0, 3), "unjudged": slice(3, 5)}  # low, high, expected; low, high
BOUND_COLUMNS = ("ties low", "ties high", "ties expected", "unjudged low", "unjudged high")


class Bounds(NamedTuple):
    """How far values may move: ... x measures x five (`BOUNDS`); NaN where there is no such bound.

    `available[m, b]` says whether bound b of measure m is known at all.
    """

    limits: Floats
    available: Flags

    @classmethod
    def together(cls, runs: Sequence[Bounds]) -> Bounds | None:
        """Put the bounds of runs together; None where there are none."""
        return cls(np.stack([run.limits for run in runs]), runs[0].available) if runs else None


class Intervals(NamedTuple):
    """Intervals of the means for queries drawn from a larger population: runs x measures x low, high."""

    limits: Floats
    by: str
    confidence: float


GEOMETRIC_FLOOR = 0.00001  # a geometric mean counts smaller values as this, as trec_eval does


class Averaged(Protocol):
    """What results need to know of a measure."""

    @property
    def average(self) -> str:
        """Describe how values become one: mean, defined, geometric or sum."""

    @property
    def rising(self) -> bool:
        """Return whether larger is better."""


@dataclass(frozen=True)
class ResultWarning:
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


class Estimated(Protocol):
    """What was estimated beside the measures, as plain data."""

    def of_run(self, place: int) -> dict[str, Any]:
        """Return the estimates of a run by measure."""

    def of_all(self) -> list[dict[str, Any]]:
        """Return the estimates that are the same for all runs."""


class Results(Result):
    """Values of runs x queries x measures; NaN is undefined.

    `averaged[r, q, m]` says whether query q takes part in the mean of measure m for run r; `without_mean[r]`
    that there is none (profile `trec10` with a missing query). `present[r, q]` says whether the run has the
    query; `relevance_strings[r][q]` are the grades of its first documents, if they were asked for.
    `meaning(name)` gives the measures that a name means, where it is not the text of one.
    """

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        measures: Sequence[Averaged],
        values: Floats,
        averaged: Flags,
        *,
        present: Flags | None = None,
        relevance_strings: Sequence[Sequence[str]] = (),
        without_mean: Flags | None = None,
        bounds: Bounds | None = None,
        intervals: Intervals | None = None,
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
        inputs: Sequence[dict[str, Any]] = (),
        meaning: Callable[[Any], Sequence[object]] | None = None,
    ) -> None:
        freeze(values, averaged)
        self.runs = list(runs)
        self.queries = queries
        self.measures = list(measures)
        self.values = values
        self.averaged = averaged
        self.present = np.ones(values.shape[:2], dtype=np.bool_) if present is None else present
        self.relevance_strings = list(relevance_strings)
        self.without_mean = np.zeros(len(self.runs), dtype=np.bool_) if without_mean is None else without_mean
        self.bounds = bounds
        self.intervals = intervals
        self.warnings = list(warnings)
        self.options = dict(options or {})
        self.inputs = list(inputs)
        self.estimates: Estimated | None = None
        self._meaning = meaning

    @property
    def names(self) -> list[str]:
        """Return the names of the runs."""
        return [run.name for run in self.runs]

    @cached_property
    def means(self) -> Floats:
        """Return runs x measures: the values of the averaged queries made one, as each measure says."""
        columns = [
            summary(self.values[:, :, place], self.averaged[:, :, place], measure.average)
            for place, measure in enumerate(self.measures)
        ]
        means = np.stack(columns, axis=1) if columns else np.zeros((len(self.runs), 0))
        means[self.without_mean] = np.nan
        return means

    @cached_property
    def mean_bounds(self) -> Floats:
        """Return runs x measures x bounds: the bounds of each mean; NaN where one is not available."""
        if self.bounds is None:
            raise UsageError("there are no bounds in these results; evaluate(..., bounds=True)")
        limits, available = self.bounds
        means = np.full((len(self.runs), *available.shape), np.nan)
        for place, bound in np.argwhere(available).tolist():
            average, chosen = self.measures[place].average, self.averaged[:, :, place]
            if bound == 2 and average not in ("mean", "defined", "sum"):
                continue  # only these are linear, so that the mean is expected at the mean
            means[:, place, bound] = summary(limits[:, :, place, bound], chosen, average)
        means[self.without_mean] = np.nan
        return means

    def place(self, measure: object) -> int:
        """Return the place of a measure by object or by any name that `evaluate` understands."""
        texts = [str(known) for known in self.measures]
        meant = [str(measure)] if str(measure) in texts else self._meant(measure)
        found = [texts.index(text) for text in meant if text in texts]
        if len(meant) > 1 and found:
            raise UsageError(f"'{measure}' means {len(meant)} measures; expected one")
        if not found:
            raise UsageError(f"no measure '{measure}' in these results; there are: " + ", ".join(texts))
        return found[0]

    def _meant(self, measure: object) -> list[str]:
        """Return the texts of the measures that a name means; none where nobody knows it."""
        try:
            return [] if self._meaning is None else list(map(str, self._meaning([measure])))
        except UsageError:
            return []

    def mean(self, run: str, measure: object) -> float:
        """Return one mean."""
        return float(self.means[self._run(run), self.place(measure)])

    def value(self, run: str, query: str, measure: object) -> float:
        """Return the value of one query."""
        code = self.queries.code(query)
        if code is None:
            raise UsageError(f"no query '{query}' in these results")
        return float(self.values[self._run(run), code, self.place(measure)])

    def _run(self, name: str) -> int:
        if name not in self.names:
            raise UsageError(f"no run '{name}' in these results; there are: " + ", ".join(self.names))
        return self.names.index(name)

    def order(self, place: int = 0) -> list[int]:
        """Return the runs by a measure, by default the first, the best first; undefined ones last."""
        if not self.measures:
            return list(range(len(self.runs)))
        sign = -1.0 if self.measures[place].rising else 1.0
        column = self.means[:, place].tolist()
        keys = [math.inf if math.isnan(mean) else sign * mean for mean in column]
        return sorted(range(len(self.runs)), key=lambda run: (keys[run], run))

    def best(self) -> list[set[int]]:
        """Return, per measure of quality, the runs with the best mean; none where there is only one run."""
        found: list[set[int]] = []
        for place, measure in enumerate(self.measures):
            column = self.means[:, place]
            counts = measure.average == "sum" or not getattr(measure, "quality", True)
            if len(self.runs) < 2 or np.isnan(column).all() or counts:
                found.append(set())
                continue
            top = np.nanmax(column) if measure.rising else np.nanmin(column)
            found.append(set(np.flatnonzero(column == top).tolist()))
        return found

    def part(self, places: Sequence[int]) -> Results:
        """Return the results of some of the measures alone, without bounds and intervals."""
        return Results(
            self.runs,
            self.queries,
            [self.measures[place] for place in places],
            self.values[:, :, places],
            self.averaged[:, :, places],
            present=self.present,
            relevance_strings=self.relevance_strings,
            without_mean=self.without_mean,
            warnings=self.warnings,
            inputs=self.inputs,
            meaning=self._meaning,
            options=self.options | {"measures": [str(self.measures[place]) for place in places]},
        )

    def counted(self, place: int) -> Floats:
        """Return runs x queries: the values of a measure as its mean counts them; NaN takes no part."""
        values, average = self.values[:, :, place], self.measures[place].average
        if average == "geometric":
            values = np.maximum(np.nan_to_num(values), GEOMETRIC_FLOOR)
        elif average != "defined":
            values = np.nan_to_num(values)
        taken = self.averaged[:, :, place] & ~self.without_mean[:, None]
        return np.where(taken, values, np.nan)

    def averaged_queries(self) -> list[str]:
        """Return the queries that take part in any mean."""
        used = np.flatnonzero(self.averaged.any(axis=2).any(axis=0))
        return [self.queries[code] for code in used.tolist()]

    @cached_property
    def shown(self) -> Floats:
        """Return the values to show: a query that is missing and left out of the mean has none."""
        gone = ~self.present[:, :, None] & ~self.averaged
        return np.where(gone, np.nan, self.values)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the results as plain data: `measures`, `queries`, `runs`; None is undefined."""
        texts = [str(measure) for measure in self.measures]
        runs = []
        for place, run in enumerate(self.runs):
            entry: dict[str, Any] = {
                "name": run.name,
                "tag": run.tag,
                "mean": dict(zip(texts, map(plain, self.means[place].tolist()), strict=True)),
            }
            if self.intervals is not None:
                entry["intervals"] = {
                    text: {"low": plain(low), "high": plain(high)}
                    for text, (low, high) in zip(texts, self.intervals.limits[place].tolist(), strict=True)
                }
            if self.estimates is not None:
                entry["estimates"] = self.estimates.of_run(place)
            if per_query:
                entry["queries"] = {
                    query: dict(zip(texts, map(plain, row), strict=True))
                    for query, row in zip(self.queries, self.shown[place].tolist(), strict=True)
                }
            if self.bounds is not None:
                entry["bounds"] = self._bounds(self.mean_bounds[place])
            if self.bounds is not None and per_query:
                entry["query_bounds"] = {
                    query: self._bounds(rows)
                    for query, rows in zip(self.queries, self.bounds.limits[place], strict=True)
                }
            runs.append(entry | {"counts": run.counts})
        found = {"measures": texts, "queries": self.averaged_queries(), "runs": runs}
        return found if self.estimates is None else found | {"relevant": self.estimates.of_all()}

    def _bounds(self, rows: Floats) -> dict[str, dict[str, list[float | None] | None]]:
        """Return measures x bounds as plain data; None where a measure has none."""
        assert self.bounds is not None
        found = {}
        for measure, row, known in zip(
            self.measures, rows.tolist(), self.bounds.available.tolist(), strict=True
        ):
            found[str(measure)] = {
                name: list(map(plain, row[part])) if any(known[part]) else None
                for name, part in BOUNDS.items()
            }
        return found

    def to_columns(self, *, per_query: bool | None = None, long: bool | None = None) -> dict[str, list[Any]]:
        """Return means, or values of queries, as columns by name; NaN is undefined.

        Parameters
        ----------
        per_query : bool, optional
            Values of queries in place of means.
        long : bool, optional
            One row a value, with the columns run, query (of values of queries), measure and value, and with
            those of intervals and bounds that the CSV has, if there are any. By default one row a run with a
            column a measure; the long form with intervals, with bounds, and with `per_query`, given either
            way.

        Returns
        -------
        dict
            Lists of one length by column name.

        """
        long = self._is_long(per_query, long)
        texts = [str(measure) for measure in self.measures]
        queries = list(self.queries) if per_query else [""]
        values = self.shown if per_query else self.means
        times = len(texts) if long else 1
        columns: dict[str, list[Any]] = {
            "run": [name for name in self.names for _ in range(len(queries) * times)],
            "query": [query for query in queries for _ in range(times)] * len(self.runs),
        }
        if not per_query:
            del columns["query"]
        if long:
            columns["measure"] = texts * (len(queries) * len(self.runs))
            columns["value"] = values.ravel().tolist()
            around = self.around(per_query=bool(per_query))
            columns |= {name: column.ravel().tolist() for name, column in around.items()}
        else:
            by_measure = values.reshape(len(columns["run"]), len(texts)).T.tolist()
            columns |= dict(zip(texts, by_measure, strict=True))
        return columns

    def around(self, *, per_query: bool = False) -> dict[str, Floats]:
        """Return intervals and bounds, if there are any, by name of their column in tables, CSV and frames.

        Each is an array of runs x measures, or with `per_query` of runs x queries x measures, where intervals
        are NaN: they are those of means. Intervals are clipped to the range of the measure.
        """
        columns: dict[str, Floats] = {}
        if self.intervals is not None:
            lowest = [getattr(measure, "low", -math.inf) for measure in self.measures]
            highest = [getattr(measure, "high", math.inf) for measure in self.measures]
            for place, name in enumerate(("low", "high")):
                limits = np.clip(self.intervals.limits[:, :, place], lowest, highest)
                columns[name] = np.full(self.values.shape, np.nan) if per_query else limits
        if self.bounds is not None:
            limits = self.bounds.limits if per_query else self.mean_bounds
            columns |= {name: limits[..., place] for place, name in enumerate(BOUND_COLUMNS)}
        return columns

    def _is_long(self, per_query: bool | None, long: bool | None) -> bool:
        """Return whether columns are in the long form, one row a value."""
        if long is not None:
            return long
        return per_query is not None or self.intervals is not None or self.bounds is not None

    def to_pandas(self, *, per_query: bool | None = None, long: bool | None = None) -> Any:
        """Return a pandas frame: by default runs x measures, indexed by the run.

        With `long`, `per_query`, intervals or bounds one row a value, as `to_columns` says.

        Examples
        --------
        >>> import leadline as ll
        >>> results = ll.evaluate({"q": {"a": 1}}, {"bm25": {"q": {"a": 1.0}}}, "AP")
        >>> results.to_pandas().loc["bm25", "AP"]
        np.float64(1.0)
        >>> list(results.to_pandas(per_query=True).columns)
        ['run', 'query', 'measure', 'value']

        """
        frame = super().to_pandas(per_query=per_query, long=long)
        return frame.set_index("run") if not self._is_long(per_query, long) and per_query is None else frame

    def to_polars(self, *, per_query: bool | None = None, long: bool | None = None) -> Any:
        """Return a polars frame: by default runs x measures; else as `to_columns` says."""
        pl = optional("polars")
        columns = self.to_columns(per_query=per_query, long=long)
        words = ("run", "query", "measure")
        schema = {name: pl.String if name in words else pl.Float64 for name in columns}
        return framed(pl.DataFrame, columns, schema=schema)

    def to_arrow(self, *, per_query: bool | None = None, long: bool | None = None) -> Any:
        """Return an Arrow table: by default runs x measures; else as `to_columns` says."""
        return super().to_arrow(per_query=per_query, long=long)

    def __repr__(self) -> str:
        return (
            f"Results({counted(len(self.runs), 'run')}, {queries(len(self.queries))}, "
            f"{', '.join(map(str, self.measures))})"
        )


def plain(value: float) -> float | None:
    """Return a number, or None for an undefined or infinite one."""
    return value if math.isfinite(value) else None


def summary(values: Floats, averaged: Flags, average: str) -> Floats:
    """Make one value per run (row) from the chosen queries (columns), one after the other."""
    if average == "geometric":
        floored = np.log(np.maximum(np.nan_to_num(values), GEOMETRIC_FLOOR))
        return np.exp(summary(floored, averaged, "mean"))
    chosen = np.where(averaged & ~np.isnan(values), values, 0.0)
    total: Floats = chosen.cumsum(axis=1)[:, -1] if chosen.size else chosen.sum(axis=1)
    if average == "sum":
        return total
    counted = averaged & ~np.isnan(values) if average == "defined" else averaged
    size = counted.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size == 0, np.nan, total / size)
