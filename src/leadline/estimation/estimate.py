"""Estimate measures from a sample of judgments, with intervals over draws and over queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any, Unpack, cast

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers, digest
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading, RunsOptions
from leadline.data.table import ResultWarning, keyed
from leadline.data.validation import check_flags, check_whole
from leadline.data.wording import counted, listed, percent
from leadline.errors import UsageError, either
from leadline.estimation import estimated_columns as parts_of
from leadline.estimation.designs import Cascade, Kind, Linear, Ratio, has_interval, kinds_of
from leadline.estimation.estimated_columns import Difference, Estimate, estimate_columns, estimate_notes
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.measured_pool import Look, chances, check_kinds, judge_warning
from leadline.estimation.samples import evidence_of
from leadline.estimation.sampling_errors import (
    FEWEST_DEPENDED_ON,
    FEWEST_JUDGMENTS,
    FEWEST_QUERIES,
    FEWEST_RELEVANT,
    MOST_GUESSED,
    MOST_GUESSED_OF_NEW,
    OUTSIDE_BY_SLICE,
    ROUNDING,
    WITHOUT_VALUE,
    NoInterval,
    RunEstimate,
    Withheld,
    half_width,
    ideal_withheld,
    of_another_frame,
    small_probabilities,
    widening,
)
from leadline.evaluation.estimated_recall import RecallEstimate, RecallEstimates, recall, relevant
from leadline.evaluation.join import judge_runs
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results, in_range
from leadline.evaluation.run_warnings import check_level, count_warnings, grade_one, no_overlap
from leadline.io.objects import judgments_of
from leadline.io.pool_files import PoolLike
from leadline.io.read import QrelsLike, RunLike
from leadline.measures import Measure
from leadline.measures.precision import R
from leadline.result import Make
from leadline.stats import INTERVALS, checked_level

DEFAULT_MEASURES = ("P@10", "nDCG@10")
# Smallest and largest coverage of 95 % intervals for pooled runs in docs/studies/estimate.md, in per cent: of
# cascade measures (RR, Success, ERR) with and without predictions. That of nDCG is in ndcg-intervals.md.
COVERAGE = {"RR": (89, 99), "nDCG": (91, 100)}
COVERAGE_UNGUESSED = {"RR": (85, 100)}
COVERAGE_OF_NEW = (93, 100)  # of sums (P, RBP, DCG) of runs that did not contribute to the pool
# Warnings of `evaluate` that do not hold here; what is unjudged is in the weights by source.
NOT_OF_ESTIMATES = {"empty_queries", "unjudged_documents", "uneven_judgments", "tied_lists"}


class EstimatedResults(Results):
    """Estimates of measures from a sample of judgments.

    Accepted by `compare`, `rank` and `report`, unless intervals are withheld.

    Attributes
    ----------
    new : ndarray of bool, shape (n_runs,)
        Runs that did not contribute to the pool.
    confidence : float
        Confidence level of the intervals.
    proxy : str
        Source of the predicted grades of unjudged pairs: machine, centered or none.
    judgments : int
        Number of judged pairs in the sample.
    read : dict of str to int
        Number of pairs in the pool, and of labels.
    look : Look or None
        Look of the pool that the values are those of; None if all judgments were taken.
    """

    new: Flags
    confidence: float
    proxy: str
    _parts: list[list[RunEstimate]]
    _rows: str  # digest of the pairs in their order, to which errors refer
    _pairs: int
    _probability: Floats
    _complete: bool
    _gaps: int
    _judged: Integers  # number of judged pairs of each query, without those judged before the draw
    _frameless: bool
    _relevant: list[int]
    _least: int  # number of relevant drawn pairs that an interval needs
    _ideals: list[Withheld | None]
    judgments: int
    read: dict[str, int]
    look: Look | None = None

    @cached_property
    def _kinds(self) -> list[Kind]:  # with functions, which no file holds
        return kinds_of(cast(list[Measure], self.measures))

    select_measures = parts_of.selected
    with_runs = parts_of.joined

    def estimate(self, run: str, measure: object) -> Estimate:
        """Return the estimated mean of a measure for a run, with intervals and weights by source.

        Parameters
        ----------
        run : str
            Name of the run.
        measure : str or Measure
            One of the estimated measures.

        Returns
        -------
        Estimate
        """
        return self._estimate(self._run_index(run), self.measure_index(measure))

    @cached_property
    def _over_queries(self) -> list[tuple[Floats, Floats]]:
        """Lower and upper ends of the intervals over queries, by measure and run."""
        student = INTERVALS.parse("Student")
        return [
            student.limits(self.averaged_values(place).T, level=self.confidence)
            for place in range(len(self.measures))
        ]

    def _estimate(self, run: int, place: int) -> Estimate:
        part = self._parts[run][place]
        value = float(self.means[run, place])
        withheld = self._reasons[run][place]
        low = high = these_low = these_high = widened = math.nan
        to_halve = None
        if withheld is None and not math.isnan(value):
            below, above, widened, to_halve = widening(self._half_width(part), part, self.confidence)
            these_low, these_high = value - below, value + above
            ends = (float(limits[run]) for limits in self._over_queries[place])
            low, high = (
                value + sign * math.hypot(end - value, doubt)
                for sign, end, doubt in zip((-1, 1), ends, part.doubt.tolist(), strict=True)
            )
            low, high = min(low, these_low), max(high, these_high)  # other queries are not better known
        judged, drawn, guessed, unknown = part.shares.tolist()
        lowest, highest = value - part.doubt[0], value + part.doubt[1]
        if isinstance(self._kinds[place], Ratio):
            lowest = highest = math.nan
        return Estimate(
            value,
            self._ranks[place].get(run),
            low,
            high,
            these_low,
            these_high,
            widened,
            to_halve,
            float(lowest),
            float(highest),
            judged,
            drawn,
            guessed,
            unknown,
            "" if withheld is None else withheld.message,
            self.target(place),
        )

    def _records(self, run: int) -> dict[str, dict[str, Any]]:
        """Return the estimates of a run by measure, without the values, which are the means."""
        records = {
            str(measure): keyed(self._estimate(run, place)) for place, measure in enumerate(self.measures)
        }
        for one in records.values():
            del one["value"]
        return records

    def target(self, place: int) -> str:
        """Return the target of a measure, as in `Estimate`."""
        relative = isinstance(self._kinds[place], Ratio)
        return "pooled" if relative and self.read["pool"] else "all"

    @cached_property
    def _ranks(self) -> list[dict[int, int]]:
        """Rank of each run by measure; runs without an interval have none beside others that have one."""
        found = []
        for place in range(len(self.measures)):
            runs = [run for run in self.order(place) if not math.isnan(self.means[run, place])]
            known = [run for run in runs if self._reasons[run][place] is None]
            found.append({run: rank for rank, run in enumerate(known or runs, start=1)})
        return found

    @cached_property
    def _reasons(self) -> list[list[Withheld | None]]:
        """Why there is no interval of a run and measure, or None."""
        measures = range(len(self.measures))
        return [[self._withheld(run, place) for place in measures] for run in range(len(self.runs))]

    def _half_width(self, part: RunEstimate) -> float:
        """Return the half-width of the interval over draws of the mean of one run."""
        return half_width(part.errors, part.replicates, self._probability, self.confidence, part.predicted[1])

    def _withheld_over(self, members: Flags, run: int, place: int) -> str:
        """Return why there is no interval over some of the queries; empty if there may be one."""
        withheld = self._withheld(run, place, members=members)
        if withheld is None and self._parts[run][place].doubt.any() and not members.all():
            withheld = OUTSIDE_BY_SLICE
        return "" if withheld is None else withheld.message

    def _untested_over(self, members: Flags, pair: tuple[int, int], place: int) -> str:
        """Return why a pair of runs is not tested over some of the queries; empty if it may be."""
        reason, doubt = self._untested(*pair, place, members)
        return reason or (OUTSIDE_BY_SLICE.message if doubt.any() else "")

    def _untested(
        self, first: int, second: int, place: int, members: Flags | None = None
    ) -> tuple[str, Floats]:
        """Return why two runs are not tested, empty if they are, and the doubt about their difference."""
        a, b = self._parts[first][place], self._parts[second][place]
        doubt, proportion = a.doubt_of_difference(b, self._pairs)
        doubt = np.where(doubt > ROUNDING, doubt, 0.0)
        divided = isinstance(self._kinds[place], Ratio)
        if divided:
            proportion = 1.0  # the divisor depends on documents that both runs have alike, too
        withheld = [
            self._withheld(one, place, proportion=proportion, members=members) for one in (first, second)
        ]
        withheld = [one for one in withheld if one is None or one.code is not NoInterval.FEW_DEPENDED_ON]
        if not (divided or a.sampled or b.sampled or self._gaps or doubt.any()):
            # Every pair that matters for the difference is judged, however few they are.
            few = (NoInterval.FEW_JUDGMENTS, NoInterval.FEW_RELEVANT, NoInterval.GUESSED)
            withheld = [one for one in withheld if one is not None and one.code not in few]
        return next((one.message for one in withheld if one is not None), ""), doubt

    def _withheld(
        self, run: int, place: int, *, proportion: float = 1.0, members: Flags | None = None
    ) -> Withheld | None:
        """Return why there is no interval, or None; `proportion` of the guessed weight counts."""
        part, kind, relevant = self._parts[run][place], self._kinds[place], self._relevant[place]
        kept = slice(None) if members is None else members
        queries, judgments = int(self.averaged[0, kept, place].sum()), int(self._judged[kept].sum())
        old = " (excluding those made before the draw)" if self._least else ""
        outside = proportion * float(part.shares[2] + part.shares[3])
        if self.runs[run].counts["queries"] == 0:
            return Withheld(NoInterval.NO_QUERY)
        if self.unreliable:
            return Withheld(NoInterval.MACHINE)
        if parts_of.is_exact(self, place, [run]):
            return None
        most = MOST_GUESSED_OF_NEW if self.new[run] and self.proxy != "none" else MOST_GUESSED
        unpredicted = self.proxy == "none" and bool(len(self._probability)) and part.sampled
        wide = isinstance(kind, Cascade) and self._half_width(part) > 0.5  # products lie between 0 and 1
        divided = isinstance(kind, Ratio)
        reasons = (
            (self._frameless and divided, Withheld(NoInterval.NO_FRAME)),
            (unpredicted and divided, Withheld(NoInterval.NO_DIVISOR)),
            (self._gaps > 0, Withheld(NoInterval.GAPS, counted(self._gaps, "drawn pair"))),
            (wide, Withheld(NoInterval.EXPLODED)),
            (judgments < FEWEST_JUDGMENTS, Withheld(NoInterval.FEW_JUDGMENTS, f"{judgments}{old}")),
            (queries < FEWEST_QUERIES, Withheld(NoInterval.FEW_QUERIES, queries)),
            (relevant < self._least, Withheld(NoInterval.FEW_RELEVANT, relevant)),
            (not has_interval(kind), Withheld(NoInterval.NOT_EXACT)),
            (outside > most, Withheld(NoInterval.GUESSED, percent(round(outside, 3)), percent(most))),
        )
        found = next((reason for holds, reason in reasons if holds), None)
        if isinstance(kind, Ratio) and self.new[run]:
            found = found or Withheld(NoInterval.NOT_SIMULATED, "runs that did not contribute to the pool")
        found = found or self._ideals[place] or self._no_variance(part, place)
        affecting = int(np.count_nonzero(part.errors))
        if self._least and not divided and affecting < FEWEST_DEPENDED_ON:
            # The last reason, because intervals of differences are given in spite of it.
            found = found or Withheld(NoInterval.FEW_DEPENDED_ON, affecting)
        return found

    def _no_variance(self, part: RunEstimate, place: int) -> Withheld | None:
        """Return why a value that depends on drawn pairs has no estimated variance, or None."""
        if not (part.sampled and len(self._probability)) or len(part.replicates):
            return None
        if not self._relevant[place]:
            return Withheld(NoInterval.NO_RELEVANT)
        half = self._half_width(part)
        return Withheld(NoInterval.NO_VARIANCE) if half < ROUNDING else None

    def differences(self, measure: object | None = None) -> list[Difference]:
        """Return the differences of all pairs of runs with confidence intervals for these queries.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the estimated measures; all of them if omitted.

        Returns
        -------
        list of Difference
        """
        places = range(len(self.measures)) if measure is None else [self.measure_index(measure)]
        pairs = []
        for place, (first, second) in product(places, combinations(range(len(self.runs)), 2)):
            a, b = self._parts[first][place], self._parts[second][place]
            gap = float(self.means[first, place] - self.means[second, place])
            reason, (down, up) = self._untested(first, second, place)
            half = math.nan
            if not reason:
                errors, replicates = a.errors - b.errors, a.replicates - b.replicates
                predicted = a.predicted_difference(b, self._pairs)
                half = half_width(errors, replicates, self._probability, self.confidence, predicted)
                half = half if half > ROUNDING else 0.0
            low, high = gap - math.hypot(half, down), gap + math.hypot(half, up)
            names, doubt = (self.names[first], self.names[second]), (float(down), float(up))
            pairs.append(Difference(*names, str(self.measures[place]), gap, low, high, reason, doubt))
        return pairs

    def limit_columns(self, *, per_query: bool = False) -> dict[str, Floats]:
        """Return the intervals by column name in data frames, as `Results.limit_columns`; not clipped."""
        if per_query:
            return {}
        size = range(len(self.runs)), range(len(self.measures))
        found = [[self._estimate(run, place) for place in size[1]] for run in size[0]]
        names = ("low", "high", "these_low", "these_high")
        return {name: np.array([[getattr(one, name) for one in row] for row in found]) for name in names}

    def _is_long(self, per_query: bool | None, long: bool | None) -> bool:  # noqa: ARG002  # of the base class
        return True if long is None else long

    _columns = estimate_columns  # type: ignore[assignment]  # no options
    _notes = estimate_notes

    def to_dict(self, *, per_query: bool = False, means: bool = True) -> dict[str, Any]:
        """Return a dictionary with the keys measures, runs and proxy."""
        return super().to_dict(per_query=per_query, means=means) | {"proxy": self.proxy}

    def _notices(self, sample: Sample, drawn_for: Sequence[str], pair: Sequence[str]) -> list[ResultWarning]:
        """Return warnings of estimates: what they are not valid for, and how far their intervals are."""
        rows, warnings = sample.drawn, []
        others: list[str] = []
        if len(rows) and drawn_for:
            drawn = kinds_of(profile_of("leadline").measures(list(drawn_for)))
            others = of_another_frame(list(map(str, self.measures)), self._kinds, drawn)
        if others:
            words = (
                f"the pool was drawn for {listed(drawn_for)}, so values and ranks of runs are unreliable for "
                f"{listed(others)}"
            )
            warnings.append(ResultWarning("drawn_for_others", words, len(others)))
        if any(isinstance(kind, Cascade) for kind in self._kinds) and len(rows):
            warnings += small_probabilities(sample)
        reasons: dict[tuple[str, str], int] = {}  # number of runs, by the words before and after it
        alone: dict[str, None] = {}  # measures without intervals of the compared runs
        for run in range(len(self.runs)):
            for place, measure in enumerate(self.measures):
                withheld = self._reasons[run][place]
                if withheld is not None and withheld.code is NoInterval.GUESSED and self.names[run] in pair:
                    alone[str(measure)] = None
                elif withheld is not None:
                    missing = "value" if withheld.code in WITHOUT_VALUE else "interval"
                    runs = counted(len(self.runs), "run")
                    parts = f"{measure} has no {missing} for ", f" of {runs}: {withheld.summary}"
                    reasons[parts] = reasons.get(parts, 0) + 1
        if alone:
            of = "" if len(alone) == len(self.measures) else f"{either(alone)} "
            words = f"individual runs have no {of}interval, because the pool was drawn to compare "
            warnings.append(ResultWarning("no_interval", words + listed(pair), 1))
        warnings += [
            ResultWarning("no_interval", f"{before}{count:,}{after}", count)
            for (before, after), count in reasons.items()
        ]
        coverage = COVERAGE_UNGUESSED if self.proxy == "none" else COVERAGE
        for family, (low, high) in coverage.items():
            kind = Cascade if family == "RR" else Ratio
            names = [
                str(measure)
                for place, measure in enumerate(self.measures)
                if isinstance(self._kinds[place], kind)
                and any(not reasons[place] for reasons in self._reasons)
            ]
            if names and len(rows):
                words = (
                    f"{listed(names)} intervals are approximate (in simulations, 95 % intervals contained "
                    f"the true value {low} to {high} % of the time)"
                )
                warnings.append(ResultWarning("approximate_intervals", words, len(names)))
        linear = [place for place in range(len(self.measures)) if isinstance(self._kinds[place], Linear)]
        given = [
            [not self._reasons[run][place] for place in linear] for run in np.flatnonzero(self.new).tolist()
        ]
        if any(map(any, given)) and len(rows):
            low, high = COVERAGE_OF_NEW
            names = [
                str(self.measures[place])
                for place, ones in zip(linear, zip(*given, strict=True), strict=True)
                if any(ones)
            ]
            words = (
                f"{listed(names)} intervals of new runs tend to be conservative, because they allow for "
                "documents outside the sampling frame (in simulations, 95 % intervals contained the true "
                f"value {low} to {high} % of the time)"
            )
            warnings.append(ResultWarning("conservative_intervals", words, sum(map(any, given))))
        given_intervals = any(reason is None for reasons in self._reasons for reason in reasons)
        warnings.append(judge_warning(sample, self.judgments, intervals=given_intervals))
        said = {*drawn_for, *others}
        said |= {str(one) for place, one in enumerate(self.measures) if parts_of.is_exact(self, place)}
        less = [text for text in map(str, self.measures) if text not in said]
        if drawn_for and less:
            words = (
                f"the pool was drawn for {listed(drawn_for)}, so {listed(less)} estimates are less precise"
            )
            warnings.append(ResultWarning("other_measure", words, len(less)))
        parts_of.refuse_infinite(self.measures, [np.isinf(one).any() for one in self.means.T])
        return warnings

    def _figure(self, *, measure: object | None = None) -> Make:  # type: ignore[override]  # one kind
        """Draw the estimates of a measure, by default the first, with both intervals."""
        from leadline.charts.interval_plots import nested_intervals

        place = 0 if measure is None else self.measure_index(measure)
        drawn, order = self.measures[place], self.order(place)
        found = [self.estimate(self.names[run], drawn) for run in order]
        spans = [f"{percent(self.confidence)} interval for {which} queries" for which in ("these", "other")]
        return lambda width: nested_intervals(
            [self.names[run] for run in order],
            [one.value for one in found],
            in_range([(one.these_low, one.these_high) for one in found], drawn),
            in_range([(one.low, one.high) for one in found], drawn),
            new=self.new[order].tolist(),
            label=f"{drawn}, estimated",
            words=["estimate", *spans, "estimate for a new run (not pooled)", ""],
            width=width,
        )


def estimate(
    judgments: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    pool: PoolLike | None = None,
    machine: QrelsLike | None = None,
    proxy: str | None = None,
    rel: float | None = None,
    skipped: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
    twice: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[RunsOptions],
) -> EstimatedResults:
    """Estimate measures of runs from a sample of judgments.

    Each query-document pair has the pseudo-grade m + (I / p) (y - m), where p is its inclusion probability, I
    indicates that it was drawn and judged, y is its grade and m a prediction fitted without the judgments of
    that query. Its expectation is y for every m made without them, so that sums over documents are unbiased.

    Parameters
    ----------
    pool : path, DrawnPool or `{query: {document: probability}}`, optional
        Inclusion probabilities. If omitted, judged pairs have probability 1 and all others are guessed or
        unknown.
    machine : qrels, optional
        Labels of a machine judge, made without the judgments and calibrated by them. Labels that depend on
        which pairs were drawn are excluded, with a warning.
    proxy : {"centered", "none"}, optional
        Prediction without machine labels: the mean grade of the judged pairs, or 0 (Horvitz-Thompson
        estimator). Default "centered" if pairs were drawn, else "none".
    skipped : bool, default False
        Give intervals although drawn pairs have no judgment, as the judging page does.
    twice : mapping, optional
        Probability and grade of the pairs that a second judge judged again, as of `judged_again`.

    References
    ----------
    Horvitz and Thompson (1952), JASA 47; Sarndal, Swensson and Wretman (1992), Model Assisted Survey
    Sampling; Yilmaz, Kanoulas and Aslam (2008), SIGIR.

    >>> pool = {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d3": 1.0}}
    >>> judged = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 0}}
    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}
    >>> results = estimate(judged, {"mine": run}, "P@2", pool=pool, proxy="none")
    >>> results.mean("mine", "P@2")  # d2 has weight 1 / 0.5: (3 / 2 + 0) / 2
    0.75
    """
    reading = Reading.of(estimate, options, RunsOptions)
    check_flags(skipped=skipped)
    check_whole(0, seed=seed)
    level = checked_level(confidence)
    table = judgments_of(judgments, reading)
    evidence = evidence_of(table, pool, machine, proxy, skipped=skipped, seed=seed, twice=twice)
    sample, known = evidence.sample, evidence.known
    wanted = profile_of("leadline").measures(
        (evidence.drawn_for or DEFAULT_MEASURES) if measures is None else measures, rel=rel
    )
    kinds = kinds_of(wanted)
    check_kinds(wanted, kinds, twice)
    check_level(rel, sample.table)
    with np.errstate(over="ignore"):
        parts_of.refuse_infinite(wanted, [np.isinf(sample.reached(kind.target)).any() for kind in kinds])
    estimators = [Estimator(sample, kind) for kind in kinds]

    def estimate_run(judged: JudgedRun) -> tuple[list[RunEstimate], dict[str, RecallEstimate]]:
        found = {
            str(one): recall(judged, one.rel, one.cutoff, confidence=level)
            for one in wanted
            if isinstance(one, R)
        }
        estimates = [estimator.of(judged) for estimator in estimators]
        if sample.exact:
            estimates = [
                part._replace(values=measure.values(judged))
                if sample.complete or not isinstance(kind, Ratio)
                else part
                for part, measure, kind in zip(estimates, wanted, kinds, strict=True)
            ]
        return estimates, found

    infos, estimated = judge_runs(
        runs, sample.table, estimate_run, reading=reading, measures=wanted, on_run=on_run
    )
    if infos and all(info.counts["queries"] == 0 for info in infos):
        raise UsageError(
            "no run contains any query from the pool or the judgments (such as "
            f"'{sample.table.queries[0]}'). Check that the query ids match."
        )
    parts, recalls = map(list, zip(*estimated, strict=True))
    values = np.array([[part.values for part in run] for run in parts]).transpose(0, 2, 1)
    results = EstimatedResults(
        infos,
        sample.table.queries,
        wanted,
        np.ascontiguousarray(values),
        np.ones(values.shape, dtype=np.bool_),
        warnings=evidence.warnings,
        options={
            "measures": list(map(str, wanted)),
            "rel": rel,
            "proxy": evidence.proxy,
            "skipped": skipped,
            "confidence": level,
            **reading.options(RunsOptions),
            "seed": seed,
        },
    )
    results.qrels = sample.table.digest_with(sample.probability, sample.judged)
    levels = sorted({one.rel for one in wanted if isinstance(one, R)}) if len(sample.drawn) else []
    counts = {rel: relevant(sample.table, rel, confidence=level) for rel in levels}
    reached = (sample.reached(kind.target)[sample.drawn] for kind in kinds)
    vars(results).update(
        new=np.array([evidence.pooled is not None and info.name not in evidence.pooled for info in infos]),
        confidence=level,
        proxy=evidence.proxy,
        judgments=evidence.judgments,
        read=evidence.read,
        estimates=RecallEstimates(counts, recalls, level) if counts else None,
        _parts=parts,
        _rows=digest(sample.table.documents, sample.table.query),
        _pairs=len(sample.probability),
        _probability=chances(sample),
        _complete=sample.complete,
        _gaps=evidence.gaps,
        _judged=np.bincount(sample.table.query[sample.judged & ~known], minlength=len(sample.table.queries)),
        _frameless=sample.frameless and bool((sample.probability[sample.framed] < 1).any()),
        _relevant=[int((one > 0).sum()) for one in reached],
        _least=FEWEST_RELEVANT if (sample.judged & known).any() else 0,
        _ideals=[ideal_withheld(sample, kind, evidence.drawn_for) for kind in kinds],
    )
    results.values, results.averaged = parts_of.without_exploded(results)
    results.sampling = [
        {"new": bool(new), "estimate": results._records(run)}  # noqa: SLF001  # same module
        for run, new in enumerate(results.new.tolist())
    ]
    of_runs = [no_overlap(infos), *count_warnings(infos)]
    results.warnings += [one for one in of_runs if one.count and one.code not in NOT_OF_ESTIMATES]
    results.warnings += grade_one(sample.table, wanted, rel)
    results.warnings += results._notices(sample, evidence.drawn_for, evidence.pair)  # noqa: SLF001  # same module
    return results


__all__ = ["Difference", "Estimate", "EstimatedResults", "estimate"]
