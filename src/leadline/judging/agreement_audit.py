"""Audit of labels by a reference: bias of measures, order of runs, favored runs, judgments needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.table import RunInfo, flagged, keyed, plain
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.evaluation.lookups import place_of
from leadline.io.run_names import run_name
from leadline.stats.agreement_coefficients import (
    FEWEST_QUERIES,
    Coefficient,
    acceptable,
    jackknife_limits,
    supported,
    without_each,
)
from leadline.stats.correlation import average_ranks, kendall, levels, over_queries, reliability, tau_ap
from leadline.stats.power import queries_for_half_width
from leadline.stats.simultaneous import max_t

WITHIN = 0.05  # half-width for which the number of judgments is computed
TOP = 10
FLIPS = 20_000  # sign patterns of the simultaneous intervals of gains
LIMIT = 500_000_000  # array elements of sign patterns x runs, above which there are fewer patterns


class Ranking(NamedTuple):
    """Means of systems under the judgments of each judge.

    `values` is judges x systems x measures; `by_query` are the values that are averaged, judges x queries x
    systems for each measure, None for a measure whose mean is no arithmetic mean over the same queries of all
    systems. `rising` says of which measures larger values are better.
    """

    judges: list[str]
    runs: list[RunInfo]
    measures: list[str]
    values: Floats
    by_query: list[Floats | None]
    rising: list[bool]

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return [run.name for run in self.runs]


class Change(NamedTuple):
    """Difference in a measure of all systems between the judgments of two judges.

    `mean` and `largest` are of absolute differences; `relative` is the mean difference divided by the mean
    value under the first judge; `swapped` is the number of system pairs in opposite order, of `apart` pairs
    without a tie under either judge; `widest` is the largest difference of a swapped pair under the first
    judge.
    """

    tau: float
    mean: float
    largest: float
    relative: float
    swapped: int
    apart: int
    widest: float


def change(first: Floats, second: Floats) -> Change:
    """Compare the values of systems under two judges.

    >>> found = change(np.array([0.4, 0.3, 0.1]), np.array([0.2, 0.3, 0.1]))
    >>> found.swapped, found.apart, round(found.mean, 3), round(found.largest, 3), round(found.widest, 3)
    (1, 3, 0.067, 0.2, 0.1)
    """
    moved = np.abs(second - first)
    upper = np.triu_indices(len(first), 1)
    before, after = (ranks[upper[0]] - ranks[upper[1]] for ranks in (levels(first), levels(second)))
    apart = (before != 0) & (after != 0)
    swapped = apart & (np.sign(before) != np.sign(after))
    whole = float(first.mean())
    return Change(
        kendall(first, second),
        float(moved.mean()),
        float(moved.max()),
        float(moved.mean()) / whole if whole else float("nan"),
        int(swapped.sum()),
        int(apart.sum()),
        float(np.abs(first[upper[0]] - first[upper[1]])[swapped].max(initial=0.0)),
    )


def changes(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Compare pairs of judges by every measure."""
    return [
        {"a": ranking.judges[a], "b": ranking.judges[b], "measure": measure}
        | keyed(change(ranking.values[a, :, index], ranking.values[b, :, index]))
        for a, b in pairs
        for index, measure in enumerate(ranking.measures)
    ]


def ranking_dict(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the means of systems under each judge, and changes between pairs of judges, as plain data."""
    return {
        "systems": ranking.systems,
        "measures": ranking.measures,
        "means": {
            judge: {
                system: dict(zip(ranking.measures, map(plain, row), strict=True))
                for system, row in zip(ranking.systems, rows.tolist(), strict=True)
            }
            for judge, rows in zip(ranking.judges, ranking.values, strict=True)
        },
        "between": changes(ranking, pairs),
    }


class CoefficientEstimate(NamedTuple):
    """An agreement coefficient with its interval; NaN where undefined.

    `corrected` is whether it is corrected for chance, `pairs` the number of query-document pairs it is from.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    corrected: bool = True
    pairs: int = 0

    @property
    def acceptable(self) -> bool | None:
        """Whether the value is at least 2/3; None if undefined, not chance-corrected, or below 50 pairs."""
        return acceptable(self.value, self.pairs) if self.corrected else None

    def to_dict(self) -> dict[str, Any]:
        """Return value, limits, and `acceptable` for a chance-corrected coefficient."""
        data: dict[str, Any] = {"value": plain(self.value), "low": plain(self.low), "high": plain(self.high)}
        return data | {"acceptable": self.acceptable} if self.corrected else data


class Interval(NamedTuple):
    """A value with its confidence interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Taus(NamedTuple):
    """Kendall's tau-b and tau-AP of runs by labels with those by the reference, from -1 to 1."""

    kendall: Interval
    tau_ap: Interval


class RunBias(NamedTuple):
    """One run under labels and reference: its means, and its ranks (1 is best, ties share the mean rank).

    `bias` is `labels` minus `reference`, with the interval of this run alone. `gain` is the bias minus the
    mean bias of the other runs, positive where labels favor the run; its intervals hold simultaneously for
    all runs.
    """

    name: str
    reference: float
    labels: float
    bias: Interval
    rank: float
    rank_labels: float
    gain: Interval

    @property
    def favored(self) -> bool | None:
        """Return whether the interval of the gain is above 0; None where there is no interval."""
        return None if math.isnan(self.gain.low) else self.gain.low > 0


class Reliability(NamedTuple):
    """Reliability of the means of runs (see `stats.correlation`) by reference and labels, at most 1."""

    reference: float
    labels: float


class Circularity(NamedTuple):
    """What labels do for `runs` that were made with their judge.

    `gain` is the mean bias of these runs minus that of all others, positive where labels favor them; `taus`
    are of the other runs alone.
    """

    runs: list[str]
    gain: Interval
    taus: Taus


class Audit(NamedTuple):
    """What the labels of a judge do to a measure of runs, by a reference.

    `bias` is the mean bias of all runs, `taus` are of all of them, `top_taus` of the best `top` by the
    reference; `reliability` and `top_reliability` are of the means of either. `used` is None if no run is
    said to have used the judge.
    """

    reference: str
    judge: str
    measure: str
    queries: int
    bias: Interval
    taus: Taus
    top: int
    top_taus: Taus
    runs: list[RunBias]
    reliability: Reliability
    top_reliability: Reliability
    used: Circularity | None = None

    def gainers(self) -> list[RunBias]:
        """Return the runs by gain, the largest first."""
        return sorted(self.runs, key=lambda run: -run.gain.value)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain data; None is undefined."""
        used = self.used and {"runs": self.used.runs, "gain": keyed(self.used.gain), **keyed(self.used.taus)}
        return {
            "reference": self.reference,
            "judge": self.judge,
            "measure": self.measure,
            "queries": self.queries,
            "bias": keyed(self.bias),
            **keyed(self.taus),
            "reliability": keyed(self.reliability),
            "top": {"runs": self.top, **keyed(self.top_taus), "reliability": keyed(self.top_reliability)},
            "runs": [keyed(run) | {"favored": run.favored} for run in self.runs],
            "used_the_judge": used,
        }


def audits_of(
    ranking: Ranking, pairs: Sequence[tuple[int, int]], used_the_judge: Sequence[str], **options: Any
) -> list[Audit]:
    """Audit the second judge of every pair by the first, by every measure that has per-query values."""
    used = places_used(used_the_judge, ranking.systems)
    measures = list(zip(ranking.measures, ranking.by_query, ranking.rising, strict=True))
    return [
        audit(
            (ranking.judges[a], ranking.judges[b]),
            measure,
            ranking.systems,
            values[a],
            values[b],
            rising=rising,
            used=used,
            **options,
        )
        for a, b in pairs
        for measure, values, rising in measures
        if values is not None
    ]


def audit(
    names: tuple[str, str],
    measure: str,
    systems: Sequence[str],
    reference: Floats,
    labels: Floats,
    *,
    rising: bool = True,
    top: int = TOP,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    flips: int = FLIPS,
    used: Sequence[int] = (),
) -> Audit:
    """Compare values of runs under the labels of a judge with those under a reference.

    Intervals are over queries. Those of biases are Student's, of the paired differences; those of gains are
    simultaneous, by the randomized max-t procedure; those of rank correlations are those of
    `leadline.stats.correlation.over_queries`. `used` are the places of runs that used the judge.

    >>> found = audit(("ann", "llm"), "P@1", ["a", "b"], np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))
    >>> [run.bias.value for run in found.runs], found.gainers()[0].name, found.gainers()[0].gain.value
    ([0.0, 1.0], 'b', 1.0)
    """
    sign = 1.0 if rising else -1.0
    both = sign * reference, sign * labels  # such that more is better
    differences, gains = labels - reference, _gains(both[1] - both[0])
    limits = _limits(np.column_stack([differences, differences.mean(axis=1)]), confidence)
    gain_limits = _simultaneous(gains, confidence, seed, flips)
    ranks = [average_ranks(-values.mean(axis=0)) for values in both]
    best = np.argsort(-both[0].mean(axis=0), kind="stable")[:top]
    runs = [
        RunBias(
            name,
            float(reference[:, index].mean()),
            float(labels[:, index].mean()),
            Interval(float(differences[:, index].mean()), *limits[index].tolist()),
            float(ranks[0][index]),
            float(ranks[1][index]),
            Interval(float(gains[:, index].mean()), *gain_limits[index].tolist()),
        )
        for index, name in enumerate(systems)
    ]

    def taus(chosen: Flags | Integers | slice) -> Taus:
        return _taus(both[0][:, chosen], both[1][:, chosen], confidence, draws, seed)

    circularity: Circularity | None = None
    if used:
        flags = np.isin(np.arange(len(systems)), used)
        apart = both[1] - both[0]
        gain = apart[:, flags].mean(axis=1) - apart[:, ~flags].mean(axis=1)
        gain_of_used = Interval(float(gain.mean()), *_limits(gain[:, None], confidence)[0].tolist())
        circularity = Circularity(flagged(systems, flags), gain_of_used, taus(~flags))
    return Audit(
        *names,
        measure,
        len(reference),
        Interval(float(differences.mean()), *limits[-1].tolist()),
        taus(slice(None)),
        len(best),
        taus(best),
        runs,
        Reliability(reliability(reference), reliability(labels)),
        Reliability(reliability(reference[:, best]), reliability(labels[:, best])),
        circularity,
    )


def places_used(names: Sequence[str], systems: Sequence[str]) -> list[int]:
    """Return the places of runs by name or path; raise UsageError if one is missing, or no other is left.

    >>> places_used(["runs/b.run"], ["a", "b", "c"])
    [1]
    """
    found = [systems.index(name) if name in systems else place_of(systems, run_name(name)) for name in names]
    if found and len(set(found)) > len(systems) - 2:
        raise UsageError(
            f"{len(set(found))} of {counted(len(systems), 'run')} used the judge, but the audit needs at "
            "least two runs that did not"
        )
    return sorted(set(found))


def _gains(differences: Floats) -> Floats:
    """Return differences minus their mean over the other runs; NaN for a single run."""
    runs = differences.shape[1]
    if runs < 2:
        return np.full_like(differences, np.nan)
    return np.asarray((differences - differences.mean(axis=1, keepdims=True)) * (runs / (runs - 1)))


def _limits(values: Floats, confidence: float) -> Floats:
    """Return Student's limits of the mean of every column: columns x 2; NaN with few queries."""
    from leadline.stats import INTERVALS

    if len(values) < FEWEST_QUERIES:
        return np.full((values.shape[1], 2), np.nan)
    return np.stack(INTERVALS.parse("Student").limits(values, level=confidence), axis=1)


def _simultaneous(values: Floats, confidence: float, seed: int, flips: int) -> Floats:
    """Return simultaneous limits of the means of the columns: columns x 2; NaN with few queries."""
    queries, runs = values.shape
    if queries < FEWEST_QUERIES or runs < 3:  # the gains of two runs are one number and its negative
        return _limits(values, confidence)
    flips = min(flips, max(2_000, LIMIT // (queries * runs)))
    return np.stack(max_t(values, draws=flips, seed=seed).limits(confidence), axis=1)


def _taus(reference: Floats, labels: Floats, confidence: float, draws: int, seed: int) -> Taus:
    """Return rank correlations of the means of runs, with intervals over queries."""
    means = reference.mean(axis=0), labels.mean(axis=0)
    limits = np.full((2, 2), np.nan)
    if draws and len(reference) >= FEWEST_QUERIES and reference.shape[1] > 2:
        limits = over_queries(
            reference, labels, ("kendall", "tau_ap"), draws=draws, confidence=confidence, seed=seed
        )
    values = kendall(*means), tau_ap(means[1], means[0])
    return Taus(*(Interval(value, *row) for value, row in zip(values, limits.tolist(), strict=True)))


def jackknife_error(replicates: Floats, times: Integers | None = None) -> Floats:
    """Return the jackknife standard error from replicates that each leave one unit out.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, equation 11.5.

    >>> round(float(jackknife_error(np.array([2.5, 2.0, 1.5]))), 6)  # of the mean of 1, 2, 3: 1 / sqrt(3)
    0.57735
    """
    weight = np.ones(len(replicates)) if times is None else times.astype(np.float64)
    size = weight.sum()
    mean = np.tensordot(weight, replicates, axes=1) / size
    squares = np.tensordot(weight, (replicates - mean) ** 2, axes=1)
    return np.asarray(np.sqrt((size - 1) / size * squares))


class NeededJudgments(NamedTuple):
    """How many judgments Cohen's kappa of two judges needs for a half-width `within`.

    `coefficient` has the interval over queries of `jackknife_limits`. `design_effect` is the variance of the
    coefficient over queries, divided by that which independent pairs would give. `queries` are those needed
    with as many judgments each as there are now, and `judgments` theirs. `independent` judgments would be
    needed if all were independent. All three are None without an interval.
    """

    a: str
    b: str
    coefficient: Interval
    within: float
    design_effect: float
    judgments_per_query: float
    queries: int | None
    judgments: int | None
    independent: int | None


def needed_judgments(
    names: tuple[str, str],
    tables: Floats,
    coefficient: Coefficient,
    values: Floats,
    *,
    within: float = WITHIN,
    confidence: float = 0.95,
) -> NeededJudgments:
    """Return how many queries and judgments give a coefficient within a half-width.

    Judgments of one query are alike, so that the variance is that of the jackknife over queries; it is taken
    as inversely proportional to their number, and the interval as Student's.

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4, for the design effect.
    """
    tables = tables[tables.sum(axis=(1, 2)) > 0]
    queries, whole = len(tables), tables.sum(axis=0)
    judgments = float(whole.sum())
    value = float(coefficient.of_tables(whole[None], values)[0])
    cells = np.argwhere(whole > 0)
    without = np.repeat(whole[None], len(cells), axis=0)
    without[np.arange(len(cells)), cells[:, 0], cells[:, 1]] -= 1
    counts = whole[cells[:, 0], cells[:, 1]].astype(np.int64)
    by_query = jackknife_error(coefficient.of_tables(whole - tables, values)) if queries > 1 else np.nan
    by_pair = jackknife_error(coefficient.of_tables(without, values), counts) if judgments > 1 else np.nan
    effect = float(by_query / by_pair) ** 2 if by_pair > 0 else math.nan
    per_query = judgments / max(queries, 1)
    enough_units = supported(tables, coefficient)
    left = without_each(tables, coefficient, values) if enough_units else np.full(queries, np.nan)
    (low,), (high,) = jackknife_limits(np.array([value]), left[:, None], level=confidence)

    def enough(error: float, units: float) -> int | None:
        known = not math.isnan(low) and not math.isnan(error)
        return queries_for_half_width(error * math.sqrt(units), within, level=confidence) if known else None

    needed = enough(float(by_query), queries)
    needed = needed and max(needed, FEWEST_QUERIES)
    return NeededJudgments(
        *names,
        Interval(value, float(low), float(high)),
        within,
        effect,
        per_query,
        needed,
        needed and math.ceil(needed * per_query),
        enough(float(by_pair), judgments),
    )
