"""Results: values of measures for runs and queries, with counts and warnings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import KW_ONLY, InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers, freeze
from leadline.data.ids import Vocabulary
from leadline.data.table import (
    GEOMETRIC_FLOOR,
    MACHINE_LABELS,
    Column,
    NamedMeasure,
    RowLabel,
    RunInfo,
    columns_of,
    flagged,
    plain,
    range_of,
    summary,
)
from leadline.data.validation import check_word
from leadline.data.wording import percent
from leadline.errors import UsageError
from leadline.evaluation.lookups import Lookups
from leadline.io.read_paths import warn_in_python
from leadline.io.row_checks import ABOUT_MACHINES
from leadline.io.score_cells import ESTIMATE
from leadline.result import Make, Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from leadline.data.qrels import QrelsColumns
    from leadline.evaluation.estimated_recall import RecallEstimates
    from leadline.evaluation.limits import Bounds, Intervals
    from leadline.evaluation.run_warnings import Returned
    from leadline.stats.moments import Weighted

# Columns of the bounds over the orders of tied documents (low, high, expected), and over the grades of
# unjudged documents (low, high).
BOUNDS = {"ties": slice(0, 3), "unjudged": slice(3, 5)}
BOUND_COLUMNS = ("ties low", "ties high", "ties expected", "unjudged low", "unjudged high")
ABOUT_BOUNDS = (
    "ties: lowest, highest and expected value over all orders of documents with equal scores",
    "unjudged: value if all unjudged retrieved documents are non-relevant, or all have the highest grade",
    "(the number of relevant documents and the ideal list still come from the judgments alone)",
    "no value: leadline cannot compute this bound, or it is undefined",
)


@dataclass(repr=False, eq=False)
class Results(Lookups, Result):
    """Values of runs x queries x measures; NaN is undefined.

    Attributes
    ----------
    measures : list of Measure
        The measures.
    values : ndarray of float64, shape (n_runs, n_queries, n_measures)
        Values; NaN is undefined.
    averaged : ndarray of bool, shape (n_runs, n_queries, n_measures)
        Whether a query is included in the mean.
    present : ndarray of bool, shape (n_runs, n_queries)
        Whether a run has a query.
    without_mean : ndarray of bool, shape (n_runs,)
        Whether the means of a run are undefined (profile `trec10` with a missing query).
    relevance_strings : list of list of str
        Grades of the first documents by run and query; empty if not requested.
    bounds : Bounds or None
        Bounds of the values; None if not requested.
    intervals : Intervals or None
        Confidence intervals of the means; None if not requested.
    estimates : RecallEstimates or None
        Estimated number of relevant documents and recall over all queries, where the judgments are a sample
        and R is one of the measures.
    sampling : list of dict, or None
        By run: `new` and `estimate`, as in `to_dict`; None if the values are no estimates from a sample of
        judgments.
    qrels : Qrels, str or None
        The judgments, or their digest.
    weighted : Weighted or None
        Weights of the queries in all means; None if they are equal.
    undefined : ndarray of int64, shape (n_runs, n_measures), or None
        Number of undefined values that no other warning explains.
    examples : list of (str, str)
        Name and first document of each run of which no document is judged.
    judged_example : str
        A judged document, for the warning of such runs.
    returned : list of Returned
        What each run returned for queries without an answer.
    """

    runs: list[RunInfo]
    queries: Vocabulary
    measures: list[Any]
    values: Floats
    averaged: Flags
    _: KW_ONLY
    present: Any = None  # Flags, by default of all queries
    relevance_strings: Sequence[Sequence[str]] = ()
    without_mean: Any = None  # Flags, by default of no run
    bounds: Bounds | None = None
    intervals: Intervals | None = None
    inputs: list[dict[str, Any]] = field(default_factory=list)
    sampling: list[dict[str, Any]] | None = None
    weighted: Weighted | None = None
    estimates: RecallEstimates | None = None
    # What merging needs: the judgments or their digest; the first query and document of runs of which no
    # document is judged; the first judged document; the numbers of undefined values by run and measure.
    qrels: QrelsColumns | str | None = None
    examples: list[tuple[str, str]] = field(default_factory=list)
    returned: list[Returned] = field(default_factory=list)
    judged_example: str = ""
    undefined: Integers | None = None
    resolve: InitVar[Callable[[Any], Sequence[object]] | None] = None

    def __post_init__(self, resolve: Callable[[Any], Sequence[object]] | None) -> None:
        freeze(self.values, self.averaged)
        self.warnings, self.options, self._resolve = list(self.warnings), dict(self.options), resolve
        self.relevance_strings = list(self.relevance_strings)
        if self.present is None:
            self.present = np.ones(self.values.shape[:2], dtype=np.bool_)
        if self.without_mean is None:
            self.without_mean = np.zeros(len(self.runs), dtype=np.bool_)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the digest of the judgments in their place."""
        return super().__getstate__() | {"qrels": self.qrels_digest}

    @property
    def qrels_digest(self) -> str | None:
        """SHA-256 of the judgments; None if the results are not those of `evaluate`."""
        return self.qrels if isinstance(self.qrels, str | None) else self.qrels.digest

    @classmethod
    def merge(cls, parts: Results | Sequence[Results]) -> Results:
        """Merge the results of the parts of a run, or of several runs that are split alike.

        Parameters
        ----------
        parts : Results or sequence of Results
            Results of `evaluate` with the same judgments, measures and options; a query of a run is in one
            part only. Queries that are in no part are missing from the run.

        Returns
        -------
        Results
            Values, means and warnings, equal to those of the evaluation of the undivided run.

        Raises
        ------
        UsageError
            If parts overlap, or differ in judgments, measures or options.

        Examples
        --------
        >>> import leadline as ll
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
        >>> parts = [ll.evaluate(qrels, {"bm25": {query: {"d1": 1.0}}}, "AP") for query in qrels]
        >>> [part.mean("bm25", "AP") for part in parts], Results.merge(parts).mean("bm25", "AP")
        ([0.5, 0.5], 1.0)
        """
        from leadline.evaluation.merging import merge_results
        from leadline.io.objects import read_run

        merged = merge_results([parts] if isinstance(parts, Results) else parts)
        warn_in_python(merged, read_run)  # as those of the parts do
        return merged

    @property
    def withheld(self) -> dict[str, dict[str, str]] | None:
        """By measure and run: why an estimate has no interval; None if the values are no estimates."""
        if self.sampling is None:
            return None
        found: dict[str, dict[str, str]] = {}
        for name, run in zip(self.names, self.sampling, strict=True):
            for measure, one in run["estimate"].items():
                if one and one.get("these_low") is None:
                    found.setdefault(measure, {})[name] = one.get("reason") or "none was saved"
        return found

    @property
    def unreliable(self) -> str:
        """Why no interval over queries is given, whatever the values; empty if one may be."""
        labels = (notice.message for notice in self.warnings if notice.code == MACHINE_LABELS)
        return next(labels, "").removesuffix(f". {ABOUT_MACHINES}")

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return [run.name for run in self.runs]

    @property
    def _weights(self) -> Floats | None:
        return None if self.weighted is None else self.weighted.weights

    def refuse_weights(self, what: str) -> None:
        """Raise UsageError if means are weighted, which not everything can be made of."""
        if self.weighted is not None:
            raise UsageError(f"{what} does not support query weights. Use values computed without them.")

    @cached_property
    def means(self) -> Floats:
        """Means over queries by the average of each measure: runs x measures."""
        columns = [
            summary(self.values[:, :, index], self.averaged[:, :, index], measure.average, self._weights)
            for index, measure in enumerate(self.measures)
        ]
        means = np.stack(columns, axis=1) if columns else np.zeros((len(self.runs), 0))
        means[self.without_mean] = np.nan
        return means

    @cached_property
    def mean_bounds(self) -> Floats:
        """Bounds of the means: runs x measures x bounds; NaN if not available."""
        if self.bounds is None:
            if self.withheld is not None:
                raise UsageError("estimates from a sample of judgments have no bounds")
            raise UsageError("these results have no bounds. Compute them with evaluate(..., bounds=True)")
        limits, available = self.bounds
        means = np.full((len(self.runs), *available.shape), np.nan)
        for index, bound in np.argwhere(available).tolist():
            average, averaged = self.measures[index].average, self.averaged[:, :, index]
            if bound == 2 and average not in ("mean", "defined", "sum"):
                continue  # the expectation of the mean is the mean of expectations for linear averages only
            means[:, index, bound] = summary(limits[:, :, index, bound], averaged, average, self._weights)
        means[self.without_mean] = np.nan
        return means

    def order(self, index: int = 0) -> list[int]:
        """Return the indices of the runs from best to worst by a measure; undefined means last."""
        if not self.measures:
            return list(range(len(self.runs)))
        sign = -1.0 if self.measures[index].rising else 1.0
        column = self.means[:, index].tolist()
        keys = [math.inf if math.isnan(mean) else sign * mean for mean in column]
        return sorted(range(len(self.runs)), key=lambda run: (keys[run], run))

    def best(self) -> list[set[int]]:
        """Return the indices of the runs with the best mean per measure; empty for one run or counts."""
        best: list[set[int]] = []
        for index, measure in enumerate(self.measures):
            column = self.means[:, index]
            counts = measure.average == "sum" or not getattr(measure, "quality", True)
            if len(self.runs) < 2 or np.isnan(column).all() or counts:
                best.append(set())
                continue
            top = np.nanmax(column) if measure.rising else np.nanmin(column)
            best.append(set(np.flatnonzero(column == top).tolist()))
        return best

    def changed(self, **attributes: Any) -> Self:
        """Return a copy with other attributes, and nothing computed from the former ones."""
        made = object.__new__(type(self))
        vars(made).update(Result.__getstate__(self) | attributes)
        freeze(made.values, made.averaged)
        return made

    def select_measures(self, indices: Sequence[int]) -> Results:
        """Return the results of some of the measures, without bounds and intervals."""
        measures = [self.measures[index] for index in indices]
        return self.changed(
            measures=measures,
            values=self.values[:, :, indices],
            averaged=self.averaged[:, :, indices],
            bounds=None,
            intervals=None,
            estimates=None,
            undefined=None,
            warnings=list(self.warnings),
            options=self.options | {"measures": list(map(str, measures))},
        )

    def with_runs(self, other: Results, infos: Sequence[RunInfo]) -> Results:
        """Return these results and the runs of others of the same measures, for the queries of these."""
        rows = other.queries.encode(self.queries.names)
        known = rows >= 0
        values = np.where(known[:, None], other.values[:, rows], np.nan)
        made = Results(
            [*self.runs, *infos],
            self.queries,
            self.measures,
            np.concatenate([self.values, values]),
            np.concatenate([self.averaged, other.averaged[:, rows] & known[:, None]]),
            present=np.concatenate([self.present, other.present[:, rows] & known]),
            without_mean=np.concatenate([self.without_mean, other.without_mean]),
            warnings=self.warnings,
            options=self.options,
            inputs=self.inputs,
            resolve=self._resolve,
            weighted=self.weighted,
            qrels=self.qrels,
        )
        if self.sampling is not None or other.sampling is not None:
            exact: dict[str, Any] = {"new": False, "estimate": {str(one): {} for one in self.measures}}
            made.sampling = [
                estimate for one in (self, other) for estimate in one.sampling or [exact] * len(one.runs)
            ]
        return made

    def averaged_values(self, index: int) -> Floats:
        """Return the values of a measure as averaged: runs x queries; NaN for excluded queries."""
        values, average = self.values[:, :, index], self.measures[index].average
        if average == "geometric":
            values = np.maximum(np.nan_to_num(values), GEOMETRIC_FLOOR)
        elif average != "defined":
            values = np.nan_to_num(values)
        included = self.averaged[:, :, index] & ~self.without_mean[:, None]
        return np.where(included, values, np.nan)

    def averaged_queries(self) -> list[str]:
        """Return the queries included in any mean."""
        return flagged(self.queries, np.asarray(self.averaged.any(axis=2).any(axis=0)))

    @cached_property
    def shown(self) -> Floats:
        """Values to display: NaN for a query that is missing and excluded from the mean."""
        excluded = ~self.present[:, :, None] & ~self.averaged
        return np.where(excluded, np.nan, self.values)

    def to_dict(self, *, per_query: bool = False, means: bool = True) -> dict[str, Any]:
        """Return the results as built-in types: `measures`, `queries`, `runs`; None is undefined."""
        texts = [str(measure) for measure in self.measures]
        runs = []
        for index, run in enumerate(self.runs):
            entry: dict[str, Any] = {
                "name": run.name,
                "tag": run.tag,
                "mean": dict(zip(texts, map(plain, self.means[index].tolist()), strict=True)),
            }
            if self.intervals is not None:
                entry["intervals"] = {
                    text: {"low": plain(low), "high": plain(high)}
                    for text, (low, high) in zip(texts, self.intervals.limits[index].tolist(), strict=True)
                }
            if self.estimates is not None:
                entry["estimates"] = self.estimates.of_run(index)
            if self.sampling is not None:
                entry["new"] = self.sampling[index]["new"]
                entry["estimate"] = {text: self.sampling[index]["estimate"][text] for text in texts}
            if per_query:
                entry["queries"] = {
                    query: dict(zip(texts, map(plain, row), strict=True))
                    for query, row in zip(self.queries, self.shown[index].tolist(), strict=True)
                }
            if self.bounds is not None:
                entry["bounds"] = self._bounds(self.mean_bounds[index])
            if self.bounds is not None and per_query:
                entry["query_bounds"] = {
                    query: self._bounds(rows)
                    for query, rows in zip(self.queries, self.bounds.limits[index], strict=True)
                }
            if not means:
                del entry["mean"]
            missing = flagged(self.queries, ~self.present[index])
            runs.append(entry | {"missing": missing, "counts": run.counts})
        results: dict[str, Any] = {"measures": texts, "queries": self.averaged_queries(), "runs": runs}
        named = [measure for measure in self.measures if isinstance(measure, NamedMeasure)]
        if named:
            results["directions"] = {str(one): one.direction for one in named}
        return results if self.estimates is None else results | {"relevant": self.estimates.of_all()}

    def _bounds(self, rows: Floats) -> dict[str, dict[str, list[float | None] | None]]:
        """Return the bounds of every measure as built-in types; None if a measure has none."""
        assert self.bounds is not None
        bounds = {}
        for measure, row, available in zip(
            self.measures, rows.tolist(), self.bounds.available.tolist(), strict=True
        ):
            bounds[str(measure)] = {
                name: list(map(plain, row[part])) if any(available[part]) else None
                for name, part in BOUNDS.items()
            }
        return bounds

    def _runs_in_order(self, index: int = 0, *, per_query: bool) -> Sequence[int]:
        """Return the order of runs in a table: the best first, or as named, which decides about signs."""
        return range(len(self.runs)) if per_query else self.order(index)

    def _columns(self, *, per_query: bool = False, means: bool = True) -> list[Column]:
        if self.bounds is not None or self.intervals is not None:
            return self._long_columns(per_query=per_query)
        rows: list[list[Any]] = []
        place: dict[int, int] = {}  # of the mean of each run
        for run in self._runs_in_order(per_query=per_query):
            name = self.names[run]
            if per_query:
                values = zip(self.queries, self.shown[run].tolist(), strict=True)
                rows += [[name, query, *row] for query, row in values]
            if means:
                place[run] = len(rows)
                label = [RowLabel("mean")] * per_query
                rows.append([name, *label, *self.means[run].tolist()])
        names = ["run", *(["query"] * per_query), *map(str, self.measures)]
        columns = columns_of(names, rows)
        for index, winners in enumerate(self.best(), start=1 + per_query):
            columns[index] = columns[index]._replace(best={place[run] for run in winners & place.keys()})
        return columns

    def _long_columns(self, *, per_query: bool) -> list[Column]:
        """Return one row per value, with intervals and bounds, by measure and in descending order of runs."""
        means = {"value": self.means} | self.limit_columns()
        values = {"value": self.values} | self.limit_columns(per_query=True) if per_query else {}
        rows: list[list[Any]] = []
        for index, measure in enumerate(self.measures):
            for run in self._runs_in_order(index, per_query=per_query):
                label = [self.names[run], str(measure)]
                for code, query in enumerate(self.queries if per_query else ()):
                    rows.append([*label, query, *(float(each[run, code, index]) for each in values.values())])
                label += [RowLabel("mean")] * per_query
                rows.append([*label, *(float(each[run, index]) for each in means.values())])
        return columns_of(["run", "measure", *(["query"] * per_query), *means], rows)

    def _notes(self, *_: Any, **__: Any) -> list[str]:
        notes = [self._size_note()]
        if self.intervals is not None:
            by, level = self.intervals.by, percent(self.intervals.confidence)
            by += f", seed {self.options['seed']}" if by != "Student" else ""
            notes.append(
                f"low, high: {level} confidence interval of the mean over queries ({by}); even if "
                "intervals overlap, two runs may differ significantly (see `leadline compare`)"
            )
        notes += ABOUT_BOUNDS if self.bounds is not None else ()
        return [*notes, *super()._notes()]

    def _about(self) -> dict[str, Any]:
        about = super()._about()
        runs = {os.path.abspath(run.path): {"run": run.name} for run in self.runs if run.path}
        inputs = [info | runs.get(info["path"], {}) for info in about["inputs"]]
        if not all("run" in info for info in self.inputs):
            inputs = self.inputs
        elif self.inputs:  # parts of runs, without the judgments
            read = {os.path.abspath(info["path"]): info["sha256"] for info in inputs}
            parts = [(os.path.abspath(info["path"]), info) for info in self.inputs]
            inputs = [info for info in inputs if os.path.abspath(info["path"]) not in dict(parts)]
            inputs += [info | {"sha256": info["sha256"] or read.get(path)} for path, info in parts]
        return about | {"inputs": sorted(inputs, key=lambda info: "run" in info)}  # the judgments first

    def saved_columns(self) -> dict[str, Any]:
        """Return run, query, measure and value, which is null where undefined or excluded from the mean."""
        shape = self.values.shape
        texts = [str(measure) for measure in self.measures]
        places = [np.broadcast_to(codes, shape).ravel() for codes in np.ogrid[tuple(map(slice, shape))]]
        named = zip(
            ("run", "query_id", "measure"), (self.names, list(self.queries), texts), places, strict=True
        )
        columns: dict[str, Any] = {name: np.array(words, dtype=object)[codes] for name, words, codes in named}
        return columns | {"value": self.shown.ravel()}

    def without_saved_columns(self) -> Self:
        """Return the results with values only where the rows of a file do not hold them."""
        short = copy(self)
        short.values = np.where(self._in_rows(self.values), 0.0, self.values)
        return short

    def take_saved_values(self, values: Any) -> None:
        """Put the values of the rows of a file back."""
        shown = np.asarray(values, dtype=np.float64).reshape(self.values.shape)
        self.values = np.where(self._in_rows(shown), shown, self.values)
        freeze(self.values)

    def _in_rows(self, values: Floats) -> Flags:
        return np.asarray(self.present[:, :, None] & np.isfinite(values))

    def to_columns(self, *, per_query: bool | None = None, long: bool | None = None) -> dict[str, list[Any]]:
        """Return means, or values per query, as columns by name; NaN is undefined.

        Parameters
        ----------
        per_query : bool, optional
            Return values per query instead of means.
        long : bool, optional
            Return one row per value, with the columns run, query (if `per_query`), measure and value, and the
            columns of intervals and bounds if there are any. If False, one row per run (and query) with one
            column per measure. By default False without intervals, bounds and `per_query`, else True.
            Values per query that are estimates have a column `estimate`.

        Returns
        -------
        dict
            Columns by name.
        """
        long = self._is_long(per_query, long)
        texts = [str(measure) for measure in self.measures]
        queries = list(self.queries) if per_query else [""]
        values = self.shown if per_query else self.means
        repeats = len(texts) if long else 1
        columns: dict[str, list[Any]] = {
            "run": [name for name in self.names for _ in range(len(queries) * repeats)],
            "query": [query for query in queries for _ in range(repeats)] * len(self.runs),
        }
        if not per_query:
            del columns["query"]
        if long:
            columns["measure"] = texts * (len(queries) * len(self.runs))
            columns["value"] = values.ravel().tolist()
            limits = self.limit_columns(per_query=bool(per_query))
            columns |= {name: column.ravel().tolist() for name, column in limits.items()}
        else:
            by_measure = values.reshape(len(columns["run"]), len(texts)).T.tolist()
            columns |= dict(zip(texts, by_measure, strict=True))
        if per_query and self.withheld is not None:
            columns[ESTIMATE] = [True] * len(columns["run"])
        return columns

    def limit_columns(self, *, per_query: bool = False) -> dict[str, Floats]:
        """Return the intervals and bounds, if any, by column name in tables, CSV and data frames.

        Arrays are runs x measures; with `per_query` runs x queries x measures, in which intervals, which are
        those of means, are NaN. Intervals are clipped to the range of the measure.
        """
        columns: dict[str, Floats] = {}
        if self.intervals is not None:
            ranges = np.array(list(map(range_of, self.measures))).reshape(-1, 2).T
            for side, name in enumerate(("low", "high")):
                limits = np.clip(self.intervals.limits[:, :, side], *ranges)
                columns[name] = np.full(self.values.shape, np.nan) if per_query else limits
        if self.bounds is not None:
            limits = self.bounds.limits if per_query else self.mean_bounds
            columns |= {name: limits[..., bound] for bound, name in enumerate(BOUND_COLUMNS)}
        return columns

    def _is_long(self, per_query: bool | None, long: bool | None) -> bool:
        """Return whether columns are in long form, with one row per value."""
        if long is not None:
            return long
        return per_query is not None or self.intervals is not None or self.bounds is not None

    def to_pandas(self, *, per_query: bool | None = None, long: bool | None = None) -> Any:
        """Return a pandas data frame: by default runs x measures, indexed by run.

        With `long`, `per_query`, intervals or bounds, one row per value; see `to_columns`.

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

    def _figure(self, *, figure: str = "heat-map", measure: object | None = None) -> Make:
        """Draw the per-query values by a measure, or its means."""
        from leadline.evaluation.query_figures import KINDS

        check_word(tuple(KINDS), figure=figure)
        index = 0 if measure is None else self.measure_index(measure)
        return lambda width: KINDS[figure](self, index, width)


def in_range(limits: ArrayLike, measure: object) -> Floats:
    """Return limits within the range of a measure."""
    return np.clip(np.asarray(limits, dtype=np.float64).reshape(-1, 2), *range_of(measure))
