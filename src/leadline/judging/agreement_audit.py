"""Audit of labels by a reference: bias of measures, order of runs, favoured runs, judgments needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.pairing import place_of
from leadline.data.arrays import Floats, Integers
from leadline.data.records import plain
from leadline.errors import UsageError
from leadline.io.run_names import run_name
from leadline.stats.agreement_coefficients import FEWEST_QUERIES, Coefficient
from leadline.stats.correlation import average_ranks, kendall, over_queries, reliability, tau_ap
from leadline.stats.simultaneous import max_t

WITHIN = 0.05  # half-width for which the number of judgments is computed
TOP = 10
FLIPS = 20_000  # sign patterns of the simultaneous intervals of gains
LIMIT = 500_000_000  # array elements of sign patterns x runs, above which there are fewer patterns


class Interval(NamedTuple):
    """A value with its confidence interval.

    Attributes
    ----------
    value : float
        The value.
    low : float
        Lower limit; NaN where there is no interval.
    high : float
        Upper limit.
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    def to_dict(self) -> dict[str, float | None]:
        """Return value and limits; None is undefined."""
        return {name: plain(number) for name, number in self._asdict().items()}


class Taus(NamedTuple):
    """Rank correlations of runs by labels with those by the reference, from -1 to 1.

    Attributes
    ----------
    kendall : Interval
        Kendall's tau-b.
    tau_ap : Interval
        tau-AP, in which high ranks weigh more.
    """

    kendall: Interval
    tau_ap: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return both coefficients."""
        return {"kendall": self.kendall.to_dict(), "tau_ap": self.tau_ap.to_dict()}


class RunBias(NamedTuple):
    """One run under labels and reference.

    Attributes
    ----------
    name : str
        Name of the run.
    reference, labels : float
        Mean of the measure by each.
    bias : Interval
        `labels` minus `reference`; the interval is of this run alone.
    rank, rank_labels : float
        Ranks by reference and labels; 1 is best, ties share the mean rank.
    gain : Interval
        Bias minus the mean bias of the other runs, positive where labels favor the run; the intervals hold
        simultaneously for all runs.
    """

    name: str
    reference: float
    labels: float
    bias: Interval
    rank: float
    rank_labels: float
    gain: Interval

    @property
    def favoured(self) -> bool | None:
        """Return whether the interval of the gain is above 0; None where there is no interval."""
        return None if math.isnan(self.gain.low) else self.gain.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return {
            "name": self.name,
            "reference": plain(self.reference),
            "labels": plain(self.labels),
            "bias": self.bias.to_dict(),
            "rank": self.rank,
            "rank_labels": self.rank_labels,
            "gain": self.gain.to_dict(),
            "favoured": self.favoured,
        }


class Reliability(NamedTuple):
    """Reliability of the means of runs (`stats.correlation.reliability`), at most 1.

    Attributes
    ----------
    reference : float
        By the judgments of the reference.
    labels : float
        By the labels.
    """

    reference: float
    labels: float

    def to_dict(self) -> dict[str, float | None]:
        """Return both; None is undefined."""
        return {name: plain(number) for name, number in self._asdict().items()}


class Circularity(NamedTuple):
    """What labels do for runs that were made with their judge.

    Attributes
    ----------
    runs : list of str
        Names of these runs.
    gain : Interval
        Mean bias of these runs minus the mean bias of all others, positive where labels favor them.
    taus : Taus
        Of the other runs alone.
    """

    runs: list[str]
    gain: Interval
    taus: Taus

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"runs": self.runs, "gain": self.gain.to_dict(), **self.taus.to_dict()}


class Audit(NamedTuple):
    """What the labels of a judge do to a measure of runs, by a reference.

    Attributes
    ----------
    reference, judge, measure : str
        Names of both judges, and the measure.
    queries : int
        Number of queries.
    bias : Interval
        Mean bias of all runs.
    taus : Taus
        Of all runs.
    top : int
        Number of runs of `top_taus`.
    top_taus : Taus
        Of the best runs by the reference.
    runs : list of RunBias
        In the order given.
    reliability, top_reliability : Reliability
        Of the means of all runs, and of those of `top_taus`.
    used : Circularity or None
        What the labels do for runs that used the judge; None if none is said to have.
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
        return {
            "reference": self.reference,
            "judge": self.judge,
            "measure": self.measure,
            "queries": self.queries,
            "bias": self.bias.to_dict(),
            **self.taus.to_dict(),
            "reliability": self.reliability.to_dict(),
            "top": {
                "runs": self.top,
                **self.top_taus.to_dict(),
                "reliability": self.top_reliability.to_dict(),
            },
            "runs": [run.to_dict() for run in self.runs],
            "used_the_judge": None if self.used is None else self.used.to_dict(),
        }


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

    Examples
    --------
    >>> found = audit(("ann", "llm"), "P@1", ["a", "b"], np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))
    >>> [run.bias.value for run in found.runs], found.gainers()[0].name, found.gainers()[0].gain.value
    ([0.0, 1.0], 'b', 1.0)
    """
    sign = 1.0 if rising else -1.0
    differences = labels - reference
    gains = _gains(sign * differences)
    limits = _limits(np.column_stack([differences, differences.mean(axis=1)]), confidence)
    gain_limits = _simultaneous(gains, confidence, seed, flips)
    means = sign * reference.mean(axis=0), sign * labels.mean(axis=0)
    ranks = [average_ranks(-values) for values in means]
    best = np.argsort(-means[0], kind="stable")[:top]
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
    return Audit(
        *names,
        measure,
        len(reference),
        Interval(float(differences.mean()), *limits[-1].tolist()),
        _taus(sign * reference, sign * labels, confidence, draws, seed),
        len(best),
        _taus(sign * reference[:, best], sign * labels[:, best], confidence, draws, seed),
        runs,
        Reliability(reliability(reference), reliability(labels)),
        Reliability(reliability(reference[:, best]), reliability(labels[:, best])),
        _circularity(systems, sign * reference, sign * labels, used, confidence, draws, seed),
    )


def _circularity(
    systems: Sequence[str],
    reference: Floats,
    labels: Floats,
    used: Sequence[int],
    confidence: float,
    draws: int,
    seed: int,
) -> Circularity | None:
    """Return what labels do for runs that used their judge; values are such that more is better."""
    if not used:
        return None
    flags = np.isin(np.arange(len(systems)), used)
    differences = labels - reference
    gains = differences[:, flags].mean(axis=1) - differences[:, ~flags].mean(axis=1)
    limits = _limits(gains[:, None], confidence)[0].tolist()
    others = _taus(reference[:, ~flags], labels[:, ~flags], confidence, draws, seed)
    return Circularity(
        [systems[place] for place in np.flatnonzero(flags).tolist()],
        Interval(float(gains.mean()), *limits),
        others,
    )


def places_used(names: Sequence[str], systems: Sequence[str]) -> list[int]:
    """Return the places of runs by name or path; raise UsageError if one is missing, or no other is left.

    >>> places_used(["runs/b.run"], ["a", "b", "c"])
    [1]
    """
    found = [systems.index(name) if name in systems else place_of(systems, run_name(name)) for name in names]
    if found and len(set(found)) > len(systems) - 2:
        raise UsageError(
            f"{len(set(found))} of {len(systems)} runs used the judge, but the audit needs at least two runs "
            "that did not"
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

    Examples
    --------
    >>> round(float(jackknife_error(np.array([2.5, 2.0, 1.5]))), 6)  # of the mean of 1, 2, 3: 1 / sqrt(3)
    0.57735
    """
    weight = np.ones(len(replicates)) if times is None else times.astype(np.float64)
    size = weight.sum()
    mean = np.tensordot(weight, replicates, axes=1) / size
    squares = np.tensordot(weight, (replicates - mean) ** 2, axes=1)
    return np.asarray(np.sqrt((size - 1) / size * squares))


class NeededJudgments(NamedTuple):
    """How many judgments an agreement coefficient needs for a half-width.

    Attributes
    ----------
    a, b : str
        The judges.
    coefficient : Interval
        Cohen's kappa with the jackknife interval over queries.
    within : float
        The half-width asked for.
    design_effect : float
        Variance of the coefficient over queries, divided by the variance that independent pairs would give.
    judgments_per_query : float
        Mean number of pairs of a query.
    queries, judgments : int or None
        Queries needed with as many judgments each as there are now, and their judgments; None if undefined.
    independent : int or None
        Judgments that would be needed if all were independent.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data; None is undefined."""
        return {
            name: value.to_dict()
            if isinstance(value, Interval)
            else plain(value)
            if isinstance(value, float)
            else value
            for name, value in self._asdict().items()
        }


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
    as inversely proportional to their number.

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4, for the design effect.
    """
    from scipy.special import ndtri

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
    z = float(ndtri(0.5 + confidence / 2))
    half = z * float(by_query)
    effect = float(by_query / by_pair) ** 2 if by_pair > 0 else math.nan
    needed = None if math.isnan(half) else max(math.ceil(queries * (half / within) ** 2), FEWEST_QUERIES)
    alone = float(by_pair) * z
    per_query = judgments / max(queries, 1)
    few = queries < FEWEST_QUERIES
    return NeededJudgments(
        *names,
        Interval(value) if few or math.isnan(half) else Interval(value, value - half, value + half),
        within,
        effect,
        per_query,
        None if few else needed,
        None if few or needed is None else math.ceil(needed * per_query),
        None if math.isnan(alone) else math.ceil(judgments * (alone / within) ** 2),
    )
