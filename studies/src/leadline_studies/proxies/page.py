"""Numbers and figure of the page on proxies."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

from leadline import build_index, search, write_run
from leadline.charts import COLUMN
from leadline_studies.common.figures import grouped_intervals
from leadline_studies.common.pages import Json, find_documents, rounded, run_study

NAME = "proxies"
SETS = {
    "trec-dl-2019-passage": "TREC 2019 DL, passages",
    "trec-robust-2003": "Robust 2003",
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2",
    "cranfield": "Cranfield",
    "cacm": "CACM",
    "npl": "NPL",
}
LEVEL = {"trec-dl-2019-passage": "2"}
MODELS = (
    *("BM25(k1=0.9,b=0.4)", "BM25", "RM3", "RM1", "SDM", "QLDirichlet", "QLJelinekMercer", "QLHiemstra"),
    *("PL2", "In_expB2", "TF(cosine)", "TFIDF(cosine)"),
)
PROXIES = (
    "votes",
    "votes, cells by rank",
    "votes by nruns",
    "votes by reference-count",
    "votes by DeShaTo",
    "votes by HSA",
    "votes by true value",
    "adverse: random labels",
    "adverse: worst run",
    "none",
)
SHOWN = ("votes", "votes by nruns", "votes by DeShaTo", "votes by HSA", "votes by true value", "none")
KEPT = ("draws", "budget", "systems", "queries", "pairs", "level", "cells")


def collect(out: Path, data: Path) -> Json:
    """Run the study on every set; where there are no runs, of twelve retrieval models."""
    results = {}
    for name in SETS:
        runs = "runs/* extra-runs/*"
        if not (data / name / "runs").is_dir():
            runs = f"{' '.join(_searched(data / name, out / name / 'runs'))} --docs docs.jsonl*"
        command = f"{NAME} qrels.txt {runs} --level {LEVEL.get(name, '1')} --draws 50"
        result = run_study(command, data / name, out / name)
        results[name] = rounded({key: result[key] for key in KEPT})
    return results


def _searched(collection: Path, folder: Path) -> list[str]:
    """Rank the documents of a collection by the models, unless that was done."""
    paths = [folder / f"{number:02}.run" for number in range(len(MODELS))]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        runs = search(build_index(str(find_documents(collection))), str(collection / "queries.jsonl"), MODELS)
        for run, path in zip(runs.values(), paths, strict=True):
            write_run(run, path)
    return list(map(str, paths))


def cells_of(kept: Json, name: str, measure: str = "P") -> dict[str, Any]:
    """Return the cells of one set and measure by proxy."""
    return {cell["proxy"]: cell for cell in kept[name]["cells"] if cell["measure"].startswith(measure)}


def facts(kept: Json) -> Json:
    """Return the cells by set, and all cells."""
    every = [cell for part in kept.values() for cell in part["cells"]]
    both = [cells_of(kept, name, measure) for name in kept for measure in ("P", "RBP")]
    return {
        "sets": {SETS[name]: cells_of(kept, name) for name in kept},
        "systems": {SETS[name]: kept[name]["systems"] for name in kept},
        "shown": SHOWN,
        "every": every,
        "votes": [cell for cell in every if cell["proxy"] == "votes"],
        "plain": max(cell["ratio"] for cell in every if cell["proxy"] == "none"),
        "adverse": max(cell["ratio"] for cell in every if cell["proxy"].startswith("adverse")),
        "most": max(cells["votes"]["ratio"] - cells["votes by true value"]["ratio"] for cells in both),
    }


def figures(kept: Json) -> dict[str, Any]:
    """Draw the relative width for P@10 of each proxy and set, with the range of the draws."""
    nothing = dict.fromkeys(("ratio", "ratio_low", "ratio_high"), nan)
    groups = {
        SETS[name]: [
            tuple(cells.get(proxy, nothing)[field] for field in ("ratio", "ratio_low", "ratio_high"))
            for proxy in PROXIES
        ]
        for name in kept
        for cells in [cells_of(kept, name)]
    }
    label = "width of the interval of P@10 relative to that of the default (centred); "
    label += "mean, smallest and largest of 50 draws"
    return {f"{NAME}-widths": grouped_intervals(PROXIES, groups, label=label, mark=1.0, width=1.6 * COLUMN)}
