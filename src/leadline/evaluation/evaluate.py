"""Evaluate runs against judgments: run + qrels + measures -> Results, in one pass over each run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Unpack

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.ids import to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.data.reading import CutReadingOptions, RunOptions, reading_and_cut
from leadline.data.results import Bounds, Results, ResultWarning, RunInfo
from leadline.data.validation import check_flags, check_numbers, check_whole, check_word
from leadline.errors import InputError, UsageError
from leadline.evaluation.join import judge_runs, listed_runs
from leadline.evaluation.profiles import Averaging, Profile, profile_of
from leadline.evaluation.run_warnings import (
    fractional_warning,
    levels_of,
    machine_labels,
    no_judged_document,
    undefined_warnings,
    warnings_of,
)
from leadline.evaluation.trec_names import relevance_strings as strings_of
from leadline.io.read import KnownLike, QrelsLike, RunLike, judgments_of
from leadline.measures import Measure
from leadline.stats import Interval, checked_level

if TYPE_CHECKING:
    from leadline.evaluation.estimated_recall import RecallEstimate, RecallEstimates
    from leadline.io.pool_files import Pooled


PoolLike: TypeAlias = "str | os.PathLike[str] | Pooled | Mapping[str, Mapping[str, float]]"
AVERAGES = ("all", "both", "with_relevant", "complete")
DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100", "Judged@10")


class EvaluateOptions(CutReadingOptions, total=False):
    """Keywords of `evaluate` that `compare` and `explain` pass on."""

    profile: str
    rel: float | None
    documents: int | None
    queries: Averaging | None
    known: KnownLike | None
    pool: PoolLike | None
    relevance_strings: int | None
    bounds: bool
    intervals: bool | str | Interval
    on_run: Callable[[int, int], None] | None


class _Found(NamedTuple):
    values: Floats
    present: Flags
    averaged: Flags
    limits: Bounds | None
    strings: list[str] | None
    recalls: dict[str, RecallEstimate]
    unmatched: str  # an example, where documents were retrieved for judged queries and none is judged


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
    relevance_strings: int | None = None,
    bounds: bool = False,
    machine: bool = False,
    intervals: bool | str | Interval = False,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[CutReadingOptions],
) -> Results:
    """Evaluate runs against judgments.

    Every query of the qrels counts: a measure of a query that a run lacks or that has nothing relevant
    counts 0 in the mean, and is counted in `warnings` (`queries="both"` averages over the queries of both,
    `"with_relevant"` over those with something relevant). `rel` is the least grade that is relevant, for
    measures that were not given one, `documents` the size of the collection, `known` the documents that the
    user knew before: a file, or `{query: [document, ...]}`. `relevance_strings` keeps the
    grades of that many documents of every list as text. `bounds` adds how far values may move over the orders
    of tied documents and the grades of unjudged ones, `intervals` (True or the name of a way, as in "BCa")
    how far means would move with other queries. With `machine`, a warning says that the judgments are labels
    of a machine, as it does where a column `judge` names one. `on_run(done, total)` is called after each run.
    `options` say how runs and judgments are read (`order`, `on_duplicate`, `on_nan`, `name_by`, `negative`,
    `subtopics`: see `leadline.data.reading.Reading`) and where lists end: `depth` cuts each, then
    `judged_only` drops unjudged documents.

    Where qrels have inclusion probabilities (a column `probability`, or `pool`: a file, `Pooled`, or
    `{query: {document: probability}}`), `results.estimates` has the estimated number of relevant documents
    of a query and, for every R@k asked for, estimated recall over all queries, with intervals over draws.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> results = evaluate(qrels, {"q1": {"d2": 2.0, "d1": 1.0}}, ["AP", "nDCG@10"])
    >>> results.mean("run", "AP")
    0.5
    """
    reading, cut = reading_and_cut(evaluate, options)
    runs = listed_runs(runs)
    check_flags(bounds=bounds, machine=machine)
    check_whole(0, documents=documents, relevance_strings=relevance_strings)
    check_numbers(**{} if rel is None else {"rel": rel})
    chosen = profile_of(profile)
    wanted = chosen.measures(_listed(measures), rel=rel, documents=documents)
    averaging = chosen.queries if queries is None else queries
    check_word(AVERAGES, queries=averaging)
    table, pooled = _table(judgments_of(qrels, reading), known, pool)
    if table.inclusion is not None:
        checked_level(confidence)

    def one(judged: JudgedRun) -> _Found:
        return _Found(
            np.stack([measure.values(judged) for measure in wanted], axis=1),
            judged.present,
            _averaged(judged, wanted, averaging),
            _bounds(wanted, judged) if bounds else None,
            None if relevance_strings is None else strings_of(judged, relevance_strings),
            {} if table.inclusion is None else _recalls(wanted, judged, confidence),
            judged.example if judged.present.any() and not len(judged.row) else "",
        )

    infos, found = judge_runs(
        runs,
        table,
        one,
        reading=replace(reading, single_precision=chosen.narrow),
        cut=cut,
        measures=wanted,
        on_run=on_run,
    )
    shown = {
        "measures": list(map(str, wanted)),
        "profile": profile,
        "rel": rel,
        "documents": documents,
        "queries": averaging,
        "negative": reading.negative,
        "known": _shown_known(known),
        "pool": _path(pool),
        "subtopics": reading.subtopics,
        **reading.options(RunOptions),
        **cut.options(),
        "name_by": reading.name_by,
        "relevance_strings": relevance_strings,
        "bounds": bounds,
        "machine": machine,
        "intervals": bool(intervals),
    }
    meaning = partial(_meaning, chosen, rel, documents)
    results = _together(infos, found, table, wanted, averaging, shown, meaning)
    labels = machine_labels(table) if machine else []
    results.warnings = _unmatched(infos, found, table) + labels + results.warnings
    if intervals:
        _add_intervals(results, intervals, confidence, seed)
    results.warnings += fractional_warning(table) if chosen.whole_grades else []
    results.warnings += pooled
    if table.inclusion is not None:
        results.estimates = _estimates(table, found, levels_of(wanted), confidence)
    return results


def _together(
    infos: Sequence[RunInfo],
    found: Sequence[_Found],
    table: Qrels,
    measures: Sequence[Measure],
    averaging: Averaging,
    options: dict[str, Any],
    meaning: Callable[[Any], Sequence[Measure]],
) -> Results:
    """Put what was found of each run into one table, with its notices."""
    values = np.stack([each.values for each in found])
    present = np.stack([each.present for each in found])
    return Results(
        infos,
        table.queries,
        measures,
        values,
        np.stack([each.averaged for each in found]),
        present=present,
        relevance_strings=[each.strings for each in found if each.strings is not None],
        without_mean=np.any(~present, axis=1) if averaging == "complete" else None,
        bounds=Bounds.together([each.limits for each in found if each.limits is not None]),
        warnings=[
            *warnings_of(infos, table, averaging=averaging, levels=levels_of(measures)),
            *undefined_warnings(infos, table, measures, values, present),
        ],
        options=options,
        meaning=meaning,
    )


def _unmatched(infos: Sequence[RunInfo], found: Sequence[_Found], table: Qrels) -> list[ResultWarning]:
    """Warn of runs of which no document is judged, with an example of the ids on both sides."""
    examples = {info.name: each.unmatched for info, each in zip(infos, found, strict=True) if each.unmatched}
    if not examples:
        return []
    judged = next((to_text(name) for rows in table.lookup for name in rows), "")
    return no_judged_document(list(examples), next(iter(examples.values()), ""), judged)


def _add_intervals(results: Results, by: bool | str | Interval, confidence: float, seed: int) -> None:
    from leadline.evaluation.mean_intervals import DEFAULT_INTERVAL, intervals_of

    kind = DEFAULT_INTERVAL if by is True else by
    assert not isinstance(kind, bool)
    results.intervals = intervals_of(results, kind, confidence=confidence, seed=seed)
    results.options |= {"intervals": results.intervals.by, "confidence": confidence, "seed": seed}


def _table(table: Qrels, known: KnownLike | None, pool: PoolLike | None) -> tuple[Qrels, list[ResultWarning]]:
    """Add to judgments what the user knew before, and the probabilities of a pool."""
    if known is not None:
        from leadline.io import id_lists

        table = table.with_known(id_lists.of(known))
    if pool is None:
        return table, []
    from leadline.evaluation.estimated_recall import with_pool

    return with_pool(table, _shares(pool))


def _recalls(measures: Sequence[Measure], judged: JudgedRun, confidence: float) -> dict[str, RecallEstimate]:
    """Estimate recall as every measure of recall asks for it."""
    from leadline.evaluation.estimated_recall import recall
    from leadline.measures.precision import R

    return {
        str(measure): recall(judged, measure.rel, measure.cutoff, confidence=confidence)
        for measure in measures
        if isinstance(measure, R)
    }


def _estimates(
    table: Qrels, found: Sequence[_Found], levels: Sequence[float], confidence: float
) -> RecallEstimates:
    from leadline.evaluation.estimated_recall import RecallEstimates, relevant

    counts = {rel: relevant(table, rel, confidence=confidence) for rel in levels}
    return RecallEstimates(counts, [each.recalls for each in found], confidence)


def _shown_known(known: KnownLike | None) -> str | dict[str, list[str]] | None:
    if known is None:
        return None
    from leadline.io import id_lists

    return id_lists.shown(known)


def _shares(pool: PoolLike) -> Any:
    """Return the probabilities of a pool by query and document."""
    if isinstance(pool, Mapping):
        return checked_pool(pool)
    from leadline.io.pool_files import Pooled, read_pool

    return pool.by_query() if isinstance(pool, Pooled) else read_pool(pool).by_query()


def checked_pool(pool: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return a pool whose probabilities are above 0, and 1 at most; an error where one is not."""
    from leadline.io.row_checks import share_of

    found: dict[str, dict[str, float]] = {}
    for query, documents in pool.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"query {query!r} of the pool has a {type(documents).__name__}",
                expected="{document: probability}",
            )
        for document, given in documents.items():
            try:
                found.setdefault(query, {})[document] = share_of(given)
            except InputError as error:
                place = f"{error.found} of document {document!r} of query {query!r} in the pool"
                raise InputError(place, expected=error.expected) from None
    return found


def _path(pool: object) -> str | None:
    if pool is None:
        return None
    return os.fspath(pool) if isinstance(pool, (str, os.PathLike)) else "in memory"


def _meaning(profile: Profile, rel: float | None, documents: int | None, measure: object) -> list[Measure]:
    """Return the measures that a name means where these were the options."""
    return profile.measures(_listed(measure), rel=rel, documents=documents)


def _bounds(measures: Sequence[Measure], judged: JudgedRun) -> Bounds:
    from leadline.evaluation.bounds import bounds_of

    return bounds_of(measures, judged)


def _listed(measures: object) -> Iterable[str | Measure]:
    if measures is None:
        return DEFAULT_MEASURES
    listed = [measures] if isinstance(measures, (str, Measure, type)) else measures
    if not isinstance(listed, Iterable):
        raise UsageError(f"measures={measures!r}; expected names such as AP or nDCG@10")
    listed = [one() if isinstance(one, type) and issubclass(one, Measure) else one for one in listed]
    for one in listed:
        if not isinstance(one, (str, Measure)):
            raise UsageError(f"measure {one!r}; expected a name such as AP or nDCG@10")
    return listed


def _averaged(judged: JudgedRun, measures: Sequence[Measure], averaging: str) -> Flags:
    """Return which queries take part in the mean of each measure: queries x measures."""
    shape = (len(judged.present), len(measures))
    if averaging == "both":
        return np.broadcast_to(judged.present[:, None], shape).copy()
    if averaging == "with_relevant":
        return np.stack([_has_relevant(judged.qrels, measure) for measure in measures], axis=1)
    return np.ones(shape, dtype=np.bool_)


def _has_relevant(qrels: Qrels, measure: Measure) -> Flags:
    """Return which queries have a relevant document; to a measure of gains that is any positive grade."""
    rel = getattr(measure, "rel", None)
    counts = qrels.count(qrels.grades > 0) if rel is None else qrels.relevant(rel)
    return np.asarray(counts > 0)
