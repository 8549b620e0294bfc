"""Score systems by every estimator, with one vote a run and with one vote a team."""

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
    """Let the methods that draw do it fewer times."""
    return [one.replace(draws=DRAWS) if isinstance(one, Soboroff) else one for one in methods]


def voted(
    systems: Systems,
    methods: Sequence[UnjudgedEstimator],
    teams: Sequence[str],
    seed: int,
    ways: Sequence[str] = tuple(VOTES),
) -> dict[str, dict[str, Floats]]:
    """Give the scores by every method when every run has a vote, and when every team has.

    Where the teams are too few for a method, every run keeps its vote. The lists of a query are put together
    once for all methods.
    """
    default_cutoffs = number_teams(range(len(teams)))
    shared = number_teams(teams)
    values: dict[str, dict[str, list[Floats]]] = {
        one.called: {votes: [] for votes in ways} for one in methods
    }
    for pool in systems.pools(default_cutoffs, seed=seed):
        for method in methods:
            few = len(np.unique(shared)) < method.fewest
            for votes in ways:
                codes = shared if votes == "team" and not few else default_cutoffs
                made = method.estimate(pool._replace(team=codes)).values
                values[method.called][votes].append(made)
    return {
        name: {votes: mean_of_defined(np.stack(each, axis=1)) for votes, each in both.items()}
        for name, both in values.items()
    }
