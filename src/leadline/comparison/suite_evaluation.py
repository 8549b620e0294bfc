"""Suites: many runs on many collections, from the file or folder that describes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import glob
from typing import Any, NamedTuple, Unpack

from leadline.comparison.compare import compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import SuiteRules, check_averages, check_judged, listed_names
from leadline.comparison.suite_result import Suite
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import CutReadingOptions, refuse_unknown
from leadline.data.validation import check_flags, check_run_name
from leadline.errors import InputError, LeadlineError, UnknownNameError, UsageError, did_you_mean, either
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.evaluate import Evaluation
from leadline.evaluation.profiles import Averaging
from leadline.evaluation.results import Results
from leadline.io.opening import digest_of, read_toml
from leadline.io.read_paths import public
from leadline.io.run_names import files_of, run_name
from leadline.measures import Measure
from leadline.scale.engines import Engine, engine_of
from leadline.scale.evaluate_parts import evaluated
from leadline.scale.run_parts import RunParts
from leadline.stats import Correction, PairedTest

DEFAULT_MEASURES = ("nDCG@10",)
TOP = ("measures", "groups", "collections")
KEYS = ("qrels", "runs", "documents", "level")
FORM = (
    "Pass a folder of COLLECTION/qrels.txt and COLLECTION/runs, or TOML such as `[collections.cran]` with "
    'the lines `qrels = "cran/qrels.txt"` and `runs = "cran/*.run"` below it'
)
IN_MEMORY = "suite"  # in place of the path
QRELS = ("qrels.txt", "qrels.tsv", "qrels/test.tsv")  # of a folder; the last is that of BEIR


class Collection(NamedTuple):
    """Judgments and runs of one collection: a path or judgments, and runs by name."""

    name: str
    qrels: Any
    runs: dict[str, Any]
    documents: int | None = None
    level: float | None = None


class SuiteFile(NamedTuple):
    """What a suite consists of; `groups` are collections by the name of an average of them."""

    path: str
    collections: list[Collection]
    measures: tuple[Any, ...]
    groups: dict[str, list[str]]


def read_suite(source: str | os.PathLike[str] | Mapping[str, Any]) -> SuiteFile:
    """Return the collections and runs of a suite.

    >>> one = {"qrels": {"q1": {"d1": 1}}, "runs": {"bm25": {"q1": {"d1": 1.0}}}}
    >>> [each.name for each in read_suite({"collections": {"one": one}}).collections]
    ['one']
    """
    if isinstance(source, Mapping):
        return _suite_of(source, IN_MEMORY)
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(f"a suite cannot be of type {type(source).__name__}. Pass a path or a mapping.")
    path = os.fspath(source)
    if os.path.isdir(path):
        return _suite_of({"collections": _in_folder(path)}, path)
    return _suite_of(read_toml(path, hint=FORM), path, os.path.dirname(path))


def _in_folder(path: str) -> dict[str, Any]:
    """Return the collections of a suite in a folder, each of them a folder in it."""
    collections = {}
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if not entry.is_dir() or entry.name.startswith("."):
            continue
        qrels = _qrels_in(entry.path)
        if qrels is None and _qrels_in(path) is not None:
            hint = "Pass the folder that contains the folders of the collections"
            raise InputError("this folder is a single collection", path=path, hint=hint)
        if qrels is None:
            hint = f"Add {', '.join(QRELS[:-1])} or {QRELS[-1]}"
            raise InputError("leadline found no judgments in this folder", path=entry.path, hint=hint)
        collections[entry.name] = {"qrels": qrels, "runs": os.path.join(entry.path, "runs")}
    return collections


def _qrels_in(folder: str) -> str | None:
    return next(filter(os.path.isfile, (os.path.join(folder, name) for name in QRELS)), None)


def _suite_of(data: Mapping[str, Any], path: str, folder: str = "") -> SuiteFile:
    _check_keys(data, TOP, "the suite", path)
    tables = data.get("collections")
    if not isinstance(tables, Mapping) or not tables:
        hint = 'Pass {"collections": {name: {"qrels": ..., "runs": ...}}}' if path == IN_MEMORY else FORM
        raise InputError("there are no collections", path=path, hint=hint)
    collections = [_collection(str(name), table, path, folder) for name, table in tables.items()]
    groups = data.get("groups", {})
    if not isinstance(groups, Mapping):
        raise _wrong("groups", groups, 'a table such as {english = ["cacm", "cisi"]}', path)
    for group, members in groups.items():
        for member in _listed(members, f"groups.{group}", "collection names", path):
            if member not in tables:
                found = f"groups.{group} refers to an unknown collection '{member}'"
                raise InputError(found, path=path, hint=nearest(member, list(tables)))
    measures = data.get("measures", DEFAULT_MEASURES)
    if path != IN_MEMORY or isinstance(measures, str):  # else they may be objects
        measures = _listed(measures, "measures", "measure names", path)
    return SuiteFile(
        path, collections, tuple(measures), {str(group): list(members) for group, members in groups.items()}
    )


def _collection(name: str, table: object, path: str, folder: str) -> Collection:
    place = f"collections.{name}"
    if not isinstance(table, Mapping):
        raise _wrong(place, table, "a table with qrels and runs", path)
    _check_keys(table, KEYS, place, path)
    for key in ("qrels", "runs"):
        if key not in table:
            raise InputError(f"{place} has no '{key}'", path=path, hint=f"Set {place}.{key}")
    documents, level = table.get("documents", 0), table.get("level")
    if isinstance(documents, bool) or not isinstance(documents, int) or documents < 0:
        raise _wrong(f"{place}.documents", documents, "the number of documents in the collection", path)
    if level is not None and (isinstance(level, bool) or not isinstance(level, (int, float))):
        raise _wrong(f"{place}.level", level, "a number, the lowest relevant grade", path)
    qrels = _source(table["qrels"], f"{place}.qrels", path, folder)
    runs = _runs(table["runs"], f"{place}.runs", path, folder)
    if not runs:
        raise InputError(f"{place}.runs is empty", path=path, hint="Name at least one run")
    return Collection(name, qrels, runs, documents or None, level)


def _source(value: Any, place: str, path: str, folder: str) -> Any:
    """Return a path relative to the folder; in memory, judgments or a run may be any object."""
    if isinstance(value, str):
        return os.path.join(folder, value)
    if path != IN_MEMORY:
        raise _wrong(place, value, "a path", path)
    return value


def _runs(value: object, place: str, path: str, folder: str) -> dict[str, Any]:
    """Return runs by name: those of a pattern, of several, or of a table of names."""
    if isinstance(value, Mapping):
        for name in value:
            check_run_name(name)
        return {name: _source(each, f"{place}.{name}", path, folder) for name, each in value.items()}
    named: dict[str, Any] = {}
    for pattern in _listed(value, place, "patterns, or a table of runs by name", path):
        whole = os.path.join(folder, pattern)
        inside = files_of(whole) if os.path.isdir(whole) else sorted(glob(whole, recursive=True))
        files = list(filter(os.path.isfile, inside))
        if not files:
            found = f"the pattern '{pattern}' in {place} matches no file"
            raise InputError(found, path=path, hint=f"Check the pattern ({whole})")
        for file in files:
            name = run_name(file)
            if named.setdefault(name, file) != file:
                raise InputError(
                    f"{named[name]} and {file} in {place} are both named '{name}'",
                    path=path,
                    hint="Rename one file, or name the runs with runs = {NAME = PATH} in a suite file",
                )
    return named


def _check_keys(table: Mapping[str, Any], known: Sequence[str], place: str, path: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"unknown key '{key}' in {place}", path=path, hint=nearest(str(key), known))


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the nearest known names, or the first of them, as a hint.

    >>> nearest("mesures", ["measures", "groups"]), nearest("x", ["measures", "groups"])
    ("Did you mean 'measures'?", 'Use measures or groups')
    """
    return did_you_mean(name, known, cutoff=0.5) or f"Use {either(known[:8])}"


def _listed(value: object, place: str, what: str, path: str) -> list[str]:
    """Return a text, or texts, as a list."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)) or not all(isinstance(each, str) for each in listed):
        raise _wrong(place, value, f"a list of {what}", path)
    return list(listed)


def _wrong(place: str, value: object, expected: str, path: str) -> InputError:
    shown = " ".join(repr(value).split())[:60]
    return InputError(f"{place} cannot be {shown}", path=path, hint=f"Set it to {expected}")


class SuiteOptions(CutReadingOptions, total=False):
    """Keywords of `evaluate` that apply to every collection of a suite."""

    profile: str
    queries: Averaging | None


OPTIONS = SuiteOptions.__annotations__.keys() - {"name_by"}  # runs are named by the suite


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
    refuse_unknown(suite, options, OPTIONS)
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
    comparisons: dict[str, Comparison] = {}
    for collection in found.collections:
        before = sum(len(each.runs) for each in results.values())

        def advance(done: int, _: int, before: int = before) -> None:
            if on_run is not None:
                on_run(before + done, total)

        with _errors_of(collection, found.path if measures is None else ""):
            each = results[collection.name] = _evaluated(collection, wanted, options, chosen, advance)
            check_averages(each)
            check_judged(each)
        inputs += _inputs(collection, each)
        baselines = [name for name in rules.baselines if name in each.names]
        if len(each.names) > 1 and (baselines or not rules.baselines):
            comparisons[collection.name] = compare_results(each, rules, baseline=baselines or None)
    first, shown = next(iter(results.values())), rules.shown()
    return Suite(
        results,
        comparisons,
        rules,
        groups=found.groups,
        inputs=inputs,
        options={
            "suite": found.path,
            "measures": list(map(str, first.measures)),
            "baseline": list(rules.baselines),
            **{name: shown[name] for name in ("test", "correction", "confidence", "seed", "partial")},
            "groups": found.groups,
            "engine": str(chosen),
            "collections": {
                each.name: {"documents": each.documents, "level": each.level} for each in found.collections
            },
            **{name: value for name, value in first.options.items() if name in OPTIONS},
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
    evaluation = Evaluation(
        collection.qrels, measures, documents=collection.documents, rel=collection.level, **options
    )
    if evaluation.qrels.is_sample:  # of a stratified sample, a note says which measures make estimates
        refuse_sample(evaluation.qrels)
    if evaluation.qrels.inclusion is not None:
        raise UsageError(
            "suites do not support judgments with inclusion probabilities. Use judgments without them."
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
            "sha256": digest_of(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else None,
            "rows": rows,
            "collection": collection.name,
        }
        for source, rows in sources
    ]


@contextmanager
def _errors_of(collection: Collection, path: str) -> Iterator[None]:
    """Add the collection to errors without a file, or the path of the suite if it names the measures."""
    try:
        yield
    except UnknownNameError as error:
        if not path:
            raise
        raise InputError(str(error), path=path) from None
    except LeadlineError as error:
        if isinstance(error, InputError) and error.path:
            raise
        kind = InputError if isinstance(error, InputError) else UsageError
        raise kind(f"collection {collection.name}: {error}") from None
