"""Rank 41 to 99 runs without judgments: random parts of large run sets, and a set of 61 runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from leadline.data.reading import Reading
from leadline.estimation.system_lists import Systems, read_systems
from leadline.estimation.unjudged_methods import METHODS
from leadline.io.id_lists import read_labels
from leadline.io.result_files import read_column
from leadline.stats.correlation import kendall
from leadline_studies.common.pages import Json, find_runs
from leadline_studies.unjudged_systems.votes import (
    STATISTICS,
    over_subsets,
    scores_by_votes,
    with_fewer_draws,
)

LEAST, MOST = 41, 99
PARTS = 20
LARGE = {
    "trec-covid-r1": ("TREC-COVID round 1", "MAP"),
    "trec-covid-r2-top100": ("TREC-COVID round 2, first 100", "MAP"),
}
LATER = "trec-dl-2019-passage"
WHOLE = "TREC 2019 passages, 37 runs and 24 later ones"
OLD, NEW = "the 37 of these", "the 24 of these"


def between(data: Path) -> Json:
    """Return tau with MAP of every method: quantiles over random parts, and of the 61 runs."""
    results: Json = {}
    for name, (title, column) in LARGE.items():
        folder = data / name
        results[title] = of_parts(folder, find_runs(folder), column)
    folder = data / LATER
    extra = sorted((folder / "extra-runs").iterdir())
    results[WHOLE] = of_whole(folder, find_runs(folder), extra)
    return results


def read(folder: Path, runs: list[Path], column: str) -> tuple[Systems, np.ndarray, list[str]]:
    """Return the runs, their true scores and their teams.

    A later run that names the system whose documents it ranks again has that as team.
    """
    systems = read_systems(list(map(str, runs)), Reading())
    names = [info.name for info in systems.infos]
    scores = read_column(f"{folder}/systems.tsv:{column}").values
    labels = read_labels(f"{folder}/systems.tsv:team")
    teams = [name.split("_")[0] if (team := labels[name]) == "-" else team for name in names]
    return systems, np.array([scores[name] for name in names]), teams


def of_parts(folder: Path, runs: list[Path], column: str) -> Json:
    """Return mean, 5 % and 95 % quantile of tau and tau-AP over random parts of 41 to 99 runs."""
    systems, truth, teams = read(folder, runs, column)
    methods = with_fewer_draws([kind() for kind in METHODS.classes.values() if kind.voting])
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(PARTS):
        size = int(rng.integers(LEAST, MOST + 1))
        parts.append(np.sort(rng.permutation(len(truth))[:size]))
    found = over_subsets(systems, truth, teams, methods, parts, 0)
    kept = ("kendall", "team", "tau_ap")
    return {name: {key: spread(taus[key]) for key in kept} for name, taus in found.items()}


def of_whole(folder: Path, runs: list[Path], extra: list[Path]) -> Json:
    """Return tau and tau-AP of all 61 runs, and tau among the runs of each kind."""
    systems, truth, teams = read(folder, [*runs, *extra], "computed_map_l2")
    methods = [kind() for kind in METHODS.classes.values() if kind.voting]
    rows = {OLD: slice(None, len(runs)), NEW: slice(len(runs), None)}
    return {
        name: {
            "kendall": {"value": kendall(by_vote["run"], truth)},
            "team": {"value": kendall(by_vote["team"], truth)},
            "tau_ap": {"value": STATISTICS["tau_ap"](by_vote["run"], truth)},
            **{group: {"value": kendall(by_vote["run"][part], truth[part])} for group, part in rows.items()},
            "place_of_best": 1 + int(np.count_nonzero(by_vote["run"] > by_vote["run"][truth.argmax()])),
        }
        for name, by_vote in scores_by_votes(systems, methods, teams, 0).items()
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return the mean with the 5 % and 95 % quantiles."""
    low, high = np.quantile(values, [0.05, 0.95]).tolist()
    return {"value": float(np.mean(values)), "low": low, "high": high}
