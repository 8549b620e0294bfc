"""Values of runs with any judgments: evaluated with all of them, or estimated from a drawn sample."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack

from leadline.data.qrels import Qrels
from leadline.data.reading import (
    Cut,
    CutReadingOptions,
    NegativeOptions,
    Reading,
    ReadingOptions,
    RunsOptions,
)
from leadline.data.results import Results
from leadline.errors import UsageError
from leadline.evaluation.estimated_recall import PoolLike, is_sample
from leadline.evaluation.evaluate import evaluate as exact
from leadline.evaluation.join import listed_runs
from leadline.evaluation.profiles import Averaging
from leadline.io.read import KnownLike, QrelsLike, RunLike, judgments_of
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.stats import Interval

if TYPE_CHECKING:
    from leadline.estimation.estimate import EstimatedResults
    from leadline.io.pool_files import DrawnPool

WITHOUT_POOL = "machine labels without a drawn pool; expected --pool POOL too"
READING = ReadingOptions.__annotations__.keys() - {"name_by"}
DEFAULTS = {one.name: one.default for one in inspect.signature(exact).parameters.values()} | {
    one.name: one.default for kind in (Reading, Cut) for one in fields(kind)
}


@public
def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    *,
    profile: str = "leadline",
    rel: float | None = None,
    documents: int | None = None,
    queries: Averaging | None = None,
    known: KnownLike | None = None,
    pool: PoolLike | None = None,
    machine: QrelsLike | None = None,
    relevance_strings: int | None = None,
    bounds: bool = False,
    intervals: bool | str | Interval = False,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[CutReadingOptions],
) -> Results:
    """Evaluate runs against relevance judgments.

    Judgments are complete, pooled, or those of a drawn pool. By default means are over all queries of the
    qrels. Queries that are missing from a run or have no relevant document count 0, and are counted in
    `warnings`.

    Parameters
    ----------
    qrels : path, mapping or frame
        Relevance judgments.
    runs : path, mapping, frame, or several of these
        One run or more.
    measures : str, Measure, or iterable of these, optional
        Measures; by default AP, nDCG@10, RR, P@10, R@100 and Judged@10; P@10 and nDCG@10 with a
        drawn pool.
    profile : {"leadline", "trec9", "trec10"}
        Conventions of computing and averaging.
    rel : float, optional
        Minimum grade that counts as relevant, for measures that do not set their own.
    documents : int, optional
        Number of documents in the collection.
    queries : {"all", "both", "with_relevant", "complete"}, optional
        Queries to average over: all judged ones, those that are also in the run, or those with a relevant
        document; with "complete", runs with missing queries have no mean. By default that of the profile.
    known : path or mapping, optional
        Documents that the user knew before, as a file or as `{query: [document, ...]}`.
    pool : path, DrawnPool, Pooled or mapping, optional
        Pool of the judged documents, as a file or `{query: {document: probability}}`; by default that of the
        judgments, if they have inclusion probabilities. If one of these is below 1, values are estimates.
    machine : qrels, optional
        Labels by an automatic judge of the documents of a drawn pool, from which grades are predicted. If
        these are the judgments themselves, a warning says so.
    relevance_strings : int, optional
        Number of documents of every list whose grades are kept as text.
    bounds : bool, default False
        Whether to add the range of values over the orders of tied documents and the grades of unjudged ones.
    intervals : bool or str, default False
        Whether to add confidence intervals of the means, or their method, such as "BCa".
    confidence : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Seed of the random number generator, for bootstrap intervals and those of estimates.
    on_run : callable, optional
        Called with the numbers of finished runs and of all runs after each run.
    **options
        How runs and judgments are read: `order`, `on_duplicate`, `on_nan`, `name_by`, `negative`, `subtopics`
        (see `leadline.data.reading.Reading`). `depth` cuts each list, then `judged_only` drops unjudged
        documents.

    Returns
    -------
    Results
        Values and means; `EstimatedResults` if a pair had an inclusion probability below 1.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> results = evaluate(qrels, {"q1": {"d2": 2.0, "d1": 1.0}}, ["AP", "nDCG@10"])
    >>> results.mean("run", "AP")
    0.5
    """
    return measured(
        qrels,
        runs,
        measures,
        pool=pool,
        machine=machine,
        rel=rel,
        confidence=confidence,
        seed=seed,
        on_run=on_run,
        profile=profile,
        documents=documents,
        queries=queries,
        known=known,
        relevance_strings=relevance_strings,
        bounds=bounds,
        intervals=intervals,
        **options,
    )


def same_labels(judgments: object, labels: object) -> bool:
    """Return whether judgments and labels are one object or one file."""
    given = [
        one.sources[0] if isinstance(one, Qrels) and len(one.sources) == 1 else one
        for one in (judgments, labels)
    ]
    paths = [os.path.realpath(one) for one in given if isinstance(one, (str, os.PathLike))]
    return judgments is labels or (len(paths) == 2 and paths[0] == paths[1])


def measured(
    qrels: QrelsLike,
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    *,
    pool: Any = None,
    machine: QrelsLike | None = None,
    rel: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Results:
    """Return the values of runs: estimates if the judgments are a sample.

    Parameters
    ----------
    qrels, runs, measures, rel, on_run
        As in `evaluate`.
    pool : path, DrawnPool or other pool, optional
        The pool that the judgments are of, with the probabilities with which its pairs were drawn. By default
        that of the judgments: of a store, or their column `probability`.
    machine : qrels, optional
        Labels by an automatic judge of the documents of a drawn pool, from which grades are predicted.
    confidence, seed
        Of the intervals of estimates.
    **options
        Options of `evaluate`. Estimates take those of reading runs only.

    Returns
    -------
    Results
        `EstimatedResults` if a pair had a probability below 1.

    Raises
    ------
    UsageError
        If options of complete judgments come with a drawn pool, or machine labels without one.

    Examples
    --------
    >>> from leadline.estimation.pool_designs import pool_for
    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    >>> pool = pool_for(runs, "P@2", budget=3).pool
    >>> grades = {"q": {"d1": 1, "d2": 0, "d3": 0}}
    >>> measured(grades, runs, "P@2", pool=pool).means.tolist()
    [[0.5], [0.5]]
    """
    runs = listed_runs(runs)
    reading = Reading.of(evaluate, {name: options[name] for name in READING & options.keys()})
    table = judgments_of(qrels, reading)
    draw = drawn_from(table, pool, measures)
    if draw is None:
        if machine is not None and not (same_labels(qrels, machine) or same_labels(table, machine)):
            raise UsageError(WITHOUT_POOL)
        return exact(
            table,
            runs,
            measures,
            pool=pool,
            machine=machine is not None,
            rel=rel,
            confidence=confidence,
            seed=seed,
            on_run=on_run,
            **options,
        )
    from leadline.estimation.estimate import estimate

    of_runs = {name: value for name, value in options.items() if name in RunsOptions.__annotations__}
    for name in options.keys() - of_runs.keys() - NegativeOptions.__annotations__.keys():
        if options[name] != DEFAULTS.get(name):
            raise UsageError(f"{name} with a drawn pool; expected options of reading runs only")
    return estimate(
        table,
        runs,  # type: ignore[arg-type]  # checked when it is read
        measures,  # type: ignore[arg-type]  # checked when it is parsed
        pool=draw,
        machine=machine,
        rel=rel,
        confidence=confidence,
        seed=seed,
        on_run=on_run,
        **of_runs,
    )


def drawn_from(table: Qrels, pool: PoolLike | None, measures: object = None) -> DrawnPool | None:
    """Return the pool that judgments were drawn from; None if they were certain, or only statAP is wanted."""
    if pool is None and not is_sample(table):
        return None
    from leadline.estimation.samples import draw_of  # slow to import

    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures or ())  # type: ignore[call-overload]
    if listed and all(str(one).lower().startswith("statap") for one in listed):
        return None
    return draw_of(table, pool)


def estimates_of(results: Results) -> EstimatedResults | None:
    """Return results as estimates with their sampling errors; None if they are none, or were saved."""
    if results.withheld is None:
        return None
    from leadline.estimation.estimate import EstimatedResults  # slow to import

    return results if isinstance(results, EstimatedResults) else None
