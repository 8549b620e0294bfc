"""Values of runs with any judgments: evaluated with all of them, or estimated from a drawn sample."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from leadline.data.reading import (
    Cut,
    CutReadingOptions,
    NegativeOptions,
    Reading,
    ReadingOptions,
    RunsOptions,
    refuse_unknown,
)
from leadline.data.registry import split_names
from leadline.data.table import ResultWarning
from leadline.data.wording import counted
from leadline.errors import UsageError, both
from leadline.evaluation.evaluate import Evaluation, PartOptions
from leadline.evaluation.evaluate import evaluate as exact
from leadline.evaluation.join import listed_runs
from leadline.evaluation.profiles import Averaging, MeasuresLike, RunsLike, divided
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import machine_labels
from leadline.io.objects import Qrels, judgments_of
from leadline.io.read import KnownLike, QrelsLike
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.result import Result
from leadline.stats import Interval

if TYPE_CHECKING:
    from leadline.data.judgment_tables import DrawnPool
    from leadline.estimation.estimate import EstimatedResults
    from leadline.io.pool_files import PoolLike

WITHOUT_POOL = (
    "{} only to estimates from a sampled pool, and not to statAP. Pass a pool from `leadline pool --for` "
    "with `--pool`."
)
T = TypeVar("T")  # of labels
READING = ReadingOptions.__annotations__.keys() - {"name_by"}
DEFAULTS = {one.name: one.default for one in inspect.signature(Evaluation).parameters.values()} | {
    one.name: one.default for kind in (Reading, Cut) for one in fields(kind)
}


@public
def evaluate(
    qrels: QrelsLike,
    *runs_and_measures: RunsLike | MeasuresLike | None,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    profile: str = "leadline",
    rel: float | None = None,
    documents: int | None = None,
    queries: Averaging | None = None,
    known: KnownLike | None = None,
    pool: PoolLike | Result | None = None,
    machine: QrelsLike | None = None,
    second_judge: QrelsLike | None = None,
    second_pool: PoolLike | None = None,
    relevance_strings: int | None = None,
    bounds: bool = False,
    query_weights: str | Mapping[str, float] | None = None,
    intervals: bool | str | Interval = False,
    confidence: float | None = None,
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
    *runs_and_measures : path, mapping, frame or list of these; then measures
        The runs, one or more, until the first measure or list of measures. `{name: run}` names runs; several
        others in memory are called "run 1", "run 2", ... `runs` and `measures` are the same by keyword.
    runs : path, mapping, frame, or several of these
        One run or more.
    measures : str, Measure, or iterable of these, optional
        Measures; by default AP, nDCG@10, RR, P@10, R@100 and Judged@10; with a drawn pool those that it
        was drawn for.
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
    pool : path, result of `pool`, or mapping, optional
        Pool of the judged documents: a file, as drawn, or `{query: {document: probability}}`. By default that
        of the judgments, if they have inclusion probabilities. If one is below 1, values are estimates.
    machine : qrels, optional
        Labels by an automatic judge of the documents of a drawn pool, from which grades are predicted; by
        default those that the pool names, and "none" to go without. If these are the judgments themselves, a
        warning says so.
    second_judge : qrels, optional
        Judgments by a second judge of pairs that `pool --twice` drew from those of a drawn pool. Values are
        then those that the second judge would give.
    second_pool : path, optional
        Pool of these pairs; by default that of the second judgments.
    relevance_strings : int, optional
        Number of documents of every list whose grades are kept as text.
    bounds : bool, default False
        Whether to add the range of values over the orders of tied documents and the grades of unjudged ones.
    query_weights : str or mapping, optional
        Weight of every query in the means, such as its share of traffic: FILE:COLUMN, or `{query: weight}`.
    intervals : bool or str, default False
        Whether to add confidence intervals of the means, or their method, such as "BCa".
    confidence : float, optional
        Confidence level of the intervals, by default 0.95; without `intervals`, only estimates have them.
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
    runs, measures = divided(runs_and_measures, runs, measures, profile=profile)
    if runs is None:
        refuse_unknown(evaluate, options, PartOptions.__annotations__)
        raise UsageError("no runs were given. Call evaluate(qrels, runs).")
    found = measured(
        qrels,
        runs,
        measures,
        pool=pool,
        machine=machine,
        second_judge=second_judge,
        second_pool=second_pool,
        rel=rel,
        confidence=0.95 if confidence is None else confidence,
        seed=seed,
        on_run=on_run,
        profile=profile,
        documents=documents,
        queries=queries,
        known=known,
        relevance_strings=relevance_strings,
        bounds=bounds,
        query_weights=query_weights,
        intervals=intervals,
        **options,
    )
    if found.sampling is None:  # estimates have intervals anyway
        both({"--confidence": confidence}, {"--intervals": intervals})
    return found


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
    runs: RunsLike,
    measures: MeasuresLike | None = None,
    *,
    pool: Any = None,
    machine: QrelsLike | None = None,
    second_judge: QrelsLike | None = None,
    second_pool: PoolLike | None = None,
    rel: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    default: Sequence[str] | None = None,
    verdict: bool = False,
    **options: Any,
) -> Results:
    """Return the values of runs as `evaluate` does: estimates if the judgments are a sample.

    `default` are the measures of complete judgments; of a drawn pool they are those it was drawn for. With
    `verdict`, values are for tests: of a pool with looks, those of its last look, and intervals have its
    share of alpha. Estimates take the options of reading runs only.

    >>> from leadline.estimation.pool_designs import pool_for
    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    >>> pool = pool_for(runs, "P@2", budget=3).pool
    >>> grades = {"q": {"d1": 1, "d2": 0, "d3": 0}}
    >>> measured(grades, runs, "P@2", pool=pool).means.tolist()
    [[0.5], [0.5]]
    """
    both({"--config read.second_pool": second_pool}, {"--config read.second_judge": second_judge})
    runs = listed_runs(runs)
    if isinstance(pool, Result):
        pool = getattr(pool, "pool", None) or getattr(pool, "whole", pool)  # of a measured or another pool
    reading = Reading.of(evaluate, {name: options[name] for name in READING & options.keys()})
    table = judgments_of(qrels, reading)
    draw = drawn_from(table, pool, measures)
    if measures is None:
        measures = default_measures(draw, default)
    if draw is not None:
        machine = labels_of(draw, machine)
    same = machine is not None and (same_labels(qrels, machine) or same_labels(table, machine))
    if draw is None:
        if machine is not None and not same:
            raise UsageError(WITHOUT_POOL.format("LLM labels apply"))
        if second_judge is not None:
            raise UsageError(WITHOUT_POOL.format("a second judge applies"))
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
    from leadline.estimation.measured_pool import Look, at_look, judged_again, looks_of

    of_runs = {name: value for name, value in options.items() if name in RunsOptions.__annotations__}
    refuse_unknown(evaluate, options, PartOptions.__annotations__)
    for name in options.keys() - of_runs.keys() - NegativeOptions.__annotations__.keys():
        if options[name] != DEFAULTS.get(name):
            from leadline.estimation.designs import NO_ESTIMATE

            reasons = {
                "lengths": NO_ESTIMATE["WithinBudget"],
                "intervals": "estimates come with intervals wherever these are valid",
            }
            why = f", because {reasons[name]}" if name in reasons else ""
            in_read = name in ("documents", "known", "lengths", "subtopics")
            group = "read" if in_read else "scores" if name == "queries" else ""
            option = f"--config {group}.{name}" if group else "--" + name.replace("_", "-")
            raise UsageError(f"`{option}` does not apply to a sampled pool{why}. Leave out `{option}`.")
    if same:  # the judgments are the labels
        table, machine = copy(table), None
        table.remarks += tuple((one.code, one.message, one.count) for one in machine_labels(table))
    look = None
    if verdict and table.selected is not None and draw.design.get("looks", 1) > 1:
        raise UsageError(
            "a verdict at a look needs all queries of the pool, but these judgments are only for selected "
            "queries. Pass the judgments for all queries, without --config read.queries_in."
        )
    if verdict:
        draw, look = at_look(draw, table.to_dict())
    level = confidence if look is None else 1.0 - (1.0 - confidence) / look.looks
    warnings: list[ResultWarning] = []
    twice = None
    if second_judge is not None:
        from leadline.estimation.samples import grades_of

        in_pool = grades_of(table).keys() & set(draw.names())
        twice = judged_again(second_judge, second_pool, in_pool, warnings, table.selected)
    results = estimate(
        table,
        runs,  # type: ignore[arg-type]  # checked when it is read
        measures,  # type: ignore[arg-type]  # checked when it is parsed
        pool=draw,
        machine=machine,
        rel=rel,
        confidence=level,
        seed=seed,
        twice=twice,
        on_run=on_run,
        **of_runs,
    )
    results.warnings += warnings
    results.look = look
    looks = looks_of(draw)
    if not verdict and looks:
        results.look = Look(0, len(looks), 0, looks[-1])
    elif look is not None:
        results.warnings = [one for one in results.warnings if one.code != "outside_pool"]
        results.warnings.insert(0, ResultWarning("look", look.message, look.number))
    return results


def labels_of(pool: DrawnPool, given: T | None) -> T | str | None:
    """Return the machine labels: those given, or the file that a pool names; "none" means no labels."""
    if given is not None:
        return None if isinstance(given, str) and given == "none" else given
    path = pool.design.get("machine")
    if not isinstance(path, str):
        return None
    if not os.path.exists(path):
        raise UsageError(
            f"the pool refers to LLM labels in {path}, but this file does not exist. Pass the labels "
            "with --machine, or use --machine none to go without labels."
        )
    return path


def drawn_from(table: Qrels, pool: PoolLike | None, measures: object = None) -> DrawnPool | None:
    """Return the pool that judgments were drawn from; None if they were certain, or only statAP is wanted."""
    if pool is None and not table.is_sample:
        return None
    from leadline.estimation.samples import draw_of, grades_of  # slow to import

    draw = draw_of(table, pool)
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures or ())  # type: ignore[call-overload]
    names = [name for one in listed for name in split_names(str(one))]
    if not names or not all(name.lower().startswith("statap") for name in names):
        return draw
    lacking = 0 if draw is None else len(set(draw.drawn_rows()) - grades_of(table).keys())
    if lacking:
        without = counted(lacking, "pair has", "pairs have")
        use = ", or use AP" * bool(draw is not None and draw.design)  # whose frame AP needs
        raise UsageError(
            f"statAP needs judgments of all drawn pairs, but {without} none. Judge the rest of the pool{use}."
        )
    return None


def default_measures(draw: DrawnPool | None, complete: Sequence[str] | None) -> Sequence[str] | None:
    """Return the measures that a pool was drawn for; without a draw, those of complete judgments."""
    if draw is None:
        return complete
    from leadline.estimation.estimate import DEFAULT_MEASURES  # slow to import

    return tuple(map(str, draw.design.get("measures", ()))) or DEFAULT_MEASURES


def estimates_of(results: Results) -> EstimatedResults | None:
    """Return results as estimates with their sampling errors; None if they are none, or were saved."""
    if results.withheld is None:
        return None
    from leadline.estimation.estimate import EstimatedResults  # slow to import

    return results if isinstance(results, EstimatedResults) else None
