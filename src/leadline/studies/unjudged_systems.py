"""How far systems ranked without judgments stand as the judgments rank them.

All estimators that need only ids are compared with MAP on the judgments: Kendall's tau, tau-AP (mistakes near
the top weigh more) and Pearson, with intervals from drawing whole teams again; tau within the better half;
the places given to the truly best tenth; fewer systems, drawn at random; one team left out; and the places
that a run gains by its siblings' votes. Each with one vote a run and with one vote a team.
Sources: Soboroff, Nicholas and Cahan 2001; Aslam and Savell 2003; Wu and Crestani 2003; Spoerri 2007; Sakai
and Lin 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.estimators import METHODS, Estimator, Systems, estimated, read_systems
from leadline.formats import QrelsLike, read_qrels, repair_of
from leadline.formats.labels import read_labels, teams_of
from leadline.judged_runs import judge_runs
from leadline.measures.average_precision import AP
from leadline.render import Sheet
from leadline.results import plain
from leadline.statistics.correlation import kendall, pearson, tau_ap
from leadline.statistics.team_bootstrap import draws_of_teams, interval
from leadline.studies import Option, Outcome, Tell

OPTIONS = (
    Option("team", str, "The team of every run.", needed=True, metavar="FILE:COLUMN"),
    Option("level", float, "The least relevant grade of AP.", 1.0),
    Option("samples", int, "How often teams are drawn again.", 1000),
    Option("subsets", int, "How many random sets of systems of each size.", 20),
    Option("teams", int, "How many teams are left out, the largest first.", 12),
    Option("seed", int, "Seeds the draws.", 0),
)
SIZES = (5, 10, 20, 50, 100)
STATISTICS = {"kendall": kendall, "tau_ap": tau_ap, "pearson": pearson}
VOTES = {"run": "one vote a run", "team": "one vote a team"}


def run(
    qrels: QrelsLike, runs: Any, *, team: str, level: float = 1.0, samples: int = 1000, subsets: int = 20,
    teams: int = 12, seed: int = 0, on_run: Tell | None = None,
) -> Outcome:  # fmt: skip
    """Try it on some runs; `team` is FILE:COLUMN."""
    for name, value in (("samples", samples), ("subsets", subsets), ("teams", teams)):
        if value < 1:
            raise UsageError(f"{name}={value}; expected 1 or more")
    labels = read_labels(team)
    repair = repair_of("score", "refuse", "refuse")
    systems = read_systems(runs, repair, on_run=on_run)
    names = [info.name for info in systems.infos]
    owners = teams_of(labels, names, team)
    table = read_qrels(qrels)
    _, values = judge_runs(runs, table, AP(rel=level).values, repair=repair)
    truth = np.nan_to_num(np.stack(values)).mean(axis=1)
    methods = _methods(len(names), len(set(owners)))
    scores = {str(one): _both(systems, one, owners, seed) for one in methods}
    drawn = list(draws_of_teams(owners, samples=samples, seed=seed))
    data: dict[str, Any] = {
        "systems": len(names), "teams": len(set(owners)), "queries": len(systems.queries),
        "judged_queries": len(table.queries),
        "methods": {
            _called(name): {votes: agreement(one[votes], truth, drawn) for votes in VOTES}
            for name, one in scores.items()
        },
        "sizes": by_number(systems, truth, methods, subsets, seed),
        "left_out": left_out(systems, truth, owners, methods, teams, seed),
    }  # fmt: skip
    return Outcome(
        data, {"agreement": _sheet(data), "sizes": _size_sheet(data), "left_out": _left_sheet(data)},
        _figures(data, scores, truth, names), lines_of(data), [],
        [(info.path, info.counts["documents_read"]) for info in systems.infos],
        {"team": team, "level": level, "samples": samples, "subsets": subsets, "teams": teams,
         "seed": seed},
    )  # fmt: skip


def _methods(systems: int, teams: int) -> list[Estimator]:
    """Give the estimators that need ids alone, and no more systems than there are."""
    found = [kind() for kind in METHODS.classes.values() if kind.voting]
    found = [one for one in found if one.fewest <= min(systems, teams)]
    if not found:
        raise UsageError(f"{systems} systems of {teams} teams; expected 2 teams or more")
    return found


def _called(text: str) -> str:
    return METHODS.parse(text).called


def _both(
    systems: Systems, method: Estimator, teams: Sequence[str], seed: int
) -> dict[str, Floats]:
    """Give the scores when every run has a vote, and when every team has."""
    owners = {info.name: team for info, team in zip(systems.infos, teams, strict=True)}
    shared = len(set(teams)) >= method.fewest
    alone = estimated(systems, method, seed=seed).scores
    return {
        "run": alone,
        "team": estimated(systems, method, one_vote_per=owners, seed=seed).scores
        if shared
        else alone,
    }


def agreement(scores: Floats, truth: Floats, drawn: Sequence[Integers]) -> dict[str, Any]:
    """Compare an estimated order with the true one."""
    found: dict[str, Any] = {}
    for name, statistic in STATISTICS.items():
        low, high = interval([statistic(scores, truth, times) for times in drawn])
        found[name] = {
            "value": plain(statistic(scores, truth)), "low": plain(low), "high": plain(high),
        }  # fmt: skip
    order = np.argsort(-truth, kind="stable")
    half = order[: (len(truth) + 1) // 2]
    best = order[: max(1, round(len(truth) / 10))]
    places = [1 + int(np.count_nonzero(scores > scores[place])) for place in best.tolist()]
    return found | {
        "better_half": plain(kendall(scores[half], truth[half])),
        "best": len(best),
        "place_of_best": places[0],
        "mean_place_of_best": float(np.mean(places)),
        "ideal_mean_place": (len(best) + 1) / 2,
    }


def by_number(
    systems: Systems, truth: Floats, methods: Sequence[Estimator], subsets: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Estimate random sets of systems, and give mean and quantiles of tau by their number."""
    dice = np.random.default_rng(seed)
    found: dict[str, dict[str, Any]] = {one.called: {} for one in methods}
    for size in [size for size in SIZES if size < len(truth)]:
        drawn = [np.sort(dice.permutation(len(truth))[:size]) for _ in range(subsets)]
        parts = [(systems.only(places.tolist()), truth[places]) for places in drawn]
        for method in methods:
            taus = [
                kendall(estimated(part, method, seed=seed).scores, true) for part, true in parts
            ]
            low, high = np.nanquantile(taus, [0.05, 0.95])
            found[method.called][str(size)] = {
                "mean": float(np.nanmean(taus)), "low": float(low), "high": float(high),
            }  # fmt: skip
    return found


def left_out(
    systems: Systems, truth: Floats, teams: Sequence[str], methods: Sequence[Estimator], most: int,
    seed: int,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Leave teams out, one at a time, and then all runs of a team but one.

    `low` and `high` bound tau among the others; `gain_run` and `gain_team` are the mean places, among runs
    of other teams, that the remaining run of a team loses when its siblings no longer vote.
    """
    group = np.array(teams, dtype=object)
    names, sizes = np.unique(group.astype(str), return_counts=True)
    chosen = names[np.argsort(-sizes, kind="stable")][:most].tolist()
    found: dict[str, dict[str, Any]] = {}
    for method in methods:
        whole = _both(systems, method, teams, seed)
        taus: list[float] = []
        gains: dict[str, list[int]] = {votes: [] for votes in VOTES}
        for team in chosen:
            others = np.flatnonzero(group != team)
            if len(set(group[others])) < method.fewest:
                continue
            part = systems.only(others.tolist())
            taus.append(kendall(estimated(part, method, seed=seed).scores, truth[others]))
            own = np.flatnonzero(group == team)
            if len(own) > 1:
                kept = [int(own[0]), *others.tolist()]
                again = _both(systems.only(kept), method, [teams[place] for place in kept], seed)
                for votes, scores in again.items():
                    before = np.count_nonzero(whole[votes][others] > whole[votes][own[0]])
                    gains[votes].append(int(np.count_nonzero(scores[1:] > scores[0]) - before))
        found[method.called] = {
            "teams": len(taus), "low": min(taus, default=None), "high": max(taus, default=None),
            "runs": len(gains["run"]),
        } | {
            f"gain_{votes}": float(np.mean(gain)) if gain else None for votes, gain in gains.items()
        }  # fmt: skip
    return found


def _sheet(data: dict[str, Any]) -> Sheet:
    rows = [
        [name, VOTES[votes],
         *(one[part][end] for part in STATISTICS for end in ("value", "low", "high")),
         one["better_half"], one["place_of_best"], one["mean_place_of_best"], one["ideal_mean_place"]]
        for name, both in data["methods"].items()
        for votes, one in both.items()
    ]  # fmt: skip
    heads = ["method", "votes"]
    heads += [f"{part}{end}" for part in STATISTICS for end in ("", " low", " high")]
    heads += ["tau, better half", "place of best", "mean place of best tenth", "ideal"]
    return Sheet(heads, rows, digits=3)


def _size_sheet(data: dict[str, Any]) -> Sheet:
    rows = [
        [name, int(size), one["mean"], one["low"], one["high"]]
        for name, sizes in data["sizes"].items()
        for size, one in sizes.items()
    ]
    return Sheet(["method", "systems", "mean tau", "5 %", "95 %"], rows, digits=3)


def _left_sheet(data: dict[str, Any]) -> Sheet:
    heads = [
        "method",
        "teams",
        "lowest tau",
        "highest tau",
        "runs",
        "places gained",
        "with team votes",
    ]
    rows = [[name, *one.values()] for name, one in data["left_out"].items()]
    return Sheet(heads, rows, digits=3)


def _figures(
    data: dict[str, Any], scores: dict[str, dict[str, Floats]], truth: Floats, names: list[str]
) -> dict[str, Any]:
    from leadline.plots.against_truth import against_truth
    from leadline.plots.by_size import by_size

    figures = {
        _called(name): against_truth(one["run"], truth, names, label=_called(name))
        for name, one in scores.items()
    }
    lines = {
        name: [(float(size), one["mean"]) for size, one in sizes.items()]
        + [(float(len(truth)), data["methods"][name]["run"]["kendall"]["value"])]
        for name, sizes in data["sizes"].items()
    }
    return figures | {"sizes": by_size(lines)}


def lines_of(data: dict[str, Any]) -> list[str]:
    """Say which estimators are above chance, and whether they find the best."""
    found = data["methods"]
    best = max(found, key=lambda name: float(found[name]["run"]["kendall"]["value"] or -1))
    top = found[best]["run"]
    sure = [name for name, one in found.items() if (one["run"]["kendall"]["low"] or -1) > 0]
    said = "tau {value:.2f} [{low:.2f}, {high:.2f}]".format(**top["kendall"])
    first = (
        f"{best} follows MAP best: {said}, tau-AP {top['tau_ap']['value']:.2f}, "
        f"{top['better_half']:.2f} within the better half"
    )
    last = (
        f"the truly best {top['best']} of {data['systems']} systems stand at mean place "
        f"{top['mean_place_of_best']:.1f} by {best}; {top['ideal_mean_place']:.1f} would be right"
    )
    chance = f"intervals of tau above 0: {', '.join(sure) or 'none'} ({len(sure)} of {len(found)})"
    return [first, chance, last]
