"""Scores of systems with one vote per run and one per team."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.estimation.system_lists import Systems, number_teams
from leadline.estimation.unjudged_methods import Soboroff, UnjudgedEstimator
from leadline.stats.correlation import kendall, pearson, tau_ap
from leadline.stats.moments import mean_of_defined
from leadline_studies.common.tables import quantiles

STATISTICS = {"kendall": kendall, "tau_ap": tau_ap, "pearson": pearson}
VOTES = {"run": "one vote per run", "team": "one vote per team"}
DRAWS = 10  # of Soboroff's, where a campaign is estimated again and again


def with_fewer_draws(methods: Sequence[UnjudgedEstimator]) -> list[UnjudgedEstimator]:
    """Reduce the number of draws of randomized methods."""
    return [method.replace(draws=DRAWS) if isinstance(method, Soboroff) else method for method in methods]


def scores_by_votes(
    systems: Systems, methods: Sequence[UnjudgedEstimator], teams: Sequence[str], seed: int
) -> dict[str, dict[str, Floats]]:
    """Return the scores by every method with one vote per run, and with one per team."""
    single = number_teams(range(len(teams)))
    shared = number_teams(teams)
    values: dict[str, dict[str, list[Floats]]] = {
        estimator.called: {votes: [] for votes in VOTES} for estimator in methods
    }
    for pool in systems.pools(single, seed=seed):
        for method in methods:
            too_few = len(np.unique(shared)) < method.fewest
            for votes in VOTES:
                codes = shared if votes == "team" and not too_few else single
                scores = method.estimate(pool._replace(team=codes)).values
                values[method.called][votes].append(scores)
    return {
        name: {votes: mean_of_defined(np.stack(per_query, axis=1)) for votes, per_query in by_vote.items()}
        for name, by_vote in values.items()
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
        names = list(map(str, chosen.tolist()))
        for name, scores in scores_by_votes(systems.only(chosen.tolist()), methods, names, seed).items():
            taus[name].append(kendall(scores["run"], truth[chosen]))
    return taus


def spread(values: Sequence[float], middle: str = "mean") -> dict[str, float | None]:
    """Return mean, 5 % and 95 % quantile of the defined values."""
    defined = [value for value in values if not np.isnan(value)]
    low, high = quantiles(defined, 0.05, 0.95)
    return {middle: float(np.mean(defined)) if defined else None, "low": low, "high": high}
