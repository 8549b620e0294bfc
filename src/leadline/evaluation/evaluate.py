"""Evaluation of runs against relevance judgments, in one pass over each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import Turns, by_judge
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Cut, CutReadingOptions, Reading, RunOptions, reading_and_cut
from leadline.data.table import ResultWarning, RunInfo
from leadline.data.validation import check_flags, check_numbers, check_whole, check_word
from leadline.errors import UsageError, either
from leadline.evaluation.join import judge_runs, listed_runs
from leadline.evaluation.profiles import Averaging, Profile, profile_of
from leadline.evaluation.profiles import relevance_strings as strings_of
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import (
    Returned,
    answerless,
    check_level,
    fractional_warning,
    grade_one,
    machine_labels,
    no_common_query,
    no_judged_document,
    recall_rule,
    returned,
    undefined_counts,
    warnings_of,
    warnings_of_undefined,
)
from leadline.io.objects import judgments_of
from leadline.io.read import KnownLike, QrelsLike, RunLike
from leadline.io.read_paths import public, shown
from leadline.measures import LENGTHS, UNITS, Measure, is_of_ir_measures, text_of
from leadline.stats import Interval, checked_level

if TYPE_CHECKING:
    from leadline.evaluation.limits import Bounds
    from leadline.io.pool_files import PoolLike
    from leadline.stats.moments import Weighted

# What judgments compute of themselves at the first use, and can soon compute again in another process.
CACHES = ("query", "lookup", "names", "_relevant", "ideal")
AVERAGES = ("all", "both", "with_relevant", "complete")
UNUSED_LENGTHS = "the document lengths are not used because no measure has a budget (as in R@500tokens)"
DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100", "Judged@10")


class ValueOptions(CutReadingOptions, total=False):
    """Keywords of `evaluate` that determine the values of runs."""

    profile: str
    rel: float | None
    documents: int | None
    queries: Averaging | None
    known: KnownLike | None
    pool: Any  # PoolLike, or the result of `pool`
    relevance_strings: int | None


class PartOptions(ValueOptions, total=False):
    """Keywords of `evaluate` for runs in parts."""

    bounds: bool
    intervals: bool | str | Interval
    machine: bool
    confidence: float
    seed: int
    query_weights: str | Mapping[str, float] | None


class EvaluateOptions(ValueOptions, total=False):
    """Keywords of `evaluate` that `compare` and `explain` pass on."""

    on_run: Callable[[int, int], None] | None


class TestedOptions(EvaluateOptions, total=False):
    """Keywords of `evaluate` that functions of means over queries pass on."""

    query_weights: str | Mapping[str, float] | None
    second_judge: QrelsLike | None
    second_pool: PoolLike | None


class RunValues(NamedTuple):
    """Values of one run by query and measure, and what its results need besides."""

    values: Floats
    present: Flags
    averaged: Flags
    limits: Bounds | None
    strings: list[str] | None
    example: tuple[str, str] = ("", "")  # first query and document of a run of which none is judged
    returned: Returned = Returned()


@public
def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    *,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[PartOptions],
) -> Results:
    """Evaluate runs against complete or pooled judgments.

    The parameters are those of `leadline.evaluate`, but `machine` says whether the judgments are labels of a
    machine, which adds a warning.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}, "AP").mean("run", "AP")
    0.5
    """
    runs = listed_runs(runs)
    evaluation = Evaluation(qrels, measures, **options)
    infos, values_of_runs = judge_runs(
        runs,
        evaluation.qrels,
        evaluation.values_of,
        reading=evaluation.reading,
        cut=evaluation.cut,
        measures=evaluation.measures,
        on_run=on_run,
    )
    return evaluation.results(infos, values_of_runs)


class Evaluation:
    """Judgments, measures and options of `evaluate`, checked once; can be sent to other processes.

    `values_of` gives the values of a run, `results` the results of the values of all runs. The parameters are
    those of `evaluate`.

    >>> Evaluation({"q1": {"d1": 1}}, ["MAP"]).measures
    [AP]
    """

    def __init__(
        self,
        qrels: QrelsLike,
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
        query_weights: str | Mapping[str, float] | None = None,
        machine: bool = False,
        intervals: bool | str | Interval = False,
        confidence: float = 0.95,
        seed: int = 0,
        **options: Unpack[CutReadingOptions],
    ) -> None:
        reading, self.cut = reading_and_cut(evaluate, options, PartOptions)
        check_flags(bounds=bounds, machine=machine)
        check_whole(0, relevance_strings=relevance_strings)
        self.profile = profile_of(profile)
        self._resolve = Meaning(self.profile, rel, documents)
        self.measures = self._resolve(measures)
        refuse_threshold(self.measures, reading)
        given, reading = reading.lengths, _with_lengths(reading, self.measures, self.cut)
        self.averaging: Averaging = self.profile.queries if queries is None else queries
        check_word(AVERAGES, queries=self.averaging)
        self.qrels, self._pool_warnings = _table(judgments_of(qrels, reading), known, pool, self.measures)
        if given is not None and reading.lengths is None:
            self._pool_warnings = [*self._pool_warnings, ResultWarning("unused_lengths", UNUSED_LENGTHS, 1)]
        self._turns = by_judge(self.qrels)
        if len(self._turns.tables) > 1:
            self.qrels = copy(self.qrels)
            self.qrels.remarks = self._turns.highest.remarks = self.qrels.remarks_by_judge
            self.qrels.highest_grade = self._turns.highest.highest_grade
        check_level(rel, self._turns.highest)
        if self.qrels.inclusion is not None:
            checked_level(confidence)
        self.reading = replace(reading, single_precision=self.profile.narrow)
        self.relevance_strings = relevance_strings
        self.bounds = bounds
        self.weighted, self._share = self._weights(query_weights)
        self.machine = machine
        self.intervals = intervals
        self.confidence = confidence
        self.seed = seed
        if known is not None:
            from leadline.io import id_lists
        self.options: dict[str, Any] = {
            "measures": list(map(str, self.measures)),
            "profile": profile,
            "rel": rel,
            "documents": documents,
            "queries": self.averaging,
            "negative": reading.negative,
            "qrels_columns": reading.qrels_columns,
            "known": None if known is None else id_lists.shown(known),
            "pool": shown(pool),
            "subtopics": reading.subtopics,
            **reading.options(RunOptions),
            **self.cut.options(),
            "name_by": reading.name_by,
            "lengths": reading.lengths,
            "relevance_strings": relevance_strings,
            "bounds": bounds,
            "query_weights": "in memory" if isinstance(query_weights, Mapping) else query_weights,
            "machine": machine,
            "intervals": bool(intervals),
        }

    def _weights(self, given: object) -> tuple[Weighted | None, float]:
        """Return the weights of the judged queries, and their share of all weights."""
        if given is None:
            return None, 1.0
        sums = [str(measure) for measure in self.measures if measure.average == "sum"]
        if sums:
            raise UsageError(
                f"--query-weights cannot be used with {sums[0]}, which is a sum over queries. Use a measure "
                "that is averaged over queries, or leave out --query-weights."
            )
        if self.qrels.inclusion is not None:
            raise UsageError(
                "--query-weights cannot be used with a pool, or with judgments that have inclusion "
                "probabilities. Leave out --query-weights."
            )
        from leadline.evaluation.limits import read_weights
        from leadline.stats.moments import Weighted

        weights, share = read_weights(given, list(self.qrels.queries))
        return Weighted(np.arange(len(weights), dtype=np.int64), weights), share

    def _weights_warning(self) -> list[ResultWarning]:
        if self.weighted is None:
            return []
        from leadline.evaluation.limits import weights_warning

        source = self.options["query_weights"]
        source = "query_weights" if source == "in memory" else source
        return [weights_warning(self.weighted, self._share, source)]

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: the judgments without their caches."""
        turns = self._turns
        qrels, highest, *tables = map(copy, (self.qrels, turns.highest, *turns.tables))
        for table, name in product((qrels, highest, *tables), CACHES):
            vars(table).pop(name, None)
        return vars(self) | {"qrels": qrels, "_turns": Turns(tables, turns.number, highest)}

    def values_of(self, judged: JudgedRun) -> RunValues:
        """Return the values of a run for all queries of the judgments that it was joined with."""
        measures, strings = self.measures, self.relevance_strings
        turns = self._turns if judged.qrels is self.qrels else by_judge(judged.qrels)
        several = len(turns.tables) > 1
        if self.bounds:
            from leadline.evaluation.bounds import bounds_of
        found = [
            (
                np.stack([measure.values(one) for measure in measures], axis=1),
                _averaged(one, measures, self.averaging),
                bounds_of(measures, one) if self.bounds else None,
            )
            for one in (map(judged.with_grades, turns.tables) if several else [judged])
        ]
        values, averaged, bounds = found[0]
        if several:
            counted = turns.counted[:, :, None]
            every = counted & np.array([each for _, each, _ in found])
            values = _mean_of_judges(np.array([each for each, _, _ in found]), every, counted, measures)
            averaged = every.any(axis=0)
            if bounds is not None:
                limits = np.array([each.limits for _, _, each in found if each is not None])
                limits = np.where(counted[..., None], limits, 0.0).sum(axis=0)
                bounds = bounds._replace(limits=limits / turns.number[:, None, None])
        noted = judged.with_grades(turns.highest) if several else judged
        return RunValues(
            values,
            judged.present,
            averaged,
            bounds,
            None if strings is None else strings_of(judged, strings),
            judged.example,
            Returned.of(noted, measures, values),
        )

    def results(self, infos: Sequence[RunInfo], values_of_runs: Sequence[RunValues]) -> Results:
        """Return the results of runs from their descriptions and values.

        Raises
        ------
        InputError
            If no run has a judged query.
        """
        if not any(info.counts["queries"] for info in infos):
            raise no_common_query([info.name for info in infos], values_of_runs[0].example[0], self.qrels)
        if self.weighted is not None:
            weighed = self.weighted.weights[:, None] > 0
            values_of_runs = [run._replace(averaged=run.averaged & weighed) for run in values_of_runs]
        noted = self._turns.highest  # a document is relevant if it is for one judge
        values = np.stack([run.values for run in values_of_runs])
        present = np.stack([run.present for run in values_of_runs])
        undefined = undefined_counts(noted, self.measures, values, present)
        limits = [run.limits for run in values_of_runs if run.limits is not None]
        found = [run.returned for run in values_of_runs]
        warnings = [
            *_unmatched(infos, values_of_runs, self.qrels),
            *(machine_labels(self.qrels) if self.machine else []),
            *self._weights_warning(),
            *warnings_of(infos, noted, averaging=self.averaging, measures=self.measures),
            *warnings_of_undefined(infos, self.measures, undefined),
        ]
        warnings.sort(key=lambda notice: notice.code != "no_overlap")
        warnings += [
            *grade_one(noted, self.measures, self.options["rel"]),
            *(recall_rule(self.measures) if self.options["profile"] == "leadline" else []),
            *(fractional_warning(noted) if self.profile.whole_grades else []),
            *self._pool_warnings,
            *answerless(noted, self.measures, averaging=self.averaging),
            *returned(infos, found),
        ]
        results = Results(
            list(infos),
            noted.queries,
            self.measures,
            values,
            np.stack([run.averaged for run in values_of_runs]),
            present=present,
            relevance_strings=[run.strings for run in values_of_runs if run.strings is not None],
            without_mean=np.any(~present, axis=1) if self.averaging == "complete" else None,
            bounds=limits[0].stack(limits) if limits else None,
            weighted=self.weighted,
            qrels=self.qrels,
            examples=[run.example for run in values_of_runs],
            returned=found,
            judged_example=_first_judged(self.qrels),
            undefined=undefined,
            warnings=warnings,
            options=self.options,
            resolve=self._resolve,
        )
        if self.intervals:
            from leadline.evaluation.limits import DEFAULT_INTERVAL, few_queries, mean_intervals

            method = DEFAULT_INTERVAL if self.intervals is True else self.intervals
            rules: dict[str, Any] = {"confidence": self.confidence, "seed": self.seed}
            results.intervals = mean_intervals(results, method, **rules)
            results.options |= {"intervals": results.intervals.by, **rules}
            results.warnings += few_queries(results, results.intervals.by)
        return results


def _mean_of_judges(values: Floats, averaged: Flags, counted: Flags, measures: Sequence[Measure]) -> Floats:
    """Return mean values over turns of judges (turns x queries x measures), as means over queries are.

    A judge for whom a query is not averaged does not count. Undefined values count 0, unless the measure
    leaves them out.
    """
    defined = ~np.isnan(values)
    leaves_out = np.array([measure.average == "defined" for measure in measures])
    included = np.where(averaged.any(axis=0), averaged, counted) & (defined | ~leaves_out)
    total = np.where(included & defined, values, 0.0).sum(axis=0)
    known = (included & defined).any(axis=0)
    return np.where(known, total / np.maximum(included.sum(axis=0), 1), np.nan)


def refuse_threshold(measures: Sequence[Measure], reading: Reading) -> None:
    """Raise UsageError for a measure with a score threshold where scores are not read."""
    found = [str(one) for one in measures if getattr(one, "above", None) is not None]
    if found and reading.order == "rank":
        raise UsageError(
            f"{found[0]} has a score threshold and cannot be used with --config read.order=rank, which "
            "ignores scores"
        )


def _with_lengths(reading: Reading, measures: Sequence[Measure], cut: Cut) -> Reading:
    """Return the reading with lengths of documents only if a measure has a budget, which is checked."""
    limited = [measure for measure in measures if measure.budget is not None]
    units = {measure.budget.unit: str(measure) for measure in limited if measure.budget is not None}
    if not limited:
        return replace(reading, lengths=None)
    first = str(limited[0])
    if reading.lengths is None:
        raise UsageError(f"{first} needs document lengths. {LENGTHS}")
    column = reading.lengths.rpartition(":")[2] if isinstance(reading.lengths, str) else ""
    unit = UNITS.get(column.lower())
    if len(units) > 1:
        raise UsageError(
            f"{either(units.values(), 'and')} have budgets in different units. Use only one unit"
        )
    if unit not in (None, *units):
        raise UsageError(
            f"{first} has a budget in {next(iter(units))}, but the lengths in {reading.lengths} are in "
            f"{unit}. Use a budget in {unit}"
        )
    if cut.judged_only:
        raise UsageError(
            f"{first} cannot be combined with --judged-only, because unjudged documents also use up the "
            "budget"
        )
    return reading


def _unmatched(
    infos: Sequence[RunInfo], values_of_runs: Sequence[RunValues], table: QrelsColumns
) -> list[ResultWarning]:
    """Return a warning of runs without any judged document, with an example of the ids of both."""
    examples = {
        info.name: run.example[1]
        for info, run in zip(infos, values_of_runs, strict=True)
        if run.example[1] and run.present.any()
    }
    if not examples:
        return []
    retrieved = next(iter(examples.values()))
    judged, name = set(table.documents), to_bytes(retrieved)
    whole = (name[:size] for size in range(len(name) - 1, 0, -1) if name[:size] in judged)  # of a chunk
    return no_judged_document(list(examples), retrieved, to_text(next(whole, b"")) or _first_judged(table))


def _first_judged(table: QrelsColumns) -> str:
    """Return the first judged document of the first query; an empty string without judgments."""
    filled = np.flatnonzero(table.end > table.begin)
    return to_text(table.documents[int(table.begin[filled[0]])]) if len(filled) else ""


def _table(
    table: QrelsColumns, known: KnownLike | None, pool: PoolLike | None, measures: Sequence[Measure]
) -> tuple[QrelsColumns, list[ResultWarning]]:
    """Return the judgments with known documents and inclusion probabilities, and warnings."""
    if known is not None:
        from leadline.io import id_lists

        table = table.with_known(id_lists.of(known))
    if pool is None and not table.is_sample:
        return table, []
    from leadline.evaluation.estimated_recall import joined

    return joined(table, pool, measures)


@dataclass(repr=False, eq=False)
class Meaning:
    """What names of measures mean in an evaluation."""

    profile: Profile
    rel: float | None = None
    documents: int | None = None

    def __call__(self, measure: object) -> list[Measure]:
        """Return the measures that a name denotes."""
        check_whole(0, documents=self.documents)
        check_numbers(**{} if self.rel is None else {"rel": self.rel})
        return self.profile.measures(_listed(measure), rel=self.rel, documents=self.documents)


def _listed(measures: object) -> Iterable[str | Measure]:
    if measures is None:
        return DEFAULT_MEASURES
    single = isinstance(measures, (str, bytes, Measure, type)) or is_of_ir_measures(measures)
    given: list[Any] = list(measures) if isinstance(measures, Iterable) and not single else [measures]
    listed = [
        measure() if isinstance(measure, type) and issubclass(measure, Measure) else measure
        for measure in given
    ]
    listed = [text_of(measure) if is_of_ir_measures(measure) else measure for measure in listed]
    for measure in listed:
        if not isinstance(measure, (str, Measure)):
            raise UsageError(f"{measure!r} is not a measure. Pass a name such as AP or P@5.")
    return listed


def _averaged(judged: JudgedRun, measures: Sequence[Measure], averaging: str) -> Flags:
    """Return flags of the queries in the mean of each measure, queries x measures."""
    shape = (len(judged.present), len(measures))
    if averaging == "both":
        return np.broadcast_to(judged.present[:, None], shape).copy()
    if averaging == "with_relevant":
        return np.stack([_has_relevant(judged.qrels, measure) for measure in measures], axis=1)
    return np.ones(shape, dtype=np.bool_)


def _has_relevant(qrels: QrelsColumns, measure: Measure) -> Flags:
    """Return flags of queries with a relevant document; for measures of gains, with a positive grade.

    Measures of queries without an answer have all queries.
    """
    if measure.unanswered:
        return np.ones(len(qrels.queries), dtype=np.bool_)
    rel = getattr(measure, "rel", None)
    counts = qrels.count(qrels.grades > 0) if rel is None else qrels.relevant(rel)
    return np.asarray(counts > 0)
