"""Forecast of the half-width of nDCG: that of simulated judgments of the same pool.

Relevance is simulated from a logistic model whose level differs between queries and which falls with the rank
by votes, at the rate of relevant documents that labels or existing judgments show above the cutoff. The
half-width is that of the estimator, for other draws of the same design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.run import Run
from leadline.estimation.estimators import Estimator
from leadline.estimation.guesses import VOTE_CONSTANT
from leadline.estimation.ideal_lists import vote_ranks
from leadline.estimation.measure_targets import Ratio
from leadline.estimation.samples import evidence_of
from leadline.estimation.sampling_errors import half_width
from leadline.estimation.withheld import design_withheld
from leadline.io.pool_files import DrawnPool

SIMULATIONS = 4
MOST_RUNS = 5  # runs whose half-widths are simulated, spread over the names
FEWEST_LABELS = 50  # at ranks up to the cutoff, for the rate of relevant documents
SPREAD = 1.5  # standard deviation of the level of the queries, in logits
STEEPEST = 4.0  # slope of the logit by the log rank of votes; 1 where only the first documents have labels
STEPS = 24  # of the search for level and slope
NO_RATE = (
    "it depends on how many documents are relevant; expected machine labels or judgments of "
    "the first documents (--machine, --judged)"
)

Lists = Sequence[Sequence[Sequence[bytes]]]  # by query and run


class Forecast(NamedTuple):
    """The expected half-width of a run's interval, or None with the reason."""

    half_width: float | None
    reason: str = ""


class _Relevance(NamedTuple):
    """Model of relevance: query and log rank by votes of each pair, and shares that are relevant, by part."""

    query: np.ndarray[tuple[int], np.dtype[np.intp]]
    depth: Floats
    parts: list[tuple[Flags, float]]  # pairs with documents above the cutoff, and, if known, the others
    grades: Floats

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return simulated grades of all pairs."""
        logit = rng.normal(0.0, SPREAD, int(self.query.max()) + 1)[self.query]

        def at(slope: float) -> Floats:
            """Return the chances with this slope, at the rate of the first part."""
            kept, rate = self.parts[0]
            sloping = logit - slope * self.depth
            level = _root(lambda one: rate - float(_logistic(sloping[kept] + one).mean()), -30.0, 30.0)
            return _logistic(sloping + level)

        slope = 1.0
        if len(self.parts) > 1:
            rest, rate = self.parts[1]
            slope = _root(lambda one: float(at(one)[rest].mean()) - rate, 0.0, STEEPEST)
        relevant = rng.random(len(logit)) < at(slope)
        return np.where(relevant, rng.choice(self.grades, len(logit)), 0.0)


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

    Parameters
    ----------
    pool : DrawnPool
        The pool; every pair of its frame has a row.
    queries : sequence of bytes
        Ids of the queries.
    lists : sequence
        By query and by run: the documents in order of rank.
    kind : Ratio
        The measure: nDCG.
    labels : mapping of query to document to grade
        Machine labels or judgments, which give the rate of relevant documents and their grades.
    seed : int
        Seed of the simulation.

    Returns
    -------
    Forecast
    """
    _, query = np.unique(np.array(pool.queries, dtype=object), return_inverse=True)
    cutoff = kind.cutoff or 0
    ranks = [list(one.values()) for one in pool.contributors]
    support = np.array([sum(1.0 / (VOTE_CONSTANT + rank) for rank in one) for one in ranks])
    top = np.array([min(one, default=cutoff + 1) <= cutoff for one in ranks])
    known = np.array(
        [
            labels.get(name, {}).get(document, np.nan)
            for name, document in zip(pool.queries, pool.documents, strict=True)
        ],
        dtype=np.float64,
    )
    parts = []
    for where in (top, ~top):
        labelled = known[where & (known >= 0)]
        if len(labelled) >= FEWEST_LABELS and 0 < (labelled > 0).mean() < 1:
            parts.append((where, float((labelled > 0).mean())))
        elif where is top:
            return Forecast(None, NO_RATE)
    model = _Relevance(query, np.log(vote_ranks(query, support)), parts, known[top & (known > 0)])
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
            grades, replace(pool, drawn=drawn), None, "centred", skipped=False, seed=seed + number
        )
        sample = evidence.sample
        why = design_withheld(sample, kind, evidence.drawn_for)
        if why:
            return Forecast(None, why)
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
