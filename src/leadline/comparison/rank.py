"""Ranks of runs with simultaneous intervals, bootstrap intervals and probabilities to be the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.comparison.compare import results_of
from leadline.comparison.engine import AllPairs, Tested
from leadline.comparison.pairing import (
    Rules,
    at_look,
    check_averages,
    check_intervals,
    check_judged,
    in_groups,
    pairs_of,
    units_of,
)
from leadline.data.table import Column, ResultWarning, RunInfo
from leadline.data.validation import check_whole
from leadline.data.wording import counted, listed, percent
from leadline.errors import UsageError
from leadline.evaluation.evaluate import TestedOptions
from leadline.evaluation.lookups import cut_note
from leadline.evaluation.profiles import MeasuresLike, RunsLike
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import no_quality
from leadline.io.read import QrelsLike
from leadline.io.read_paths import public
from leadline.result import Make, Result
from leadline.stats import Correction, PairedTest
from leadline.stats.moments import ROUNDING, Groups, effective_groups, too_few_groups, totals
from leadline.stats.ranks import bootstrap_ranks, groups_from_best, mid_ranks, rank_limits

DRAWS = 10_000
# Percentage of simulated 95 % bootstrap intervals that contained the true rank, by number of queries: of ten
# runs of adjacent true ranks, and of ten random runs (docs/comparing.md).
BOOTSTRAP_COVERAGE = {6: (78, 94), 10: (83, 97), 15: (86, 98), 25: (88, 99), 41: (91, 99)}
ENOUGH = 50  # queries from which it is 92 % or more
FEWEST = min(BOOTSTRAP_COVERAGE)  # queries below which it is 67 to 76 %: intervals are withheld


class RankedRun(NamedTuple):
    """Rank of one run by one measure; NaN without a bootstrap.

    Attributes
    ----------
    name : str
        Name of the run.
    measure : str
        The measure.
    mean : float
        Mean over queries.
    rank : float
        Rank of the mean, 1 for the best; ties share their mean rank.
    rank_low, rank_high : int
        Best and worst rank in the simultaneous confidence interval of the ranks of all runs.
    bootstrap_low, bootstrap_high : float
        Best and worst rank in the percentile interval of this run alone; NaN with fewer than six queries.
    best : float
        Share of the bootstrap resamples of shrunken means in which the run is the best, from 0 to 1; ties
        share it. NaN with one query, and where the analysis of variance finds no significant difference.
    expected : float
        Mean rank over the resamples; NaN with one query.
    group : int
        1 for the best run and those not significantly different from it, 2 the same for the rest, and so on.
    """

    name: str
    measure: str
    mean: float
    rank: float
    rank_low: int
    rank_high: int
    bootstrap_low: float
    bootstrap_high: float
    best: float
    expected: float
    group: int


@dataclass(repr=False, eq=False)
class Ranking(Result):
    """Ranks of runs, with intervals, by one or more measures.

    Attributes
    ----------
    results : Results
        Values of the runs.
    fields : dict of str to list or ndarray
        Columns of `records`.
    rules : Rules
        Test, correction and levels.
    draws : int
        Number of bootstrap resamples.
    pairs : int
        Number of pairs of runs.
    """

    results: Results
    fields: dict[str, Any]
    rules: Rules
    draws: int
    pairs: int

    def __post_init__(self) -> None:
        used = ("test", "correction", "family", "confidence", "query_group", "seed")
        shown = self.rules.shown()
        self.options = self.results.options | {name: shown[name] for name in used} | {"draws": self.draws}

    @property
    def runs(self) -> list[RunInfo]:
        """The ranked runs."""
        return self.results.runs

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return self.results.names

    def runs_of(self, index: int = 0) -> list[RankedRun]:
        """Return the runs by one measure, the best first.

        Parameters
        ----------
        index : int, default 0
            Index of the measure.
        """
        first = index * len(self.names)
        return self.records()[first : first + len(self.names)]

    def records(self) -> list[RankedRun]:
        """Return the runs by every measure, the best first."""
        columns = (np.asarray(values).tolist() for values in self.fields.values())
        return [RankedRun(*row) for row in zip(*columns, strict=True)]

    def _columns(self) -> list[Column]:
        runs = len(self.names)
        several, once = len(self.results.measures) > 1, self.draws == 0
        name, measure, mean, rank, low, high, boot_low, boot_high, best, expected, group = (
            self.fields.values()
        )
        quality = [getattr(one, "quality", True) for one in self.results.measures]
        first = (rank == np.repeat(rank[::runs], runs)) & np.repeat(quality, runs)
        leading = np.flatnonzero(first).tolist() if runs > 1 else ()
        return [
            Column("name", name, "run"),
            Column("measure", measure, hidden=not several),
            Column("mean", mean, "mean" if several else str(self.results.measures[0]), best=leading),
            Column("rank", rank, form="g"),
            Column("rank_low", low, "low"),
            Column("rank_high", high, "high"),
            Column("bootstrap_low", boot_low, "boot low", "g", dropped=2, hidden=once),
            Column("bootstrap_high", boot_high, "boot high", "g", dropped=3, hidden=once),
            Column("expected", expected, form=".1f", dropped=1, printed_only=True, hidden=once),
            Column("best", best, "P(best)", "p", hidden=once),
            Column("expected", expected, hidden=True),
            Column("group", group),
        ]

    def _notes(self) -> list[str]:
        rules, level = self.rules, percent(self.rules.confidence)
        over = counted(self.pairs, "pair") + " per measure"
        if rules.family == "all":
            over = counted(self.pairs * len(self.results.measures), "test") + " across all measures"
        kind = f"{rules.adjusted} " * rules.corrects
        falling = [str(measure) for measure in self.results.measures if not measure.rising]
        notes = [
            f"low, high: {kind}{level} CIs of the ranks ({rules.decided_by}, {over})",
            "group 1: the best run and those not significantly different from it; group 2: same for the rest",
        ]
        said = {
            "bootstrap_low": f"boot low, boot high: {level} CI of each rank alone",
            "expected": "expected: mean rank",
            "best": "P(best): share of resamples in which the run's (shrunken) mean is best",
        }
        known = [words for name, words in said.items() if not np.isnan(self.fields[name]).all()]
        if known:
            notes.insert(1, f"{'; '.join(known)} ({self.draws:,} resamples, seed {rules.seed})")
        if falling:
            notes.append(f"lower is better: {', '.join(falling)}")
        return [*notes, *cut_note(self.results.options), *super()._notes()]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys measures, queries and runs; None is undefined."""
        return {
            "measures": [str(measure) for measure in self.results.measures],
            "queries": self.results.averaged_queries(),
            "runs": self.to_rows(),
        }

    def _figure(self, *, measure: object | None = None) -> Make:
        """Draw the ranks of the runs with their intervals by a measure, by default the first."""
        from leadline.charts import COLUMN
        from leadline.charts.interval_plots import ranks

        index = 0 if measure is None else self.results.measure_index(measure)
        runs, rules = self.runs_of(index), self.rules
        adjusted = "all runs at once" if rules.adjusted == "simultaneous" else rules.adjusted
        return lambda width: ranks(
            [run.name for run in runs],
            [run.rank for run in runs],
            [(run.rank_low, run.rank_high) for run in runs],
            [(run.bootstrap_low, run.bootstrap_high) for run in runs],
            [run.group for run in runs],
            measure=str(self.results.measures[index]),
            adjusted=adjusted if rules.corrects else "uncorrected tests",
            confidence=rules.confidence,
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        measures = ", ".join(str(measure) for measure in self.results.measures)
        return f"Ranking({counted(len(self.names), 'run')} by {measures})"


@public
def rank(
    qrels: QrelsLike | Results,
    *runs_and_measures: RunsLike | MeasuresLike | None,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    test: str | PairedTest = "T",
    correction: str | Correction = "Holm",
    family: str = "measure",
    confidence: float = 0.95,
    draws: int = DRAWS,
    query_group: str | Mapping[str, object] | None = None,
    machine: QrelsLike | None = None,
    seed: int = 0,
    **options: Unpack[TestedOptions],
) -> Ranking:
    """Rank runs by their means, with intervals of the ranks.

    Parameters
    ----------
    qrels, *runs_and_measures, runs, measures
        As in `compare`; or `Results` alone, such as those of `read_scores`.
    test, correction, family, query_group, machine, seed
        As in `compare`; the tests are of all pairs of runs.
    confidence : float, default 0.95
        Confidence level of the intervals.
    draws : int, default 10,000
        Number of bootstrap resamples of the queries; 0: no bootstrap intervals, probabilities to be the best
        and expected ranks.
    **options
        Options of `evaluate`; none with results, whose values are known. With a pool that was drawn for
        measures (`pool`), the values are estimates.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        If no document of a run is judged.
    UsageError
        If options are invalid or contradict each other.

    Notes
    -----
    The simultaneous intervals invert the corrected tests of all pairs: from 1 + the number of runs that are
    significantly better to n less the number that are significantly worse. With probability `confidence` all
    of them contain the ranks in the population of queries, if the tests are valid. Percentile intervals of
    bootstrapped ranks are of each run alone; together they contain all ranks far less often
    (docs/comparing.md). Probabilities to be the best are of means that are shrunk towards their common mean
    by as much of their differences as may be sampling error, at `confidence`.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks, Review of Economic Studies 91(1).

    Examples
    --------
    >>> qrels = {f"q{n}": {"d": 1} for n in range(8)}
    >>> good = {query: {"d": 1.0} for query in qrels}
    >>> bad = {query: {"x": 9.0, "y": 8.0 + n % 2, "d": 1.0} for n, query in enumerate(qrels)}
    >>> fair = {query: {"d": 1.0} if n % 2 else {"x": 2.0, "d": 1.0} for n, query in enumerate(qrels)}
    >>> ranking = rank(qrels, {"good": good, "fair": fair, "bad": bad}, "RR")
    >>> [(run.name, run.rank, run.rank_low, run.rank_high, run.group) for run in ranking.runs_of(0)]
    [('good', 1.0, 1, 1, 1), ('fair', 2.0, 2, 2, 2), ('bad', 3.0, 3, 3, 3)]
    """
    sampling = {"machine": machine, "confidence": confidence, "seed": seed}
    results = results_of(rank, qrels, runs_and_measures, runs, measures, options, sampling)
    rules = Rules.of(
        test=test,
        correction=correction,
        family=family,
        confidence=confidence,
        query_group=query_group,
        seed=seed,
    )
    return rank_results(results, rules, draws=draws)


def rank_results(results: Results, rules: Rules, *, draws: int = DRAWS) -> Ranking:
    """Rank evaluated runs."""
    if results.unreliable:
        raise UsageError(f"{results.unreliable}, so ranks have no interval. Use only human judgments.")
    check_whole(0, draws=draws)
    rules = at_look(results, rules)
    groups = units_of(results, rules.query_group)
    pairs = pairs_of(results, None)
    check_averages(results)
    check_judged(results)
    check_intervals(results)
    tested = Tested(AllPairs.of(results, pairs), rules, groups)
    used = np.where(results.averaged.any(axis=2).any(axis=0), 1.0, np.nan)
    observed = totals(used[:, None], groups)
    units, few = int(effective_groups(observed)[0]), bool(too_few_groups(observed)[0])
    resamples = 0 if few or units < 2 else draws  # all resamples of one query are the same
    ranked = [_ranked(results, index, tested, resamples) for index in range(len(results.measures))]
    fields = {name: np.concatenate([each[name] for each in ranked]) for name in RankedRun._fields}
    if units < FEWEST:
        fields |= dict.fromkeys(("bootstrap_low", "bootstrap_high"), np.full(len(fields["rank"]), np.nan))
    made = Ranking(results, fields, rules, draws=draws, pairs=len(pairs), warnings=list(results.warnings))
    made.warnings += [*no_quality(results.measures), *_too_few(tested, units)]
    if draws:
        made.warnings += _coverage(units, groups)
    if resamples:
        made.warnings += _without_best(made)
    return made


def _without_best(ranking: Ranking) -> list[ResultWarning]:
    """Return a warning for the measures by which the runs have no probabilities to be the best."""
    measures = [str(measure) for measure in ranking.results.measures]
    unknown = np.isnan(ranking.fields["best"]).reshape(len(measures), -1).all(axis=1)
    named = [measure for measure, none in zip(measures, unknown.tolist(), strict=True) if none]
    if not named or not ranking.names:
        return []
    some = f" for {listed(named)}" * (len(named) < len(measures))
    words = (
        f"P(best) is left out{some}: the analysis of variance finds no significant difference between runs"
    )
    return [ResultWarning("no_probability", words, len(named))]


def _number(units: int, groups: Groups | None) -> str:
    """Return a number of queries, or of effective groups or queries, as text."""
    effective = "effective " * (groups is not None)
    nouns = ("group", "groups") if in_groups(groups) else ("query", "queries")
    return counted(units, *(effective + noun for noun in nouns))


def _coverage(units: int, groups: Groups | None) -> list[ResultWarning]:
    """Return how often bootstrap intervals from few queries contain the true rank, or why there are none."""
    if units >= ENOUGH:
        return []
    number = _number(units, groups)
    if units < FEWEST:
        words = (
            f"boot low and boot high are left out with {number}. In simulations with fewer than {FEWEST} "
            "queries, 95 % intervals contained the true rank in only 67 to 76 % of cases"
        )
        return [ResultWarning("no_interval", words, units)]
    size = max(size for size in BOOTSTRAP_COVERAGE if size <= units)
    adjacent, random = BOOTSTRAP_COVERAGE[size]
    words = (
        f"boot low and boot high are approximate with {number}. In simulations with {size} queries, 95 % "
        f"intervals contained the true rank in {adjacent} to {random} % of cases (docs/comparing.md)"
    )
    return [ResultWarning("approximate_intervals", words, units)]


def _ranked(results: Results, index: int, tested: Tested, draws: int) -> dict[str, Any]:
    """Return the columns of the runs by one measure, the best first."""
    part, rules = tested.parts[index], tested.rules
    sign = 1.0 if part.rising else -1.0
    values = sign * part.values
    means = sign * results.means[:, index]
    slack = ROUNDING * float(np.abs(np.nan_to_num(means)).max(initial=0.0))
    runs, better = len(results.runs), tested.significantly_better(index)
    order = np.array(results.order(index), dtype=np.int64)
    limits = rank_limits(better)
    nothing = np.full(runs, np.nan)
    bootstrap, best, expected = np.full((runs, 2), np.nan), nothing, nothing
    if draws:
        found = bootstrap_ranks(
            values, draws=draws, seed=rules.seed, groups=tested.groups, level=rules.confidence
        )
        bootstrap, expected = found.limits(rules.confidence), found.expected
        best = found.best if found.kept else nothing  # of equal means it says which runs are alike, no more
    by_run = {
        "name": np.array(results.names, dtype=object),
        "measure": np.full(runs, str(results.measures[index]), dtype=object),
        "mean": results.means[:, index],
        "rank": mid_ranks(means, slack=slack),
        "rank_low": limits.low,
        "rank_high": limits.high,
        "bootstrap_low": bootstrap[:, 0],
        "bootstrap_high": bootstrap[:, 1],
        "best": best,
        "expected": expected,
        "group": groups_from_best(order, better),
    }
    return {name: values[order] for name, values in by_run.items()}


def _too_few(tested: Tested, units: int) -> list[ResultWarning]:
    """Return a warning if no corrected p-value can be below the significance level."""
    rules, over = tested.rules, counted(tested.size, "pair" if tested.rules.family == "measure" else "test")
    if tested.rejected.any() or (tested.smallest_p(units) < rules.alpha and units >= 2):
        return []
    words = (
        f"no difference can be significant with {_number(units, tested.groups)} ({rules.decided_by}, {over})"
    )
    return [ResultWarning("too_few_queries", words, units)]
