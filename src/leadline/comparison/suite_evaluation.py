"""Evaluation of suites: many runs on many collections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from leadline.comparison.compare import compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import check_averages, check_judged, listed_names
from leadline.comparison.rules import SuiteRules
from leadline.comparison.suite_files import Collection, input_digest, read_suite
from leadline.comparison.suite_result import Suite
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import CutReadingOptions, refuse_unknown
from leadline.data.validation import check_flags
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.evaluate import Evaluation
from leadline.evaluation.profiles import Averaging
from leadline.evaluation.results import Results
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.scale.engines import Engine, engine_of
from leadline.scale.evaluate_parts import evaluated
from leadline.scale.run_parts import RunParts
from leadline.stats import Correction, PairedTest


class SuiteOptions(CutReadingOptions, total=False):
    """Keywords of `evaluate` that apply to every collection of a suite."""

    profile: str
    queries: Averaging | None


@public
def suite(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    baseline: str | Sequence[str] | None = None,
    test: str | PairedTest = "T",
    correction: str | Correction = "Holm",
    confidence: float = 0.95,
    seed: int = 0,
    partial: bool = False,
    engine: str | Engine = "local",
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[SuiteOptions],
) -> Suite:
    """Evaluate many runs on many collections, and compare them within and over the collections.

    Parameters
    ----------
    source : path or mapping
        TOML file, folder of COLLECTION/qrels.txt and COLLECTION/runs/*, or the content of such a file as a
        mapping. A run is the same on all collections if it has the same name.
    measures : str, Measure, or iterable of these, optional
        Measures, in place of those of the file; by default nDCG@10.
    baseline : str or sequence of str, optional
        Runs with which all others are compared; all pairs of runs by default.
    test : {"T", "Randomisation"}
        Paired test, within each collection and over them.
    correction : str, default "Holm"
        Correction for the pairs of one measure; a joint procedure (MaxT, Tukey) is refused.
    confidence : float, default 0.95
        Confidence level.
    seed : int, default 0
        Seed of the random number generator.
    partial : bool, default False
        Whether a run that lacks a collection is averaged over those it has; otherwise it has no macro mean.
    engine : str, default "local"
        Where runs are evaluated, as in `evaluate_runs`.
    on_run : callable, optional
        Called with the numbers of finished and of all runs on collections.
    **options
        Options of `evaluate`: profile, queries, and how runs are read.

    Returns
    -------
    Suite

    Raises
    ------
    InputError
        If the file of the suite is invalid, or a run or judgments cannot be read.
    UsageError
        If options are invalid or contradict each other.

    Examples
    --------
    >>> runs = {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"x": 2.0, "d1": 1.0}}}
    >>> one = {"qrels": {"q1": {"d1": 1}}, "runs": runs}
    >>> two = {"qrels": {"q7": {"d1": 1}}, "runs": {"a": {"q7": {"d2": 2.0, "d1": 1.0}}}}
    >>> result = suite({"collections": {"one": one, "two": two}, "measures": ["RR"]})
    >>> result.macro.tolist(), result.missing
    ([[0.75], [nan]], [('b', 'two')])
    """
    refuse_unknown(suite, options, SuiteOptions)
    check_flags(partial=partial)
    found = read_suite(source)
    rules = SuiteRules.of(
        test=test,
        correction=correction,
        confidence=confidence,
        seed=seed,
        baselines=tuple(listed_names(() if baseline is None else baseline)),
        partial=partial,
    )
    wanted = found.measures if measures is None else measures
    chosen = engine if isinstance(engine, Engine) else engine_of(engine)
    total, inputs = sum(len(each.runs) for each in found.collections), []
    results: dict[str, Results] = {}
    for collection in found.collections:
        before = sum(len(each.runs) for each in results.values())

        def advance(done: int, _: int, before: int = before) -> None:
            if on_run is not None:
                on_run(before + done, total)

        with _named(collection):
            each = results[collection.name] = _evaluated(collection, wanted, options, chosen, advance)
            check_averages(each)
            check_judged(each)
        inputs += _inputs(collection, each)
    compared = {name: _compared(each, rules) for name, each in results.items()}
    first = next(iter(results.values()))
    texts = [str(measure) for measure in first.measures]
    return Suite(
        results,
        {name: each for name, each in compared.items() if each is not None},
        rules,
        groups=found.groups,
        inputs=inputs,
        options={
            "suite": found.path,
            "measures": texts,
            "baseline": list(rules.baselines),
            **{name: rules.shown()[name] for name in ("test", "correction", "confidence", "seed", "partial")},
            "groups": found.groups or {},
            "engine": str(chosen),
            "collections": {
                each.name: {"documents": each.documents, "level": each.level} for each in found.collections
            },
            **{
                name: value
                for name, value in first.options.items()
                if name in SuiteOptions.__annotations__ and name != "name_by"
            },
        },
    )


def _evaluated(
    collection: Collection,
    measures: Any,
    options: Mapping[str, Any],
    engine: Engine,
    on_run: Callable[[int, int], None],
) -> Results:
    """Return the results of all runs on a collection."""
    used = {name: value for name, value in options.items() if name != "name_by"}
    evaluation = Evaluation(
        collection.qrels, measures, documents=collection.documents, rel=collection.level, **used
    )
    refuse_sample(evaluation.qrels)
    if evaluation.qrels.inclusion is not None:
        raise UsageError(
            "Suites do not support judgments with inclusion probabilities. Use judgments without them."
        )
    runs = [RunParts([source], name=name) for name, source in collection.runs.items()]
    return evaluated(evaluation, runs, engine, "stop", on_run)


def _inputs(collection: Collection, results: Results) -> list[dict[str, Any]]:
    """Describe the judgments and the runs of a collection."""
    assert isinstance(results.qrels, QrelsColumns)
    sources = [(collection.qrels, len(results.qrels.grades))]
    sources += [(collection.runs[info.name], info.counts["documents_read"]) for info in results.runs]
    return [
        {
            "path": source if isinstance(source, str) else "in memory",
            "sha256": input_digest(source),
            "rows": rows,
            "collection": collection.name,
        }
        for source, rows in sources
    ]


@contextmanager
def _named(collection: Collection) -> Iterator[None]:
    """Give errors without a file the name of the collection."""
    try:
        yield
    except LeadlineError as error:
        if isinstance(error, InputError) and error.path:
            raise
        kind = InputError if isinstance(error, InputError) else UsageError
        raise kind(f"collection {collection.name}: {error}") from None


def _compared(results: Results, rules: SuiteRules) -> Comparison | None:
    """Compare the runs of a collection; None if there is one, or no pair with a baseline."""
    baselines = [name for name in rules.baselines if name in results.names]
    if len(results.names) < 2 or (rules.baselines and not baselines):
        return None
    return compare_results(results, rules, baseline=baselines or None)
