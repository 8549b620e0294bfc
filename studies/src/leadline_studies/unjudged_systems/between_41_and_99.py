"""Rank 41 to 99 runs without judgments: random parts of large run sets, and a set of 61 runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from leadline.data.reading import Reading
from leadline.estimation.system_lists import Systems, read_systems
from leadline.estimation.unjudged_methods import METHODS
from leadline.io.result_files import read_column
from leadline_studies.common.pages import Json, find_runs
from leadline_studies.unjudged_systems.votes import over_subsets, spread, with_fewer_draws

LEAST, MOST = 41, 99
PARTS = 20
LARGE = {
    "trec-covid-r1": ("TREC-COVID round 1", "MAP"),
    "trec-covid-r2-top100": ("TREC-COVID round 2, first 100", "MAP"),
}
LATER = "trec-dl-2019-passage"
WHOLE = "TREC 2019 passages, 37 runs and 24 later ones"


def between(data: Path) -> Json:
    """Return tau with MAP of every method: quantiles over random parts, and of the 61 runs."""
    results: Json = {}
    for name, (title, column) in LARGE.items():
        folder = data / name
        results[title] = of_parts(folder, find_runs(folder), column)
    folder = data / LATER
    results[WHOLE] = of_whole(folder, [*find_runs(folder), *sorted((folder / "extra-runs").iterdir())])
    return results


def read(folder: Path, runs: list[Path], column: str) -> tuple[Systems, np.ndarray]:
    """Return the runs and their true scores."""
    systems = read_systems(list(map(str, runs)), Reading())
    names = [info.name for info in systems.infos]
    scores = read_column(f"{folder}/systems.tsv:{column}").values
    return systems, np.array([scores[name] for name in names])


def of_parts(folder: Path, runs: list[Path], column: str) -> Json:
    """Return mean, 5 % and 95 % quantile of tau over random parts of 41 to 99 runs."""
    systems, truth = read(folder, runs, column)
    methods = with_fewer_draws([kind() for kind in METHODS.classes.values() if kind.voting])
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(PARTS):
        size = int(rng.integers(LEAST, MOST + 1))
        parts.append(np.sort(rng.permutation(len(truth))[:size]))
    found = over_subsets(systems, truth, methods, parts, 0)
    return {name: {"kendall": spread(taus, "value")} for name, taus in found.items()}


def of_whole(folder: Path, runs: list[Path]) -> Json:
    """Return tau of all 61 runs."""
    systems, truth = read(folder, runs, "computed_map_l2")
    methods = [kind() for kind in METHODS.classes.values() if kind.voting]
    found = over_subsets(systems, truth, methods, [np.arange(len(truth))], 0)
    return {name: {"kendall": {"value": taus[0]}} for name, taus in found.items()}
