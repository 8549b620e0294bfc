"""Scores of systems by every estimator, with one vote per run and one per team."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.data.arrays import Floats
from leadline.estimation.system_lists import Systems, number_teams
from leadline.estimation.unjudged_methods import Soboroff, UnjudgedEstimator
from leadline.estimation.unjudged_result import mean_of_defined
from leadline.stats.correlation import kendall, pearson, tau_ap

STATISTICS = {"kendall": kendall, "tau_ap": tau_ap, "pearson": pearson}
VOTES = {"run": "one vote a run", "team": "one vote a team"}
DRAWS = 10  # of Soboroff's, where a campaign is estimated again and again


def lighter(methods: Sequence[UnjudgedEstimator]) -> list[UnjudgedEstimator]:
    """Reduce the number of draws of randomised methods."""
    return [one.replace(draws=DRAWS) if isinstance(one, Soboroff) else one for one in methods]


def voted(
    systems: Systems,
    methods: Sequence[UnjudgedEstimator],
    teams: Sequence[str],
    seed: int,
    ways: Sequence[str] = tuple(VOTES),
) -> dict[str, dict[str, Floats]]:
    """Return the scores by every method with one vote per run, and with one per team."""
    alone = number_teams(range(len(teams)))
    shared = number_teams(teams)
    values: dict[str, dict[str, list[Floats]]] = {
        one.called: {votes: [] for votes in ways} for one in methods
    }
    for pool in systems.pools(alone, seed=seed):
        for method in methods:
            few = len(np.unique(shared)) < method.fewest
            for votes in ways:
                codes = shared if votes == "team" and not few else alone
                made = method.estimate(pool._replace(team=codes)).values
                values[method.called][votes].append(made)
    return {
        name: {votes: mean_of_defined(np.stack(each, axis=1)) for votes, each in both.items()}
        for name, both in values.items()
    }
