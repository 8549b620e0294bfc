"""Evaluation of suites: many runs on many collections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Unpack

from leadline.comparison.compare import compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import check_averages, check_judged, listed_names
from leadline.comparison.suite_files import Collection, input_digest, read_suite
from leadline.comparison.suite_records import SuiteRules
from leadline.comparison.suite_result import Suite
from leadline.data.reading import CutReadingOptions, refuse_unknown
from leadline.data.validation import check_flags
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.evaluate import Evaluation
from leadline.evaluation.profiles import Averaging
from leadline.evaluation.results import Results
from leadline.io.read_paths import public, record_input
from leadline.measures import Measure
from leadline.scale.engines import Engine, engine_of
from leadline.scale.partial import Partial, PartSum
from leadline.scale.process_pool import Fault, Unit
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
    chosen = engine if isinstance(engine, Engine) else engine_of(engine)
    progress = _Progress(sum(len(each.runs) for each in found.collections), on_run)
    work = _Work(found.measures if measures is None else measures, dict(options), chosen, progress)
    results: dict[str, Results] = {}
    for collection in found.collections:
        with _named(collection):
            results[collection.name] = work.results(collection)
            check_averages(results[collection.name])
            check_judged(results[collection.name])
    comparisons = {
        name: each
        for name, each in ((name, _compared(each, rules)) for name, each in results.items())
        if each
    }
    first = next(iter(results.values()))
    texts = [str(measure) for measure in first.measures]
    return Suite(
        results,
        comparisons,
        rules,
        groups=found.groups,
        inputs=work.inputs,
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


class _Progress:
    """Number of finished runs on collections."""

    def __init__(self, total: int, function: Callable[[int, int], None] | None) -> None:
        self.total, self.function, self.done = total, function, 0

    def advance(self) -> None:
        self.done += 1
        if self.function is not None:
            self.function(self.done, self.total)


class _Work:
    """The collections of a suite, evaluated one after the other."""

    def __init__(self, measures: Any, options: dict[str, Any], engine: Engine, progress: _Progress) -> None:
        self.measures = measures
        self.options = options
        self.engine = engine
        self.progress = progress
        self.inputs: list[dict[str, Any]] = []

    def results(self, collection: Collection) -> Results:
        """Return the results of all runs on a collection."""
        evaluation = Evaluation(
            collection.qrels,
            self.measures,
            documents=collection.documents,
            rel=collection.level,
            **self.options,
        )
        refuse_sample(evaluation.qrels)
        if evaluation.qrels.inclusion is not None:
            raise UsageError(
                "Suites do not support judgments with inclusion probabilities. Use judgments without them."
            )
        qrels = input_digest(collection.qrels)
        digests = {name: input_digest(source) for name, source in collection.runs.items()}
        for source in collection.runs.values():
            if isinstance(source, str):
                record_input(source)
        units = [
            Unit(number, 0, source, _label(collection, name))
            for number, (name, source) in enumerate(collection.runs.items())
        ]
        cells: dict[int, Partial] = {}
        with closing(self.engine.evaluate(evaluation, units)) as outcomes:  # type: ignore[type-var]
            for unit, outcome in outcomes:
                if isinstance(outcome, Fault):
                    raise outcome.error or InputError(outcome.text, path=unit.label)
                cells[unit.run] = outcome
                self.progress.advance()
        sums = []
        for number, name in enumerate(collection.runs):
            total = PartSum(evaluation, name)
            total.add(0, cells[number])
            sums.append(total.finished())
        infos, values = zip(*sums, strict=True)
        self._describe(collection, qrels, len(evaluation.qrels.grades), digests, infos)
        return evaluation.results(list(infos), list(values))

    def _describe(
        self,
        collection: Collection,
        qrels: str | None,
        judgments: int,
        digests: Mapping[str, str | None],
        infos: Sequence[Any],
    ) -> None:
        where = {"collection": collection.name}
        path = collection.qrels if isinstance(collection.qrels, str) else "in memory"
        self.inputs.append({"path": path, "sha256": qrels, "rows": judgments, **where})
        for info in infos:
            source = collection.runs[info.name]
            path = source if isinstance(source, str) else "in memory"
            rows = info.counts["documents_read"]
            self.inputs.append({"path": path, "sha256": digests[info.name], "rows": rows, **where})


def _label(collection: Collection, name: str) -> str:
    source = collection.runs[name]
    return source if isinstance(source, str) else f"{collection.name}/{name}"


class _named:  # noqa: N801  # a context manager
    """Errors without a file get the name of the collection."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, LeadlineError) or (isinstance(error, InputError) and error.path):
            return
        message = f"collection {self.collection.name}: {error}"
        raise (InputError(message) if isinstance(error, InputError) else UsageError(message)) from None


def _compared(results: Results, rules: SuiteRules) -> Comparison | None:
    """Compare the runs of a collection; None if there is one, or no pair with a baseline."""
    baselines = [name for name in rules.baselines if name in results.names]
    if len(results.names) < 2 or (rules.baselines and not baselines):
        return None
    return compare_results(results, rules, baseline=baselines or None)
