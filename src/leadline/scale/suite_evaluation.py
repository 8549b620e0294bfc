"""Evaluation of suites: many runs on many collections, each run on a collection once."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Unpack

import numpy as np

from leadline.comparison.compare import compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import check_averages, check_judged, listed_names
from leadline.comparison.rules import Rules
from leadline.comparison.suite_records import SuiteRules
from leadline.comparison.suite_result import Suite
from leadline.data.optional import import_optional, require
from leadline.data.reading import CutReadingOptions, refuse_unknown
from leadline.data.results import Results
from leadline.data.validation import check_flags
from leadline.errors import InputError, LeadlineError, MissingPackageError, UsageError
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.evaluate import Evaluation, RunValues
from leadline.evaluation.profiles import Averaging
from leadline.io.read_paths import public, record_input
from leadline.io.sealed_files import read_parquet, sealed_parquet
from leadline.io.write import write_whole
from leadline.measures import Measure
from leadline.scale.engines import Engine, engine_of
from leadline.scale.partial import Partial, PartSum
from leadline.scale.process_pool import Fault, Unit
from leadline.scale.suite_files import Collection, input_digest, read_suite
from leadline.stats import CORRECTIONS, TESTS, Correction, PairedTest, checked_level, checked_seed
from leadline.stats.intervals import Student
from leadline.stats.paired_tests import Randomisation, T
from leadline.version import VERSION

CACHE = ".leadline-suite"  # the cache of the command, beside the suite
KEPT = re.compile(r"[0-9a-f]{64}\.parquet")  # names of files in the cache
LAYOUT = 1  # of files in the cache; files of another layout are not used


class Cache:
    """Values of runs on collections in a folder, one Parquet file each, named after what they depend on."""

    def __init__(self, path: str) -> None:
        try:
            require("Parquet and Arrow files")
        except MissingPackageError as error:
            raise MissingPackageError(f"{error}; or --no-cache, which evaluates all runs again") from None
        self.path = path
        self.used: set[str] = set()
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cache {path}: cannot be made ({error.strerror}); expected a folder, or no cache"
            ) from None

    def file(self, key: str) -> str:
        """Return the path of the file of a key."""
        return os.path.join(self.path, f"{key}.parquet")

    def get(self, key: str, measures: int) -> Partial | None:
        """Return the values of a key; None if there are none, or the file is damaged."""
        self.used.add(f"{key}.parquet")
        path = self.file(key)
        if not os.path.isfile(path):
            return None
        try:
            return _partial_of(read_parquet(path, expected="a cache", sealed=True), key, measures)
        except (ValueError, KeyError, TypeError):  # of a damaged file, or of another one
            return None

    def put(self, key: str, partial: Partial) -> None:
        """Write the values of a key, atomically."""
        write_whole(self.file(key), sealed_parquet(_table_of(partial, key)))

    def clean(self) -> int:
        """Remove the values that were not asked for, such as those of earlier runs; return their number.

        Files of other names are not touched.
        """
        names = [name for name in os.listdir(self.path) if KEPT.fullmatch(name) and name not in self.used]
        for name in names:
            os.unlink(os.path.join(self.path, name))
        return len(names)


def _table_of(partial: Partial, key: str) -> Any:
    """Return the Arrow table of the values of a run, with its description as metadata."""
    arrow = import_optional("pyarrow")
    columns = {"query": arrow.array(list(partial.queries), type=arrow.binary())}
    for place in range(partial.values.values.shape[1]):
        columns[f"value {place}"] = arrow.array(partial.values.values[:, place])
        columns[f"averaged {place}"] = arrow.array(partial.values.averaged[:, place])
    description = {
        "key": key,
        "unjudged": [query.hex() for query in partial.unjudged],
        "example": list(partial.example),
        "unmatched": partial.values.unmatched,
        "counts": {name: int(count) for name, count in partial.counts.items()},
        "tag": partial.tag,
    }
    return arrow.table(columns).replace_schema_metadata({"leadline": json.dumps(description)})


def _partial_of(table: Any, key: str, measures: int) -> Partial | None:
    """Return the values of a run from their Arrow table; None if it is another table."""
    description = json.loads((table.schema.metadata or {})[b"leadline"])
    if description["key"] != key or table.num_columns != 1 + 2 * measures:
        return None
    queries = tuple(table.column("query").to_pylist())

    def stacked(name: str, kind: type) -> Any:
        columns = [table.column(f"{name} {place}").to_numpy() for place in range(measures)]
        return np.stack(columns, axis=1).astype(kind)

    values = RunValues(
        stacked("value", np.float64),
        np.ones(len(queries), dtype=np.bool_),
        stacked("averaged", np.bool_),
        None,
        None,
        {},
        description["unmatched"],
        tuple(description["example"]),
    )
    unjudged = tuple(map(bytes.fromhex, description["unjudged"]))
    example = (description["example"][0], description["example"][1])
    return Partial("", queries, values, unjudged, example, description["counts"], description["tag"], None)


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
    cache: str | os.PathLike[str] | None = None,
    clean_cache: bool = False,
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
    cache : path, optional
        Folder in which the values of every run on a collection are kept, so that they are not computed
        again; by default none.
    clean_cache : bool, default False
        Whether values in the cache that this evaluation did not use are removed when it is finished.
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
    check_flags(partial=partial, clean_cache=clean_cache)
    if clean_cache and cache is None:
        raise UsageError("clean_cache without a cache has no effect; expected both")
    found = read_suite(source)
    rules = _rules(test, correction, confidence, seed, baseline, partial)
    chosen = engine if isinstance(engine, Engine) else engine_of(engine)
    kept = None if cache is None else Cache(os.fspath(cache))
    progress = _Progress(sum(len(each.runs) for each in found.collections), on_run)
    work = _Work(found.measures if measures is None else measures, dict(options), kept, chosen, progress)
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
    removed = kept.clean() if kept is not None and clean_cache else 0
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
            "test": str(rules.test),
            "correction": str(rules.correction),
            "confidence": confidence,
            "seed": seed,
            "partial": partial,
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
        computed=work.computed,
        cached=work.cached,
        removed=removed,
    )


def _rules(
    test: str | PairedTest,
    correction: str | Correction,
    confidence: float,
    seed: int,
    baseline: str | Sequence[str] | None,
    partial: bool,
) -> SuiteRules:
    parsed = test if isinstance(test, PairedTest) else TESTS.parse(test)
    if not isinstance(parsed, (T, Randomisation)):
        raise UsageError(f"test={str(parsed)!r} of a suite; expected T or Randomisation")
    if isinstance(correction, str) and correction.lower() in ("maxt", "max_t", "tukey"):
        raise UsageError(f"correction={correction!r} of a suite; expected {', '.join(CORRECTIONS.classes)}")
    corrected = correction if isinstance(correction, Correction) else CORRECTIONS.parse(correction)
    baselines = tuple(listed_names(() if baseline is None else baseline))
    return SuiteRules(parsed, corrected, checked_level(confidence), checked_seed(seed), baselines, partial)


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

    def __init__(
        self, measures: Any, options: dict[str, Any], cache: Cache | None, engine: Engine, progress: _Progress
    ) -> None:
        self.measures = measures
        self.options = options
        self.cache = cache
        self.engine = engine
        self.progress = progress
        self.inputs: list[dict[str, Any]] = []
        self.computed = self.cached = 0

    def results(self, collection: Collection) -> Results:
        """Return the results of all runs on a collection; values in the cache are not computed again."""
        evaluation = Evaluation(
            collection.qrels,
            self.measures,
            documents=collection.documents,
            rel=collection.level,
            **self.options,
        )
        refuse_sample(evaluation.qrels)
        if evaluation.qrels.inclusion is not None:
            raise UsageError("judgments with inclusion probabilities; expected judgments without them")
        qrels = input_digest(collection.qrels)
        names = list(collection.runs)
        digests = {name: input_digest(source) for name, source in collection.runs.items()}
        keys = {
            name: cell_key(qrels, digest, evaluation)
            for name, digest in digests.items()
            if self.cache is not None and qrels is not None and digest is not None
        }
        cells: dict[int, Partial] = {}
        for number, name in enumerate(names):
            source = collection.runs[name]
            if isinstance(source, str):
                record_input(source)
            if self.cache is not None and name in keys:
                saved = self.cache.get(keys[name], len(evaluation.measures))
                if saved is not None:
                    cells[number] = saved
                    self.progress.advance()
        self.cached += len(cells)
        units = [
            Unit(number, 0, collection.runs[name], _label(collection, name))
            for number, name in enumerate(names)
            if number not in cells
        ]
        with closing(self.engine.evaluate(evaluation, units)) as outcomes:  # type: ignore[type-var]
            for unit, outcome in outcomes:
                if isinstance(outcome, Fault):
                    raise outcome.error or InputError(outcome.text, path=unit.label)
                cells[unit.run] = outcome
                name = names[unit.run]
                if self.cache is not None and name in keys:
                    self.cache.put(keys[name], outcome)
                self.computed += 1
                self.progress.advance()
        sums = []
        for number, name in enumerate(names):
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


def cell_key(qrels: str | None, run: str | None, evaluation: Evaluation) -> str:
    """Return the key of the values of a run: a hash of both inputs, the measures, options and the version."""
    options = {name: value for name, value in evaluation.options.items() if name != "name_by"}
    parts = [LAYOUT, VERSION, qrels, run, options]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


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
    own = Rules(
        test=rules.test,
        correction=rules.correction,
        interval=Student(),
        confidence=rules.confidence,
        seed=rules.seed,
    )
    return compare_results(results, own, baseline=baselines or None)
