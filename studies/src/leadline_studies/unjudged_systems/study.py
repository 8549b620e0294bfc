"""Test how well systems can be ranked without judgments.

All estimators that need only document ids are compared with MAP from the judgments, or with scores from a
table, such as those that a campaign published. The study reports Kendall's tau, tau-AP (where mistakes near
the top count more) and Pearson's r, with intervals from a bootstrap of whole teams; tau within the better
half; the ranks given to the truly best tenth; and results for random sets of fewer systems. Each estimator is
tried with one vote per run and with one vote per team. Sources: Soboroff, Nicholas and Cahan 2001; Aslam and
Savell 2003; Wu and Crestani 2003; Spoerri 2007; Sakai and Lin 2010.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from leadline import InputError, read_qrels
from leadline.data.arrays import Floats, Integers
from leadline.data.reading import Reading
from leadline.data.table import Table, plain
from leadline.data.wording import rounded
from leadline.estimation.system_lists import Systems, read_systems
from leadline.estimation.unjudged_methods import METHODS, UnjudgedEstimator
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs
from leadline.io.id_lists import read_labels, teams_of
from leadline.io.result_files import read_column
from leadline.measures.average_precision import AP
from leadline.stats.correlation import kendall
from leadline.stats.moments import resamples
from leadline_studies import SEED, TEAM, Claim, Given, Option, Outcome, at_least, of_judged, with_options
from leadline_studies.common.tables import estimated, sheet
from leadline_studies.unjudged_systems.votes import (
    STATISTICS,
    VOTES,
    over_subsets,
    scores_of,
    spread,
    with_fewer_draws,
)

CLAIM = Claim("Systems can be ranked without judgments.")
OPTIONS = (
    TEAM,
    Option(
        "truth",
        str,
        "Table column with the true score of each run, used instead of MAP from the judgments.",
        metavar="FILE:COLUMN",
    ),
    Option("level", float, "Lowest relevant grade, for AP.", 1.0, metavar="GRADE"),
    Option("samples", int, "Number of bootstrap resamples of teams.", 1000),
    Option("subsets", int, "Number of random sets of systems for each set size.", 20),
    SEED,
)
SIZES = (5, 10, 20, 50, 100)
ENDS = {"": "value", " low": "low", " high": "high"}


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs; `team` and `truth` are FILE:COLUMN."""
    labels = read_labels(given.team)
    reading = Reading()
    systems = read_systems(runs, reading, on_run=given.on_run)
    names = [info.name for info in systems.infos]
    owners = teams_of(labels, names, given.team)
    table = read_qrels(qrels)
    refuse_sample(table)
    if given.truth is None:
        of_judged(systems, table)
        _, values = judge_runs(runs, table, AP(rel=given.level).values, reading=reading)
        true_scores = np.nan_to_num(np.stack(values)).mean(axis=1)
    else:
        true_scores = published(given.truth, names)
    methods = _methods(len(names), len(set(owners)))
    teams = dict(zip(names, owners, strict=True))
    scores = {"run": scores_of(systems, methods, given.seed)}
    scores["team"] = scores_of(systems, methods, given.seed, teams)
    drawn = resamples(owners, draws=given.samples, seed=given.seed)
    data: dict[str, Any] = {
        "systems": len(names),
        "teams": len(set(owners)),
        "queries": len(systems.queries),
        "judged_queries": len(table.queries),
        "truth": given.truth or "MAP",
        "methods": {
            name: {votes: agreement(scores[votes][name], true_scores, drawn) for votes in VOTES}
            for name in scores["run"]
        },
        "sizes": by_number(systems, true_scores, with_fewer_draws(methods), given.subsets, given.seed),
    }
    return Outcome(data, systems.infos, figures=_figures(data, scores["run"], true_scores, names))


def published(source: str, names: Sequence[str]) -> Floats:
    """Read the score of every run from a table."""
    column = read_column(source)
    missing = [name for name in names if not np.isfinite(column.values.get(name, np.nan))]
    if missing:
        count = f" ({len(missing)} such runs)" if len(missing) > 1 else ""
        raise InputError(f"run '{missing[0]}' has no score{count}. Give a score for each run.", path=source)
    return np.array([column.values[name] for name in names], dtype=np.float64)


def _methods(systems: int, teams: int) -> list[UnjudgedEstimator]:
    """Return the estimators that need document ids only and have enough systems."""
    at_least(2, min(systems, teams), "teams")
    methods = [kind() for kind in METHODS.classes.values() if kind.voting]
    return [method for method in methods if method.fewest <= min(systems, teams)]


def agreement(scores: Floats, truth: Floats, drawn: Iterable[Integers]) -> dict[str, Any]:
    """Compare an estimated order with the true one."""
    result: dict[str, Any] = {
        name: estimated(statistic(scores, truth), [statistic(scores, truth, times) for times in drawn])
        for name, statistic in STATISTICS.items()
    }
    order = np.argsort(-truth, kind="stable")
    half = order[: (len(truth) + 1) // 2]
    best = order[: max(1, round(len(truth) / 10))]
    ranks = [1 + int(np.count_nonzero(scores > scores[index])) for index in best.tolist()]
    return result | {
        "better_half": plain(kendall(scores[half], truth[half])),
        "best": len(best),
        "place_of_best": ranks[0],
        "mean_place_of_best": float(np.mean(ranks)),
        "ideal_mean_place": (len(best) + 1) / 2,
    }


def by_number(
    systems: Systems, truth: Floats, methods: Sequence[UnjudgedEstimator], subsets: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Estimate random sets of systems: mean and quantiles of tau by method and size."""
    rng = np.random.default_rng(seed)
    results: dict[str, dict[str, Any]] = {method.called: {} for method in methods}
    for size in [size for size in SIZES if size < len(truth)]:
        drawn = [np.sort(rng.permutation(len(truth))[:size]) for _ in range(subsets)]
        for name, taus in over_subsets(systems, truth, methods, drawn, seed).items():
            results[name][str(size)] = spread(taus)
    return results


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the agreement of every method, and tau by number of systems."""
    agreement = (
        {"method": name, "votes": VOTES[votes]} | entry
        for name, by_vote in data["methods"].items()
        for votes, entry in by_vote.items()
    )
    sizes = (
        {"method": name, "systems": int(size)} | entry
        for name, by_size in data["sizes"].items()
        for size, entry in by_size.items()
    )
    heads = [f"{part}{word}={part}.{key}" for part in STATISTICS for word, key in ENDS.items()]
    heads += ["tau, better half=better_half", "rank of best=place_of_best"]
    heads += ["mean rank of best tenth=mean_place_of_best", "ideal=ideal_mean_place"]
    spreads = ["mean tau=mean", "5 %=low", "95 %=high"]
    return {
        "agreement": sheet(agreement, ["method", "votes", *heads], digits=3),
        "sizes": sheet(sizes, ["method", "systems", *spreads], digits=3),
    }


def _figures(
    data: dict[str, Any], scores: dict[str, Floats], truth: Floats, names: list[str]
) -> dict[str, Any]:
    from leadline_studies.common.figures import by_size, named_points

    drawn = {
        name: named_points(truth, of_runs, names, across="MAP", up=name) for name, of_runs in scores.items()
    }
    lines = {
        name: [(float(size), entry["mean"]) for size, entry in sizes.items()]
        + [(float(len(truth)), data["methods"][name]["run"]["kendall"]["value"])]
        for name, sizes in data["sizes"].items()
    }
    defined = {
        name: [(size, tau) for size, tau in points if tau is not None] for name, points in lines.items()
    }
    some = {name: points for name, points in defined.items() if points}
    return drawn | {"sizes": by_size(some, label="Kendall tau with MAP", sizes="number of systems")}


def _tau(entry: dict[str, Any]) -> float:
    value = entry["run"]["kendall"]["value"]
    return -2.0 if value is None else float(value)


def lines(data: dict[str, Any]) -> list[str]:
    """Return which estimators are above chance, and whether they find the best."""
    methods = data["methods"]
    best = max(methods, key=lambda name: _tau(methods[name]))
    top = methods[best]["run"]
    if top["kendall"]["value"] is None:
        return ["No verdict: tau is undefined, because all systems have the same MAP or the same estimates."]
    sure = [name for name, entry in methods.items() if (entry["run"]["kendall"]["low"] or -1) > 0]
    tau, low, high = (rounded(top["kendall"][end]) for end in ("value", "low", "high"))
    first = (
        f"{best} follows MAP best: tau {tau} [{low}, {high}], tau-AP "
        f"{rounded(top['tau_ap']['value'])}, and tau {rounded(top['better_half'])} within the better half"
    )
    last = (
        f"The truly best {top['best']} of {data['systems']} systems have mean rank "
        f"{top['mean_place_of_best']:.1f} by {best}, where {top['ideal_mean_place']:.1f} would be right."
    )
    chance = f"Intervals of tau above 0: {', '.join(sure) or 'none'} ({len(sure)} of {len(methods)})"
    return [first, chance, last]
