"""Test whether Information Difference (id) can tell if two systems are from the same team.

Systems are sorted by RIC (see `leadline difference`) or RIC@k and divided into bins of equal size, so that
the systems in a bin have similar scores. The task is to predict, for each pair in a bin, whether both systems
are from the same team. The predictors are id, the difference in RIC, and common measures of list similarity.
Areas under the ROC curve are pooled over bins, with intervals from a bootstrap of whole teams. Source: Golbus
and Aslam 2014, section 3.1, figure 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from leadline import Difference, difference
from leadline.comparison.similarity_baselines import parse_competitors
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.table import Table, plain
from leadline.data.wording import counted
from leadline.io.id_lists import read_labels, teams_of
from leadline.stats.correlation import kendall, pearson, spearman
from leadline.stats.moments import resamples
from leadline_studies import COMPLETE, SEED, TEAM, Claim, Given, Option, Outcome, read_judgments, with_options
from leadline_studies.common.pages import interval
from leadline_studies.common.tables import estimated, sheet
from leadline_studies.difference_similarity.roc import area_under_curve, decide, roc_curve

CLAIM = Claim(
    "Information Difference separates pairs of one team from pairs of two teams far better than scores do.",
    "The area under the ROC curve is above 0.9 on average, and below 0.6 for the difference in RIC.",
)
OPTIONS = (
    TEAM,
    Option("cutoff", int, "Cutoff of RIC@k and id@k, used instead of RIC and id."),
    COMPLETE,
    Option(
        "bins", int, "Number of bins of equal size by RIC. [default: 20, or fewer to keep 7 systems per bin]"
    ),
    Option("level", float, "Lowest relevant grade, for AP.", 1.0, metavar="GRADE"),
    Option("samples", int, "Number of bootstrap resamples of teams.", 1000),
    SEED,
)
ID, DELTA = "id", "delta RIC"
FEWEST = 20  # pairs of one team, below which an area is not worth its name
SYSTEMS_A_BIN = 7
THRESHOLD = 0.1  # the paper's
THRESHOLDS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)


class Pairs(NamedTuple):
    """Pairs within bins: two systems each, whether of one team, and the values of all predictors."""

    first: Integers
    second: Integers
    same: Flags
    scores: dict[str, Floats]


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs; `team` is FILE:COLUMN."""
    labels = read_labels(given.team)
    differences = difference(
        read_judgments(qrels, given.complete),
        runs,
        cutoff=given.cutoff,
        ap_rel=given.level,
        competitors=parse_competitors(None, given.cutoff),
        on_run=given.on_run,
    )
    teams = teams_of(labels, differences.names, given.team)
    n_bins = given.bins or min(20, max(1, round(len(teams) / SYSTEMS_A_BIN)))
    pairs = pairs_in_bins(differences, teams, n_bins)
    drawn = resamples(teams, draws=given.samples, seed=given.seed)
    areas = _areas(pairs, drawn)
    data: dict[str, Any] = {
        "k": given.cutoff,
        "systems": len(teams),
        "teams": len(set(teams)),
        "queries": int(differences.counted.sum()),
        "bins": n_bins,
        "pairs": len(pairs.same),
        "same_team_pairs": int(pairs.same.sum()),
        "auc": areas,
        "decisions": _decisions(pairs),
        "ric_ap": _correlations(differences, drawn),
    }
    options = {"k": given.cutoff, "bins": n_bins}
    drawn_pairs = _figures(differences, teams, pairs)
    return Outcome(data, differences.runs, differences.warnings, options, figures=drawn_pairs)


def pairs_in_bins(differences: Difference, teams: list[str], bins: int) -> Pairs:
    """Return the pairs within bins of RIC, whose sizes differ by at most one, larger first."""
    parts = np.array_split(np.array(differences.order()), bins)
    ends = [np.array(np.triu_indices(len(part), 1)) for part in parts]
    first = np.concatenate([part[i] for part, (i, _) in zip(parts, ends, strict=True)])
    second = np.concatenate([part[j] for part, (_, j) in zip(parts, ends, strict=True)])
    group = np.array(teams, dtype=object)
    ric = differences.mean_ric
    scores = {ID: -differences.mean_id[first, second], DELTA: -np.abs(ric[first] - ric[second])}
    for name, table in differences.competitors.items():
        values = np.nan_to_num(table[first, second])
        scores[name] = -values if name.startswith("distance") else values
    return Pairs(first, second, (group[first] == group[second]).astype(np.bool_), scores)


def _areas(pairs: Pairs, draws: Integers) -> dict[str, Any]:
    """Return the AUC of every predictor with its interval, and of id minus that of delta RIC."""
    contrast = f"{ID} - {DELTA}"
    if int(pairs.same.sum()) < FEWEST:
        return dict.fromkeys([*pairs.scores, contrast])
    weights = [None, *(_weights(pairs, frequencies) for frequencies in draws)]
    found = {
        name: np.array([area_under_curve(score, pairs.same, weight) for weight in weights])
        for name, score in pairs.scores.items()
    }
    found[contrast] = found[ID] - found[DELTA]
    return {name: estimated(float(values[0]), values[1:]) for name, values in found.items()}


def _weights(pairs: Pairs, frequencies: Integers) -> Floats:
    """Return pair frequencies in a draw; copies of one team are different teams and form no pair."""
    joint = frequencies[pairs.first] * frequencies[pairs.second]
    return np.where(pairs.same, frequencies[pairs.first], joint).astype(np.float64)


def _decisions(pairs: Pairs) -> dict[str, Any] | None:
    """Return the accuracy of id at the paper's threshold and at others."""
    if int(pairs.same.sum()) < FEWEST:
        return None

    def decided(limit: float) -> dict[str, float | None]:
        found = decide(pairs.scores[ID], pairs.same, -limit)
        return {"threshold": limit} | {name: plain(value) for name, value in found.items()}

    return {"thresholds": list(map(decided, THRESHOLDS)), "at_0.1": decided(THRESHOLD)}


def _correlations(differences: Difference, drawn: Integers) -> dict[str, Any]:
    """Return the correlations of RIC and the concordance with AP over systems."""
    ap = differences.ap.mean(axis=1)
    return {
        name: {
            label: estimated(statistic(values, ap), [statistic(values, ap, times) for times in drawn])
            for label, statistic in (("pearson", pearson), ("spearman", spearman), ("kendall", kendall))
        }
        for name, values in (("RIC", differences.mean_ric), ("concordance", differences.mean_concordance))
    }


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the areas, the decisions by threshold and the correlations with AP."""
    areas = ({"predictor": name} | (area or {}) for name, area in data["auc"].items())
    decisions = (data["decisions"] or {}).get("thresholds", ())
    correlations = (
        {"measure": name, "coefficient": label} | value
        for name, values in data["ric_ap"].items()
        for label, value in values.items()
    )
    heads = ["id up to=threshold", "accuracy", "precision", "recall", "always different=larger"]
    ends = ["low", "high"]
    return {
        "auc": sheet(areas, ["predictor", "AUC=value", *ends], digits=3),
        "thresholds": sheet(decisions, heads, digits=3),
        "correlation": sheet(correlations, ["AP with=measure", "coefficient", "value", *ends], digits=3),
    }


def _figures(differences: Difference, teams: list[str], pairs: Pairs) -> dict[str, Any]:
    from leadline.charts import COLUMN
    from leadline.charts.grid import distance_map
    from leadline_studies.common.figures import operating_curves

    figures = {}
    if int(pairs.same.sum()) >= FEWEST:
        figures["roc"] = operating_curves(
            {
                f"{name} ({area_under_curve(score, pairs.same):.2f})": roc_curve(score, pairs.same)
                for name, score in pairs.scores.items()
            }
        )
    width = COLUMN if len(teams) <= 45 else 2 * COLUMN
    if len(teams) > 1:
        figures["map"] = distance_map(differences.names, differences.mean_id, groups=teams, width=width)
    return figures


def lines(data: dict[str, Any]) -> list[str]:
    """Return whether the paper's relation held: AUC above 0.9 for id, below 0.6 for delta RIC."""
    suffix = "" if data["k"] is None else f"@{data['k']}"
    ap = data["ric_ap"]["RIC"]["pearson"]
    last = f"Over systems, Pearson's r of RIC{suffix} with AP is {interval(ap)}."
    same = data["same_team_pairs"]
    if data["auc"][ID] is None:
        first = (
            f"There is no AUC, because the bins have {counted(same, 'pair')} of one team and at least "
            f"{FEWEST} are needed. Nothing is reproduced or refuted."
        )
        return [first, last]
    of_id, of_delta, advantage = (data["auc"][name] for name in (ID, DELTA, f"{ID} - {DELTA}"))
    relation = advantage["low"] > 0
    level = of_id["value"] > 0.9 and of_delta["value"] < 0.6
    verdict = (
        "reproduced, in relation and in size"
        if relation and level
        else "reproduced in relation (id is above delta RIC) but not in size (0.9 and 0.6)"
        if relation
        else "not reproduced, because the interval of the difference contains 0"
    )
    best = max(
        (name for name in data["auc"] if name not in (ID, DELTA, f"{ID} - {DELTA}")),
        key=lambda name: float(data["auc"][name]["value"]),
        default="",
    )
    beside = f" The best other predictor is {best} with {interval(data['auc'][best])}." if best else ""
    first = (
        f"The AUC of id{suffix} is {interval(of_id)}, that of the difference in RIC{suffix} "
        f"{interval(of_delta)} ({same} of {data['pairs']} pairs are of one team): {verdict}.{beside}"
    )
    return [first, last]
