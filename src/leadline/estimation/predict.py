"""Query performance prediction (QPP) without relevance judgments."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from leadline.charts import COLUMN, shortened
from leadline.charts.association_plots import association, with_limits
from leadline.charts.grid import query_map
from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.reading import Reading, RunsOptions
from leadline.data.run import RunColumns
from leadline.data.table import (
    Column,
    ResultWarning,
    RunInfo,
    Table,
    columns_of,
    plain,
    printed_table,
    raised,
)
from leadline.data.validation import check_whole, check_word
from leadline.data.wording import counted, first_few, listed_few, percent, queries
from leadline.errors import InputError, UsageError, together
from leadline.estimation.histogram_result import over_runs
from leadline.estimation.predictors import INDEX, NQC, PREDICTORS, VECTORS, WIG, Answer, Predictor
from leadline.evaluation.join import each_run
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import selection_warnings
from leadline.io.read import RunLike
from leadline.io.read_paths import public, shown
from leadline.io.texts import TextsLike, read_queries
from leadline.result import Make
from leadline.retrieval.index import open_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Query
from leadline.stats import checked_level, checked_seed
from leadline.stats.correlation import kendall, pearson
from leadline.stats.moments import bootstrap_interval
from leadline.stats.ranks import mid_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.topics.infer import Vectors


WANTING = {
    INDEX: ("an index and queries", "`--index INDEX` and `--queries QUERIES`"),
    VECTORS: ("topic vectors", "`--topics VECTORS`"),
}
COEFFICIENTS = {"pearson": pearson, "kendall": kendall}


class Predictions(Results):
    """Predictions of runs x queries x predictors; larger is better, and there is no unit."""

    def to_dict(self, *, per_query: bool = True, means: bool = True) -> dict[str, Any]:
        """Return the predictions as plain data: `predictors`, `queries`, `runs`; None is undefined."""
        found = super().to_dict(per_query=per_query, means=means)
        return {"predictors": found.pop("measures")} | found

    def _columns(self, *, per_query: bool = True, means: bool = True) -> list[Column]:
        """Return the columns without marks of the best values: predictors do not rank runs."""
        return [column._replace(best=()) for column in super()._columns(per_query=per_query, means=means)]

    def _figure(  # type: ignore[override]  # other kinds
        self,
        *,
        figure: str | None = None,
        truth: Truth | None = None,
        run: str | None = None,
        predictor: object | None = None,
        truth_measure: str = "measure",
        draws: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> Make:
        """Draw predictions as a heat map, or those of a run beside the values of a measure."""
        figure = figure or ("heat-map" if truth is None else "scatter")
        check_word(KINDS, figure=figure)
        index = 0 if predictor is None else self.measure_index(predictor)
        if figure == "heat-map":
            return lambda width: self._ranks_of_queries(index, width or COLUMN)
        if truth is None:
            raise UsageError(
                "the scatter figure needs the values of a measure. Pass truth={run: {query: value}}."
            )
        rows = over_queries(self, truth, draws=draws, confidence=confidence, seed=seed)
        rows = [row for row in rows if row["predictor"] == str(self.measures[index])]
        row = next((row for row in rows if run in (None, row["run"])), None)
        if row is None:
            there = first_few([row["run"] for row in rows], 20)
            raise UsageError(f"run '{run}' lacks predictions or values. Choose one of these runs: {there}.")
        draw = partial(self._scatter, index, row, truth, f"{truth_measure}, measured", percent(confidence))
        return lambda width: draw(width or COLUMN)

    def _ranks_of_queries(self, index: int, width: float) -> Figure:
        """Draw a heat map of runs (in their order) by queries (lowest mean rank first).

        The color is the rank of the query among those of the run, from 0 for the lowest to 1 for the highest
        prediction; ties share their mean rank. Predictions themselves depend on the scale of the scores.
        """
        ranks = rank_shares(self.values[:, :, index])
        defined = ~np.isnan(ranks)
        number = defined.sum(axis=0)
        sums = np.where(defined, ranks, 0.0).sum(axis=0)
        means = np.where(number > 0, sums / np.maximum(number, 1), np.inf)
        return query_map(
            self.names,
            ranks[:, np.argsort(means, kind="stable")],
            limits=(0.0, 1.0),
            order="lowest mean rank on the left",
            label=f"{self.measures[index]}, rank of the query within each run (0: lowest, 1: highest)",
            width=width,
        )

    def _scatter(
        self, index: int, row: Mapping[str, Any], truth: Truth, up: str, level: str, width: float
    ) -> Figure:
        """Draw the measured values of a run over its predictions, a point per query, and the correlation."""
        run = row["run"]
        measured = np.array([truth[run].get(query, math.nan) for query in self.queries], dtype=np.float64)
        predicted = self.values[self.names.index(run), :, index]
        defined = np.flatnonzero(np.isfinite(measured) & np.isfinite(predicted))
        words = {}
        for words_of, name in (("Kendall's tau-b", "kendall"), ("Pearson's r", "pearson")):
            found = np.array([row[name][end] for end in ("value", "low", "high")], dtype=np.float64)
            value, low, high = found.tolist()
            words[words_of] = with_limits(value, [("queries", low, high)], level)
        return association(
            predicted[defined],
            measured[defined],
            [self.queries[place] for place in defined.tolist()],
            across=f"{self.measures[index]}, predicted ({shortened([run], 36)[0]})",
            up=up,
            coefficients=words,
            marked=False,
            width=width,
        )


class _Sources(NamedTuple):
    """Data for predictors in addition to scores."""

    queries: Mapping[bytes, Query] | None = None
    theta: Floats | None = None
    rows: Mapping[bytes, int] = {}

    @property
    def given(self) -> frozenset[str]:
        """Names of the available data."""
        available = {INDEX: self.queries is not None, VECTORS: self.theta is not None}
        return frozenset(name for name, there in available.items() if there)


@dataclass(frozen=True)
class _Named:
    """What names of predictors mean."""

    def __call__(self, texts: Iterable[str]) -> list[Predictor]:
        return PREDICTORS.expand_all(texts)


class _RunPredictions(NamedTuple):
    """A run with its predictions by query and counts for warnings."""

    info: RunInfo
    values: dict[bytes, list[float]]
    single: int  # lists of one document
    equal: int  # lists in which all scores are equal
    documents: frozenset[bytes]  # if topic vectors are given


@public
def predict(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    predictors: Iterable[str | Predictor] | str | Predictor | None = None,
    *,
    index: Index | str | os.PathLike[str] | None = None,
    queries: TextsLike | None = None,
    vectors: str | os.PathLike[str] | Vectors | None = None,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[RunsOptions],
) -> Predictions:
    """Query performance prediction (QPP): predict how well each query was answered, without judgments.

    Larger values predict better performance. Queries are those of any run; means of a run exclude undefined
    values.

    Parameters
    ----------
    runs : run, sequence of runs or mapping
        Ranked lists with scores.
    predictors : predictor names, optional
        By default all predictors for which the data suffice: NQC(tail) and WIG(tail) need scores only,
        WIG(tail,length=root) an index and queries, DeShaTo topic vectors. The literature is cited at each
        predictor.
    index : Index or path, optional
        Index of the collection, which finds the terms of `queries`.
    queries : texts, optional
        Texts of the queries.
    vectors : path or Vectors, optional
        Topic vectors of documents.
    **options
        How runs are read: `order`, `on_duplicate`, `on_nan` and `name_by` of
        `leadline.data.reading.Reading`.
    on_run : callable, optional
        Called with (done, total) after each run.

    Returns
    -------
    Results
        Values of runs x queries x predictors; NaN where undefined.

    Raises
    ------
    UsageError
        If a predictor lacks data, or data are not used.

    Examples
    --------
    >>> results = predict({"a": {"q1": {"d1": 4.0, "d2": 2.0}, "q2": {"d1": 3.0, "d2": 3.0}}}, "NQC(tail)")
    >>> results.value("a", "q1", "NQC(tail)"), results.value("a", "q2", "NQC(tail)")
    (0.5, 0.0)
    """
    reading = Reading.of(predict, options, RunsOptions)
    sources = _sources(index, queries, vectors)
    chosen = _chosen(predictors, sources.given)
    read = [_predicted(info, run, chosen, sources) for info, run in each_run(runs, reading, on_run=on_run)]
    query_ids = Vocabulary.of_bytes(name for run_values in read for name in run_values.values)
    nothing = [float("nan")] * len(chosen)
    values = np.array(
        [[run_values.values.get(name, nothing) for name in query_ids.names] for run_values in read]
    )
    present = np.array([[name in run_values.values for name in query_ids.names] for run_values in read])
    return Predictions(
        [run_values.info for run_values in read],
        query_ids,
        chosen,
        values,
        np.ones(values.shape, dtype=np.bool_),
        present=present,
        warnings=[
            *selection_warnings([run_values.info for run_values in read]),
            *_warnings(read, chosen, values, present, sources),
        ],
        options={
            "predictors": list(map(str, chosen)),
            "index": shown(index),
            "queries": shown(queries),
            "vectors": shown(vectors),
            **reading.options(RunsOptions),
        },
        resolve=_Named(),
    )


def _sources(index: Any, queries: TextsLike | None, vectors: Any) -> _Sources:
    """Open index, queries and topic vectors; an index needs queries and vice versa."""
    together({"--index": index}, {"--queries": queries})
    parsed, theta, rows = None, None, {}
    if queries is not None:
        opened = index if isinstance(index, Index) else open_index(index)
        parsed = {to_bytes(query.id): Query.of(opened, query.content) for query in read_queries(queries)}
    if vectors is not None:
        from leadline.topics.infer import vectors_of

        found_vectors = vectors_of(vectors)
        theta = found_vectors.theta
        rows = {to_bytes(name): row for row, name in enumerate(found_vectors.ids)}
    return _Sources(parsed, theta, rows)


def _chosen(predictors: Any, given: frozenset[str]) -> list[Predictor]:
    """Parse the predictors; raise UsageError if data are missing or unused."""
    if predictors is None:
        usual = [one for kind in PREDICTORS.classes.values() for one in kind.usual()]
        return [one for one in usual if one.needs() <= given]
    listed = [predictors] if isinstance(predictors, (str, Predictor)) else list(predictors)
    made = dict.fromkeys(one if isinstance(one, Predictor) else PREDICTORS.parse(one) for one in listed)
    if not made:
        raise UsageError("no predictors were given. Leave out `predictors` to use all that the data allow.")
    for one in made:
        for lost in sorted(one.needs() - given):
            noun, options = WANTING[lost]
            raise UsageError(f"{one} needs {noun}. Add {options}.")
    unused = given.difference(*(one.needs() for one in made))
    for name in sorted(unused):
        raise UsageError(
            f"none of the chosen predictors uses {WANTING[name][0]}. Leave out {WANTING[name][1]}."
        )
    return list(made)


def _predicted(
    info: RunInfo, run: RunColumns, predictors: Sequence[Predictor], sources: _Sources
) -> _RunPredictions:
    """Return the predictions for all lists of a run."""
    names = run.documents.names
    ends = list(pairwise(run.offsets.tolist()))
    single = sum(high - low == 1 for low, high in ends)
    equal = sum(run.scores[low] == run.scores[high - 1] for low, high in ends if high - low > 1)
    row: Codes | None = None
    queries = sources.queries or {}
    if sources.theta is not None:
        row = np.array([sources.rows.get(name, -1) for name in names], dtype=np.int32)
    values = {}
    with np.errstate(over="ignore", invalid="ignore"):  # of scores near the largest number there is
        for name, (low, high) in zip(run.queries.names, ends, strict=True):
            document = run.document[low:high]
            answer = Answer(
                run.scores[low:high], queries.get(name), sources.theta, None if row is None else row[document]
            )
            predictions = [predictor.value(answer) for predictor in predictors]
            values[name] = [value if np.isfinite(value) else float("nan") for value in predictions]
    return _RunPredictions(info, values, single, equal, frozenset() if row is None else frozenset(names))


def _warnings(
    read: Sequence[_RunPredictions],
    predictors: Sequence[Predictor],
    values: Floats,
    present: Flags,
    sources: _Sources,
) -> list[ResultWarning]:
    """Return warnings of missing data and undefined predictions; queries and documents count once."""
    found = frozenset[bytes]().union(*(one.documents for one in read))
    of_scores = any(isinstance(one, (NQC, WIG)) for one in predictors)
    equal, single = (
        sum(getattr(one, name) for one in read) if of_scores else 0 for name in ("equal", "single")
    )
    known = sources.queries
    unknown = 0 if known is None else len({name for one in read for name in one.values if name not in known})
    without = sum(name not in sources.rows for name in found)
    missing = int((~present).any(axis=0).sum())
    lacking = over_runs(
        [one.info for one in read],
        (~present).sum(axis=1),
        ("query", "queries"),
        " missing{from_runs} (no prediction)",
    )
    undefined = np.isnan(values[present]).sum(axis=0)
    said = ", ".join(
        f"{one} {size:,}" for one, size in zip(predictors, undefined.tolist(), strict=True) if size
    )
    documents = counted(len(found), "retrieved document")
    return raised(
        ("missing_queries", lacking, missing),
        (
            "equal_scores",
            f"{counted(equal, 'list')} in which all scores are equal (NQC and WIG are not informative)",
            equal,
        ),
        (
            "single_documents",
            f"{counted(single, 'list')} with one document (no tail, so NQC and WIG are undefined)",
            single,
        ),
        (
            "unknown_queries",
            f"{queries(unknown)} without a text (predictors that need it are undefined)",
            unknown,
        ),
        ("without_vectors", f"{without:,} of {documents} without a topic vector (skipped)", without),
        ("undefined", f"undefined predictions: {said} (left out)", int(undefined.sum())),
    )


def over_queries(
    prediction: Results,
    truth: Mapping[str, Mapping[str, float]],
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Correlate predictions with a measure over queries, for each run and predictor.

    >>> lists = {"q1": {"d1": 4.0, "d2": 2.0}, "q2": {"d1": 3.0, "d2": 2.0}, "q3": {"d1": 1.0, "d2": 1.0}}
    >>> found = predict({"a": lists}, "WIG(tail)")
    >>> rows = over_queries(found, {"a": {"q1": 0.9, "q2": 0.5, "q3": 0.1}}, draws=0)
    >>> rows[0]["queries"], rows[0]["kendall"]["value"]
    (3, 1.0)
    """
    check_whole(0, draws=draws)
    checked_level(confidence)
    checked_seed(seed)
    rows = []
    for index, run in enumerate(prediction.names):
        if run not in truth:
            continue
        right = np.array([truth[run].get(query, np.nan) for query in prediction.queries])
        for column, predictor in enumerate(prediction.measures):
            defined = ~np.isnan(right) & ~np.isnan(prediction.values[index, :, column])
            x, y = right[defined], prediction.values[index, defined, column]
            row: dict[str, Any] = {"run": run, "predictor": str(predictor), "queries": int(defined.sum())}
            rows.append(row | _coefficients(x, y, draws, confidence, seed))
    if not any(row["queries"] for row in rows):
        what = "query" if rows else "run"
        raise InputError(
            f"no {what} has both predictions and per-query values",
            hint=f"Use the same {what} {'ids' if rows else 'names'} for predictions and values.",
        )
    return rows


def correlation_table(predictions: Predictions, rows: Sequence[Mapping[str, Any]], truth: str) -> Table:
    """Return the table of correlations with a measure over queries, one row per run and predictor."""
    parts = [(name, end) for name in ("pearson", "kendall") for end in ("value", "low", "high")]
    heads = ["Pearson", "low", "high", "Kendall tau-b", "tau low", "tau high"]
    columns = columns_of(
        ["run", "predictor", "queries", *heads],
        [
            [row["run"], row["predictor"], row["queries"], *(row[name][end] for name, end in parts)]
            for row in rows
        ],
    )
    options = predictions.options
    known = {row["run"] for row in rows}
    left = [name for name in predictions.names if name not in known]
    without = f"left out {counted(len(left), 'run')} without values in {truth} ({listed_few(left)})"
    notes = [
        f"{counted(len(known), 'run')}, correlation with {truth} over queries",
        *[without] * bool(left),
        f"low, high: {percent(options['confidence'])} interval ({options['draws']:,} query resamples)",
    ]
    return printed_table(columns, notes=[*notes, *map(str, predictions.warnings)])


def _coefficients(x: Floats, y: Floats, draws: int, confidence: float, seed: int) -> dict[str, Any]:
    """Return each coefficient with its confidence interval; None where undefined."""
    queries = list(map(str, range(len(x))))
    if not len(x) or np.ptp(x) == 0 or np.ptp(y) == 0:
        return {name: {"value": None, "low": None, "high": None} for name in COEFFICIENTS}
    coefficients = {}
    for name, coefficient in COEFFICIENTS.items():
        low, high = bootstrap_interval(
            partial(coefficient, x, y), queries, draws=draws, seed=seed, level=confidence
        )
        value = coefficient(x, y)
        coefficients[name] = {"value": plain(value), "low": plain(low), "high": plain(high)}
    return coefficients


KINDS = ("heat-map", "scatter")
Truth = Mapping[str, Mapping[str, float]]


def rank_shares(values: Floats) -> Floats:
    """Return the rank of each value in its row, from 0 (lowest) to 1 (highest); 1/2 if there is only one.

    >>> rank_shares(np.array([[0.1, 900.0, 0.3, np.nan], [2.0, 2.0, 2.0, 2.0]])).tolist()
    [[0.0, 1.0, 0.5, nan], [0.5, 0.5, 0.5, 0.5]]
    """
    defined = ~np.isnan(values)
    number = defined.sum(axis=1, keepdims=True)
    below = number - mid_ranks(values)  # NaN ranks last
    shares = np.where(number > 1, below / np.maximum(number - 1, 1), 0.5)
    return np.where(defined, shares, np.nan)
