"""Forecast of the half-width of nDCG: that of simulated judgments of the same pool.

The probability of relevance follows a logistic model: its level differs between queries, and it falls with
the log rank by votes. Labels or existing judgments give the rates of relevant documents above and below the
cutoff and their variance between queries. The half-width is that of the estimator, for other draws of the
same design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import DrawnPool
from leadline.estimation.designs import Ratio
from leadline.estimation.estimators import Estimator
from leadline.estimation.guesses import VOTE_CONSTANT
from leadline.estimation.ideal_lists import vote_ranks
from leadline.estimation.samples import evidence_of
from leadline.estimation.sampling_errors import (
    FEWEST_QUERIES,
    NoInterval,
    Withheld,
    design_withheld,
    half_width,
)
from leadline.io.objects import Run

SIMULATIONS = 4
MOST_RUNS = 5  # runs whose half-widths are simulated, spread over the names
FEWEST_LABELS = 50  # at ranks up to the cutoff, for the rate of relevant documents
SPREAD = 1.5  # standard deviation of the level of the queries, in logits, where labels do not show it
WIDEST = 6.0  # largest standard deviation that is considered
FEWEST_OF_QUERY = 5  # labels of a query at ranks up to the cutoff, for the spread between queries
STEEPEST = 4.0  # slope of the logit by the log rank of votes; 1 where only the first documents have labels
STEPS = 20  # of the search for level, slope and spread
PASSES = 4  # in which slope and spread follow each other
NO_RATE = (
    "it depends on how many documents are relevant (add LLM labels with `--machine` or judgments of the top "
    "documents with `--judged`)"
)

Lists = Sequence[Sequence[Sequence[bytes]]]  # by query and run


class Forecast(NamedTuple):
    """The expected half-width of a run's interval, or None with the reason."""

    half_width: float | None
    reason: str = ""


class _Relevance(NamedTuple):
    """Model of relevance, by pair: query, log rank by votes, above the cutoff or not; and what labels show.

    `rest` is the relevant share of the other pairs, `spread` the variance between queries of the share above
    the cutoff; None if too few are labeled.
    """

    query: np.ndarray[tuple[int], np.dtype[np.intp]]
    depth: Floats
    top: Flags
    rate: float
    rest: float | None
    spread: float | None
    grades: Floats

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return simulated grades of all pairs."""
        level = rng.standard_normal(int(self.query.max()) + 1)[self.query]

        def at(slope: float, spread: float) -> Floats:
            """Return probabilities of relevance whose mean above the cutoff is the rate."""
            logit = spread * level - slope * self.depth
            first = logit[self.top]
            shift = _root(lambda one: self.rate - float(_logistic(first + one).mean()), -40.0, 40.0)
            return _logistic(logit + shift)

        def slope_at(spread: float) -> float:
            """Return the slope with which the mean probability below the cutoff is that of the labels."""
            rest = self.rest
            if rest is None:
                return 1.0
            return _root(lambda one: float(at(one, spread)[~self.top].mean()) - rest, 0.0, STEEPEST)

        def spread_at(slope: float) -> float:
            """Return the spread with which the variance between queries is that of the labels."""
            wanted = self.spread
            if wanted is None:
                return SPREAD
            return _root(lambda one: wanted - self._between(at(slope, one)), 0.0, WIDEST)

        spread = SPREAD
        slope = slope_at(spread)
        for _ in range(0 if self.spread is None else PASSES):
            spread = spread_at(slope)
            slope = slope_at(spread)
        relevant = rng.random(len(level)) < at(slope, spread)
        return np.where(relevant, rng.choice(self.grades, len(level)), 0.0)

    def _between(self, chance: Floats) -> float:
        """Return what `_variance_between` gives on average for documents above the cutoff."""
        query, p = self.query[self.top], chance[self.top]
        counts = np.maximum(np.bincount(query), 2)
        share, noise = np.bincount(query, p) / counts, np.bincount(query, p * (1 - p)) / counts**2
        return float(share.var() + (noise - (share * (1 - share) - noise) / (counts - 1)).mean())


def _variance_between(query: np.ndarray[tuple[int], np.dtype[np.intp]], relevant: Flags) -> float | None:
    """Return the variance between queries of their relevant shares, less that of chance."""
    counts = np.bincount(query)
    known = counts >= FEWEST_OF_QUERY
    if known.sum() < FEWEST_QUERIES:
        return None
    share = np.bincount(query, relevant)[known] / counts[known]
    return max(float(share.var() - (share * (1 - share) / (counts[known] - 1)).mean()), 0.0)


def _logistic(logit: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)), dtype=np.float64)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0, by bisection."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low


def simulated_half_width(
    pool: DrawnPool,
    queries: Sequence[bytes],
    lists: Lists,
    kind: Ratio,
    labels: Mapping[str, Mapping[str, float]],
    seed: int,
) -> Forecast:
    """Return the median half-width of 95 % intervals of nDCG of pooled runs, over simulated judgments.

    `labels` are machine labels or judgments: they give the rate of relevant documents and their grades.
    """
    _, query = np.unique(np.array(pool.queries, dtype=object), return_inverse=True)
    cutoff = kind.cutoff or 0
    ranks = [list(one.values()) for one in pool.contributors]
    support = np.array([sum(1.0 / (VOTE_CONSTANT + rank) for rank in one) for one in ranks])
    top = np.array([min(one, default=cutoff + 1) <= cutoff for one in ranks])
    known = np.array(
        [labels.get(name, {}).get(document, np.nan) for name, document in pool.names()], np.float64
    )
    first, others = top & (known >= 0), ~top & (known >= 0)
    rate = float((known[first] > 0).mean()) if first.any() else 0.0
    if first.sum() < FEWEST_LABELS:
        return Forecast(None, NO_RATE)
    if not 0 < rate < 1:
        all_of = "relevant" if rate else "nonrelevant"
        return Forecast(None, f"the labels and judgments of the top documents are all {all_of}")
    model = _Relevance(
        query,
        np.log(vote_ranks(query, support)),
        top,
        rate,
        float((known[others] > 0).mean()) if others.sum() >= FEWEST_LABELS else None,
        _variance_between(query[first], known[first] > 0),
        known[first & (known > 0)],
    )
    rng = np.random.default_rng([seed, len(pool.queries)])
    chosen = np.unique(np.linspace(0, len(lists[0]) - 1, MOST_RUNS).round().astype(int)).tolist()
    found = []
    for number in range(SIMULATIONS):
        drawn = rng.random(len(query)) < pool.probability
        grades: dict[str, dict[str, float]] = {}
        for row, grade in enumerate(model.draw(rng).tolist()):
            if drawn[row]:
                grades.setdefault(pool.queries[row], {})[pool.documents[row]] = grade
        evidence = evidence_of(
            grades, replace(pool, drawn=drawn), None, "centered", skipped=False, seed=seed + number
        )
        sample = evidence.sample
        why = design_withheld(sample, kind, evidence.drawn_for)
        if why:
            return Forecast(None, Withheld(NoInterval.NOT_SIMULATED, why).message)
        estimator, p = Estimator(sample, kind), sample.probability[sample.drawn]
        for run in chosen:
            rows = (
                (name, document, -float(rank))
                for name, runs in zip(queries, lists, strict=True)
                for rank, document in enumerate(runs[run])
            )
            part = estimator.of(JudgedRun.of_run(Run.of(rows), sample.table))
            found.append(half_width(part.errors, part.replicates, p, 0.95, part.predicted[1]))
    return Forecast(float(np.median(found)))
