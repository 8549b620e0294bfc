"""Scores of systems with one vote per run and one per team, and the effect of leaving a team out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.results import plain
from leadline.estimation.system_lists import Systems, number_teams
from leadline.estimation.unjudged_methods import Soboroff, UnjudgedEstimator
from leadline.estimation.unjudged_result import mean_of_defined
from leadline.stats.correlation import kendall, pearson, tau_ap
from leadline.stats.resampling import drawn_rows, interval

STATISTICS = {"kendall": kendall, "tau_ap": tau_ap, "pearson": pearson}
VOTES = {"run": "one vote a run", "team": "one vote a team"}
DRAWS = 10  # of Soboroff's, where a campaign is estimated again and again


def with_fewer_draws(methods: Sequence[UnjudgedEstimator]) -> list[UnjudgedEstimator]:
    """Reduce the number of draws of randomised methods."""
    return [method.replace(draws=DRAWS) if isinstance(method, Soboroff) else method for method in methods]


def scores_by_votes(
    systems: Systems,
    methods: Sequence[UnjudgedEstimator],
    teams: Sequence[str],
    seed: int,
    kinds: Sequence[str] = tuple(VOTES),
) -> dict[str, dict[str, Floats]]:
    """Return the scores by every method with one vote per run, and with one per team."""
    single = number_teams(range(len(teams)))
    shared = number_teams(teams)
    values: dict[str, dict[str, list[Floats]]] = {
        estimator.called: {votes: [] for votes in kinds} for estimator in methods
    }
    for pool in systems.pools(single, seed=seed):
        for method in methods:
            too_few = len(np.unique(shared)) < method.fewest
            for votes in kinds:
                codes = shared if votes == "team" and not too_few else single
                scores = method.estimate(pool._replace(team=codes)).values
                values[method.called][votes].append(scores)
    return {
        name: {votes: mean_of_defined(np.stack(per_query, axis=1)) for votes, per_query in by_vote.items()}
        for name, by_vote in values.items()
    }


def left_out(
    systems: Systems,
    truth: Floats,
    teams: Sequence[str],
    methods: Sequence[UnjudgedEstimator],
    most: int | None,
    seed: int,
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Return the statistics without each team, and ranks of its runs without their siblings."""
    group = np.array(teams, dtype=object)
    names, sizes = np.unique(group.astype(str), return_counts=True)
    methods = [method for method in methods if len(names) > method.fewest]  # one team fewer must do
    full = scores_by_votes(systems, methods, teams, seed)
    statistics: dict[str, dict[str, list[float]]] = {
        method.called: {key: [] for key in STATISTICS} for method in methods
    }
    rows: list[dict[str, Any]] = []
    for team in names[np.argsort(-sizes, kind="stable")][:most].tolist():
        others, own = np.flatnonzero(group != team), np.flatnonzero(group == team)
        others_only = systems.only(others.tolist())
        for name, by_vote in scores_by_votes(
            others_only, methods, group[others].tolist(), seed, ("run",)
        ).items():
            for key, statistic in STATISTICS.items():
                statistics[name][key].append(statistic(by_vote["run"], truth[others]))
        if len(own) > 1:
            rows += sibling_rows(systems, truth, group, methods, full, own, others, seed)
    summary = {
        method.called: {
            "teams": len(statistics[method.called]["kendall"]),
            **{key: _range(values) for key, values in statistics[method.called].items()},
            **gains_of([row for row in rows if row["method"] == method.called], seed),
        }
        for method in methods
    }
    return summary, rows


def sibling_rows(
    systems: Systems,
    truth: Floats,
    group: Any,
    methods: Sequence[UnjudgedEstimator],
    full: dict[str, dict[str, Floats]],
    own: Integers,
    others: Integers,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the mean ranks of a team's runs among all others, with and without their siblings' votes."""
    without: dict[tuple[str, str], list[int]] = {}
    for row_of_run in own.tolist():
        rows = [row_of_run, *others.tolist()]
        all_scores = scores_by_votes(systems.only(rows), methods, group[rows].tolist(), seed)
        for name, by_vote in all_scores.items():
            for votes, scores in by_vote.items():
                without.setdefault((name, votes), []).append(_rank(scores[0], scores[1:]))
    return [
        {
            "team": str(group[own[0]]),
            "runs": len(own),
            "method": method.called,
            "votes": votes,
            "true": float(np.mean([_rank(truth[row], truth[others]) for row in own])),
            "with": float(
                np.mean(
                    [
                        _rank(full[method.called][votes][row], full[method.called][votes][others])
                        for row in own
                    ]
                )
            ),
            "without": float(np.mean(without[method.called, votes])),
        }
        for method in methods
        for votes in VOTES
    ]


def _rank(score: float, others: Floats) -> int:
    return 1 + int(np.count_nonzero(others > score))


def _range(values: Sequence[float]) -> dict[str, float | None]:
    defined = [value for value in values if not np.isnan(value)]
    return {"low": min(defined, default=None), "high": max(defined, default=None)}


def gains_of(rows: Sequence[dict[str, Any]], seed: int) -> dict[str, Any]:
    """Return the mean gain of a team's runs by their siblings' votes, its interval, and the largest."""
    rng = np.random.default_rng(seed)
    result: dict[str, Any] = {}
    for votes in VOTES:
        of_votes = [row for row in rows if row["votes"] == votes]
        gains = np.array([row["without"] - row["with"] for row in of_votes])
        result["with_siblings"] = len(gains)
        if not len(gains):
            result[f"gain_{votes}"] = None
            continue
        means = gains[drawn_rows(rng, 1000, len(gains))].mean(axis=1)
        low, high = interval(means if len(gains) > 1 else [])  # one team says nothing of others
        result[f"gain_{votes}"] = {
            "value": float(gains.mean()),
            "low": plain(low),
            "high": plain(high),
            "largest": float(gains.max()),
            "team": of_votes[int(np.argmax(gains))]["team"],
        }
    return result
