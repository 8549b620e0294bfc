"""Numbers of the page on systems without judgments."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.pages import RUN_SETS, Json, cached, run_all
from leadline_studies.unjudged_systems.between_41_and_99 import between

NAME = "unjudged-systems"
BETWEEN = "41 to 99 runs"
OPTIONS = {
    "trec-covid-r1": "MAP",
    "trec-covid-r2-top100": "MAP",
    "trec-dl-2019-passage": "official_map_l2 --level 2",
    "trec-robust-2003": "official_map",
}
COMMAND = f"{NAME} qrels.txt runs/* --team systems.tsv:team --truth systems.tsv:"
DRAWN = (("trec-covid-r1", "nruns"), ("trec-robust-2003", "nruns"), ("trec-covid-r1", "sizes"))
FIGURES = {f"{name}/{figure}": f"unjudged-{name}-{figure}.svg" for name, figure in DRAWN}


def collect(out: Path, data: Path) -> Json:
    """Run the study on every set, and try the methods on sets of 41 to 99 runs."""
    results = run_all({name: (name, COMMAND + OPTIONS[name]) for name in RUN_SETS}, out, data)
    return results | {BETWEEN: cached(lambda: between(data), out / "between.json")}


def facts(kept: Json) -> Json:
    """Return the sets, and the methods with the largest mean tau first."""
    sets = {name: kept[name] for name in RUN_SETS}
    names = list(kept["trec-covid-r1"]["methods"])
    taus = {
        name: [data["methods"][name]["run"]["kendall"]["value"] for data in sets.values()] for name in names
    }
    return {
        "titles": RUN_SETS,
        "sets": sets,
        "methods": sorted(names, key=lambda name: -sum(taus[name])),
        "change": [
            entry["team"]["kendall"]["value"] - entry["run"]["kendall"]["value"]
            for data in sets.values()
            for entry in data["methods"].values()
        ],
    }
