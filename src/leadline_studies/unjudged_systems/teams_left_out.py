"""Effect of leaving a team out on estimates, and of the votes of a team's runs for each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.results import plain
from leadline.estimation.system_lists import Systems
from leadline.estimation.unjudged_methods import UnjudgedEstimator
from leadline.stats.resampling import interval
from leadline_studies.unjudged_systems.votes import STATISTICS, VOTES, voted


def left_out(
    systems: Systems,
    truth: Floats,
    teams: Sequence[str],
    methods: Sequence[UnjudgedEstimator],
    most: int | None,
    seed: int,
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Leave each team out; then, for each, all runs but one, for every one."""
    group = np.array(teams, dtype=object)
    names, sizes = np.unique(group.astype(str), return_counts=True)
    methods = [one for one in methods if len(names) > one.fewest]  # one team fewer must do
    whole = voted(systems, methods, teams, seed)
    among: dict[str, dict[str, list[float]]] = {
        one.called: {key: [] for key in STATISTICS} for one in methods
    }
    rows: list[dict[str, Any]] = []
    for team in names[np.argsort(-sizes, kind="stable")][:most].tolist():
        others, own = np.flatnonzero(group != team), np.flatnonzero(group == team)
        rest = systems.only(others.tolist())
        for name, both in voted(rest, methods, group[others].tolist(), seed, ("run",)).items():
            for key, statistic in STATISTICS.items():
                among[name][key].append(statistic(both["run"], truth[others]))
        if len(own) > 1:
            rows += placed(systems, truth, group, methods, whole, own, others, seed)
    found = {
        one.called: {
            "teams": len(among[one.called]["kendall"]),
            **{key: _ends(values) for key, values in among[one.called].items()},
            **gains_of([row for row in rows if row["method"] == one.called], seed),
        }
        for one in methods
    }
    return found, rows


def placed(
    systems: Systems,
    truth: Floats,
    group: Any,
    methods: Sequence[UnjudgedEstimator],
    whole: dict[str, dict[str, Floats]],
    own: Integers,
    others: Integers,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the mean ranks of a team's runs among all others, with and without their siblings' votes."""
    without: dict[tuple[str, str], list[int]] = {}
    for run_place in own.tolist():
        kept = [run_place, *others.tolist()]
        again = voted(systems.only(kept), methods, group[kept].tolist(), seed)
        for name, both in again.items():
            for votes, scores in both.items():
                without.setdefault((name, votes), []).append(_place(scores[0], scores[1:]))
    return [
        {
            "team": str(group[own[0]]),
            "runs": len(own),
            "method": one.called,
            "votes": votes,
            "true": float(np.mean([_place(truth[at], truth[others]) for at in own])),
            "with": float(
                np.mean(
                    [_place(whole[one.called][votes][at], whole[one.called][votes][others]) for at in own]
                )
            ),
            "without": float(np.mean(without[one.called, votes])),
        }
        for one in methods
        for votes in VOTES
    ]


def _place(score: float, others: Floats) -> int:
    return 1 + int(np.count_nonzero(others > score))


def _ends(values: Sequence[float]) -> dict[str, float | None]:
    known = [value for value in values if not np.isnan(value)]
    return {"low": min(known, default=None), "high": max(known, default=None)}


def gains_of(rows: Sequence[dict[str, Any]], seed: int) -> dict[str, Any]:
    """Return the mean gain of a team's runs by their siblings' votes, its interval, and the largest."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for votes in VOTES:
        of_votes = [row for row in rows if row["votes"] == votes]
        gains = np.array([row["without"] - row["with"] for row in of_votes])
        found["with_siblings"] = len(gains)
        if not len(gains):
            found[f"gain_{votes}"] = None
            continue
        means = gains[rng.integers(0, len(gains), (1000, len(gains)))].mean(axis=1)
        low, high = interval(means if len(gains) > 1 else [])  # one team says nothing of others
        found[f"gain_{votes}"] = {
            "value": float(gains.mean()),
            "low": plain(low),
            "high": plain(high),
            "largest": float(gains.max()),
            "team": of_votes[int(np.argmax(gains))]["team"],
        }
    return found
