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
from leadline_studies.common.markdown import number, table, wrapped
from leadline_studies.common.pages import Found, runs_of
from leadline_studies.unjudged_systems.votes import STATISTICS, lighter, voted

LEAST, MOST = 41, 99
PARTS = 20
LARGE = {
    "trec-covid-r1": ("TREC-COVID round 1", "MAP"),
    "trec-covid-r2-top100": ("TREC-COVID round 2, first 100", "MAP"),
}
LATER = "trec-dl-2019-passage"
WHOLE = "TREC 2019 passages, 37 runs and 24 later ones"
OLD, NEW = "the 37 of these", "the 24 of these"


def between(data: Path) -> Found:
    """Return tau with MAP of every method: quantiles over random parts, and of the 61 runs."""
    found: Found = {}
    for name, (title, column) in LARGE.items():
        place = data / name
        found[title] = of_parts(place, runs_of(place), column)
    place = data / LATER
    extra = sorted((place / "extra-runs").iterdir())
    found[WHOLE] = of_whole(place, runs_of(place), extra)
    return found


def read(place: Path, runs: list[Path], column: str) -> tuple[Systems, np.ndarray, list[str]]:
    """Return the runs, their true scores and their teams.

    A later run that names the system whose documents it ranks again has that as team.
    """
    systems = read_systems(list(map(str, runs)), Reading())
    names = [info.name for info in systems.infos]
    scores = read_column(f"{place}/systems.tsv:{column}").values
    labels = read_labels(f"{place}/systems.tsv:team")
    teams = [name.split("_")[0] if (team := labels[name]) == "-" else team for name in names]
    return systems, np.array([scores[name] for name in names]), teams


def of_parts(place: Path, runs: list[Path], column: str) -> Found:
    """Return mean, 5 % and 95 % quantile of tau and tau-AP over random parts of 41 to 99 runs."""
    systems, truth, teams = read(place, runs, column)
    methods = lighter([kind() for kind in METHODS.classes.values() if kind.voting])
    rng = np.random.default_rng(0)
    values: dict[str, dict[str, list[float]]] = {one.called: {} for one in methods}
    for _ in range(PARTS):
        size = int(rng.integers(LEAST, MOST + 1))
        rows = np.sort(rng.permutation(len(truth))[:size])
        scores = voted(systems.only(rows.tolist()), methods, [teams[row] for row in rows], 0)
        for name, both in scores.items():
            one = values[name]
            one.setdefault("kendall", []).append(kendall(both["run"], truth[rows]))
            one.setdefault("team", []).append(kendall(both["team"], truth[rows]))
            one.setdefault("tau_ap", []).append(STATISTICS["tau_ap"](both["run"], truth[rows]))
    return {name: {key: spread(some) for key, some in one.items()} for name, one in values.items()}


def of_whole(place: Path, runs: list[Path], extra: list[Path]) -> Found:
    """Return tau and tau-AP of all 61 runs, and tau among the runs of each kind."""
    systems, truth, teams = read(place, [*runs, *extra], "computed_map_l2")
    methods = [kind() for kind in METHODS.classes.values() if kind.voting]
    rows = {OLD: slice(None, len(runs)), NEW: slice(len(runs), None)}
    return {
        name: {
            "kendall": {"value": kendall(both["run"], truth)},
            "team": {"value": kendall(both["team"], truth)},
            "tau_ap": {"value": STATISTICS["tau_ap"](both["run"], truth)},
            **{what: {"value": kendall(both["run"][part], truth[part])} for what, part in rows.items()},
            "place_of_best": 1 + int(np.count_nonzero(both["run"] > both["run"][truth.argmax()])),
        }
        for name, both in voted(systems, methods, teams, 0).items()
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return the mean with the 5 % and 95 % quantiles."""
    low, high = np.quantile(values, [0.05, 0.95]).tolist()
    return {"value": float(np.mean(values)), "low": low, "high": high}


def between_table(found: Found, methods: list[str]) -> str:
    """Write tau with MAP, by run and by team, and tau-AP."""
    rows = []
    for title, by_method in found.items():
        for name in methods:
            one = by_method[name]
            rows.append([title, name, *(cell(one[key]) for key in ("kendall", "team", "tau_ap"))])
    return table(["runs", "method", "tau", "tau, one vote a team", "tau-AP"], rows)


def cell(one: dict[str, float]) -> str:
    """Write a value, with its quantiles where it has them."""
    if "low" not in one:
        return number(one["value"])
    return f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


def between_words(found: Found, methods: list[str]) -> str:
    """Return a sentence on the order of the 61 runs within each kind."""
    one = found[WHOLE]
    among = {
        key: ", ".join(f"{name} {one[name][key]['value']:.2f}" for name in methods) for key in (OLD, NEW)
    }
    places = ", ".join(f"{name} {one[name]['place_of_best']}" for name in methods)
    words = (
        f"Of the 61 runs, tau among the 37 that were pooled: {among[OLD]}; among the 24 later ones: "
        f"{among[NEW]}. Place of the truly best run: {places}."
    )
    return wrapped(words).rstrip()
