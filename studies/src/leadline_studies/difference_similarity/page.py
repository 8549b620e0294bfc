"""Numbers of the page on systems of one team."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.pages import RUN_SETS, Json, run_all

NAME = "difference-similarity"
SETS = ("trec-dl-2019-passage", "trec-covid-r1", "trec-robust-2003")
DRAWN = SETS[:2]
CUTOFFS = {"": "", "-at-20": " -k 20"}
COMMAND = "difference-similarity qrels.txt runs/* --team systems.tsv:team"
LEVELS = {"trec-dl-2019-passage": " --level 2"}
OURS = ("id", "delta RIC", "id - delta RIC")
FIGURES = {f"{name}{at}/roc": f"{name}{at}-roc.svg" for name in DRAWN for at in CUTOFFS}
FIGURES |= {f"{name}/map": f"{name}-map.svg" for name in DRAWN}


def collect(out: Path, data: Path) -> Json:
    """Run the study on every set, with and without a cutoff."""
    commands = {
        f"{name}{at}": (name, COMMAND + LEVELS.get(name, "") + option)
        for name in SETS
        for at, option in CUTOFFS.items()
    }
    return run_all(commands, out, data)


def facts(kept: Json) -> Json:
    """Return the settings that have areas, and what is counted over them."""
    tried = {key: data for key, data in kept.items() if data["auc"]["id"] is not None}
    areas = [data["auc"] for data in tried.values()]
    values = {name: [auc[name]["value"] for auc in areas] for name in ("id", "delta RIC", "distance(RIC)")}
    others = [max(entry["value"] for name, entry in auc.items() if name not in OURS) for auc in areas]
    for auc in areas:  # at the cutoff, or all documents
        auc |= {name.partition("@")[0]: entry for name, entry in auc.items()}
    decided = [data["decisions"]["at_0.1"] for data in kept.values() if data["decisions"]]
    return {
        "tried": tried,
        "titles": RUN_SETS,
        "values": values,
        "predictors": [name for name in areas[0] if "@" not in name],
        "held": sum(auc["id - delta RIC"]["low"] > 0 for auc in areas),
        "beaten": sum(other > own for other, own in zip(others, values["id"], strict=True)),
        "ric": [kept[name]["ric_ap"]["RIC"]["pearson"]["value"] for name in SETS],
        "decided": decided,
    }
