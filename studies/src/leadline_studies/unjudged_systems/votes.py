"""Scores of systems with one vote per run and one per team."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.estimation.system_lists import Systems
from leadline.estimation.unjudged import estimate_systems
from leadline.estimation.unjudged_methods import Soboroff, UnjudgedEstimator
from leadline.stats.correlation import kendall, pearson, tau_ap
from leadline_studies.common.tables import quantiles

STATISTICS = {"kendall": kendall, "tau_ap": tau_ap, "pearson": pearson}
VOTES = {"run": "one vote per run", "team": "one vote per team"}
DRAWS = 10  # of Soboroff's, where a campaign is estimated again and again


def with_fewer_draws(methods: Sequence[UnjudgedEstimator]) -> list[UnjudgedEstimator]:
    """Reduce the number of draws of randomized methods."""
    return [method.replace(draws=DRAWS) if isinstance(method, Soboroff) else method for method in methods]


def scores_of(
    systems: Systems, methods: Sequence[UnjudgedEstimator], seed: int, teams: Mapping[str, str] | None = None
) -> dict[str, Floats]:
    """Return the scores by every method with one vote per run, or with one per team."""
    return {
        method.called: estimate_systems(systems, method, one_vote_per=teams, seed=seed).scores
        for method in methods
    }


def over_subsets(
    systems: Systems,
    truth: Floats,
    methods: Sequence[UnjudgedEstimator],
    subsets: Iterable[Integers],
    seed: int,
) -> dict[str, list[float]]:
    """Return tau of every method on every subset of the systems."""
    taus: dict[str, list[float]] = {method.called: [] for method in methods}
    for chosen in subsets:
        for name, scores in scores_of(systems.only(chosen.tolist()), methods, seed).items():
            taus[name].append(kendall(scores, truth[chosen]))
    return taus


def spread(values: Sequence[float], middle: str = "mean") -> dict[str, float | None]:
    """Return mean, 5 % and 95 % quantile of the defined values."""
    defined = [value for value in values if not np.isnan(value)]
    low, high = quantiles(defined, 0.05, 0.95)
    return {middle: float(np.mean(defined)) if defined else None, "low": low, "high": high}
