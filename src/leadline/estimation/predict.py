"""Predict how well each query was answered, without judgments: runs (+ index, vectors) -> Predictions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.reading import Reading, RunsOptions
from leadline.data.results import Results, ResultWarning, RunInfo, plain
from leadline.data.run import Run
from leadline.data.validation import check_numbers, check_whole
from leadline.errors import InputError, UsageError
from leadline.estimation.predictors import INDEX, PREDICTORS, VECTORS, Answer, Predictor
from leadline.evaluation.join import each_run
from leadline.io.read import RunLike
from leadline.io.texts import TextsLike, read_queries, shown
from leadline.retrieval.index import open_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models.query_plan import Query
from leadline.stats import checked_level, checked_seed
from leadline.stats.correlation import kendall, pearson
from leadline.stats.resampling import draws_of_teams, interval

if TYPE_CHECKING:
    from leadline.topics.infer import Vectors


WANTING = {
    INDEX: "an index and queries; expected --index INDEX and --queries QUERIES",
    VECTORS: "topic vectors; expected --topics VECTORS",
}
COEFFICIENTS = {"pearson": pearson, "kendall": kendall}


class Predictions(Results):
    """Predictions of runs x queries x predictors; larger is better, and there is no unit."""

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """Return the predictions as plain data: `predictors`, `queries`, `runs`; None is undefined."""
        found = super().to_dict(per_query=per_query)
        return {"predictors": found.pop("measures")} | found


class _Sources(NamedTuple):
    """What predictors may look at beside the scores."""

    collection: Index | None = None
    queries: Mapping[bytes, Query] = {}  # never written to
    theta: Floats | None = None
    rows: Mapping[bytes, int] = {}

    @property
    def given(self) -> frozenset[str]:
        """Say what is there."""
        known = {INDEX: self.collection is not None, VECTORS: self.theta is not None}
        return frozenset(name for name, there in known.items() if there)


class _Read(NamedTuple):
    """One run: what is known of it, the predictions of each of its queries, and what was counted."""

    info: RunInfo
    values: dict[bytes, list[float]]
    counts: dict[str, int]


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
    """Predict how well systems answered each query, from their lists and without judgments.

    Where no predictor is named, all are taken that what is given suffices for: scores alone for NQC(tail)
    and WIG(tail), `index` and the texts of the `queries` for Clarity, topic `vectors` of documents for
    DeShaTo. The result is runs x queries x predictors; larger is better, there is no unit, and the mean of
    a run leaves undefined values out. Queries are those that any run has. `options` say how
    runs are read: `order`, `on_duplicate`, `on_nan` and `name_by` of `leadline.data.reading.Reading`.

    Source: each predictor names its own.

    >>> found = predict({"a": {"q1": {"d1": 4.0, "d2": 2.0}, "q2": {"d1": 3.0, "d2": 3.0}}}, "NQC(tail)")
    >>> found.value("a", "q1", "NQC(tail)"), found.value("a", "q2", "NQC(tail)")
    (0.5, 0.0)
    """
    reading = Reading.of(predict, options, RunsOptions)
    sources = _sources(index, queries, vectors)
    chosen = _chosen(predictors, sources.given)
    read = [_predicted(info, run, chosen, sources) for info, run in each_run(runs, reading, on_run=on_run)]
    known = Vocabulary.of_bytes(name for one in read for name in one.values)
    nothing = [float("nan")] * len(chosen)
    values = np.array([[one.values.get(name, nothing) for name in known.names] for one in read])
    present = np.array([[name in one.values for name in known.names] for one in read])
    return Predictions(
        [one.info for one in read],
        known,
        chosen,
        values,
        np.ones(values.shape, dtype=np.bool_),
        present=present,
        warnings=_notices(read, chosen, values, present),
        options={
            "predictors": list(map(str, chosen)),
            "index": shown(index),
            "queries": shown(queries),
            "vectors": shown(vectors),
            **reading.options(RunsOptions),
        },
        meaning=PREDICTORS.expand_all,
    )


def _sources(index: Any, queries: TextsLike | None, vectors: Any) -> _Sources:
    """Open what was given; an index and queries come together."""
    if (index is None) != (queries is None):
        found, lost = ("an index", "--queries") if queries is None else ("queries", "--index")
        raise UsageError(f"{found} without {lost}; expected both, or neither")
    opened, asked, theta, rows = None, {}, None, {}
    if queries is not None:
        opened = index if isinstance(index, Index) else open_index(index)
        asked = {to_bytes(one.id): Query.of(opened, one.content) for one in read_queries(queries)}
    if vectors is not None:
        from leadline.estimation.document_topics import checked_vectors

        found_vectors = checked_vectors(vectors)
        theta = found_vectors.theta
        rows = {to_bytes(name): row for row, name in enumerate(found_vectors.ids)}
    return _Sources(opened, asked, theta, rows)


def _chosen(predictors: Any, given: frozenset[str]) -> list[Predictor]:
    """Make the predictors that were asked for; refuse those that lack something, and what none looks at."""
    if predictors is None:
        usual = [one for kind in PREDICTORS.classes.values() for one in kind.usual()]
        return [one for one in usual if one.needs() <= given]
    listed = [predictors] if isinstance(predictors, (str, Predictor)) else list(predictors)
    made = dict.fromkeys(one if isinstance(one, Predictor) else PREDICTORS.parse(one) for one in listed)
    if not made:
        raise UsageError("no predictor; expected one, as in " + ", ".join(PREDICTORS.classes))
    for one in made:
        for lost in sorted(one.needs() - given):
            raise UsageError(f"{one} without {WANTING[lost]}")
    unused = given.difference(*(one.needs() for one in made))
    for name in sorted(unused):
        noun = WANTING[name].partition(";")[0]
        raise UsageError(f"{noun}, which no predictor asked for looks at; expected none")
    return list(made)


def _predicted(info: RunInfo, run: Run, predictors: Sequence[Predictor], sources: _Sources) -> _Read:
    """Predict every list of a run."""
    names = run.documents.names
    ends = list(pairwise(run.offsets.tolist()))
    counts = {
        "documents": len(names),
        "single_documents": sum(high - low == 1 for low, high in ends),
        "equal_scores": sum(run.scores[low] == run.scores[high - 1] for low, high in ends if high - low > 1),
    }
    code: Integers | None = None
    row: Codes | None = None
    if sources.collection is not None:
        code = sources.collection.document_codes(names)
        counts["unindexed_documents"] = int((code < 0).sum())
        counts["unknown_queries"] = sum(name not in sources.queries for name in run.queries.names)
    if sources.theta is not None:
        row = np.array([sources.rows.get(name, -1) for name in names], dtype=np.int32)
        counts["without_vectors"] = int((row < 0).sum())
    values = {}
    with np.errstate(over="ignore", invalid="ignore"):  # of scores near the largest number there is
        for name, (low, high) in zip(run.queries.names, ends, strict=True):
            document = run.document[low:high]
            answer = Answer(
                run.scores[low:high],
                sources.collection,
                None if code is None else code[document],
                sources.queries.get(name),
                sources.theta,
                None if row is None else row[document],
            )
            found = [one.value(answer) for one in predictors]
            values[name] = [value if np.isfinite(value) else float("nan") for value in found]
    return _Read(info, values, counts)


def _notices(
    read: Sequence[_Read], predictors: Sequence[Predictor], values: Floats, present: Any
) -> list[ResultWarning]:
    """Say what was missing, and where no prediction can be made."""
    total = {
        name: sum(one.counts.get(name, 0) for one in read)
        for name in (
            "documents",
            "unindexed_documents",
            "unknown_queries",
            "without_vectors",
            "equal_scores",
            "single_documents",
        )
    }
    missing = int((~present).sum())
    undefined = np.isnan(values[present]).sum(axis=0)
    said = ", ".join(
        f"{one} {size}" for one, size in zip(predictors, undefined.tolist(), strict=True) if size
    )
    documents = total["documents"]
    words = {
        "missing_queries": f"lists that runs lack: {missing}; nothing is predicted of them",
        "equal_scores": "lists whose scores are all equal: {count}; scores tell nothing of them",
        "single_documents": "lists of one document: {count}; they have no tail",
        "unindexed_documents": f"documents that the index lacks: {{count}} of {documents}; passed over",
        "unknown_queries": "queries of runs without a text: {count}; undefined where one is needed",
        "without_vectors": f"documents without a topic vector: {{count}} of {documents}; passed over",
        "undefined": f"undefined predictions: {said}; left out of means",
    }
    counts = total | {"missing_queries": missing, "undefined": int(undefined.sum())}
    return [
        ResultWarning(code, text.format(count=counts[code]), counts[code])
        for code, text in words.items()
        if counts[code]
    ]


def over_queries(
    prediction: Results,
    truth: Mapping[str, Mapping[str, float]],
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Correlate every predictor with a measure over the queries of every run that both have.

    `truth` is `{run: {query: value}}`. Pearson's r and Kendall's tau-b, with percentile intervals of `draws`
    resamples of the queries; queries that are undefined on a side are left out.

    >>> lists = {"q1": {"d1": 4.0, "d2": 2.0}, "q2": {"d1": 3.0, "d2": 2.0}, "q3": {"d1": 1.0, "d2": 1.0}}
    >>> found = predict({"a": lists}, "WIG(tail)")
    >>> rows = over_queries(found, {"a": {"q1": 0.9, "q2": 0.5, "q3": 0.1}}, draws=0)
    >>> rows[0]["queries"], rows[0]["kendall"]["value"]
    (3, 1.0)
    """
    check_whole(0, draws=draws)
    check_numbers(confidence=confidence)
    checked_level(confidence)
    checked_seed(seed)
    found = []
    for place, run in enumerate(prediction.names):
        if run not in truth:
            continue
        right = np.array([truth[run].get(query, np.nan) for query in prediction.queries])
        for column, predictor in enumerate(prediction.measures):
            known = ~np.isnan(right) & ~np.isnan(prediction.values[place, :, column])
            x, y = right[known], prediction.values[place, known, column]
            row: dict[str, Any] = {"run": run, "predictor": str(predictor), "queries": int(known.sum())}
            found.append(row | _coefficients(x, y, draws, confidence, seed))
    if not found:
        raise InputError(
            "no run has both predictions and values of queries", expected="runs of the same names"
        )
    return found


def _coefficients(x: Floats, y: Floats, draws: int, confidence: float, seed: int) -> dict[str, Any]:
    """Give each coefficient with its interval; None where there is none."""
    each = list(map(str, range(len(x))))
    drawn = list(draws_of_teams(each, samples=draws, seed=seed))
    if not len(x) or np.ptp(x) == 0 or np.ptp(y) == 0:
        return {name: {"value": None, "low": None, "high": None} for name in COEFFICIENTS}
    found = {}
    for name, coefficient in COEFFICIENTS.items():
        low, high = interval([coefficient(x, y, times) for times in drawn], confidence)
        value = coefficient(x, y)
        found[name] = {"value": plain(value), "low": plain(low), "high": plain(high)}
    return found
