"""Numbers of the page on evaluation from a sample."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.pages import RUN_SETS, Json, rounded, run_study
from leadline_studies.histogram_sample.study import PLAIN, WEIGHTED, best_slope, r_of

NAME = "histogram-samples"
TEXTS = {"cisi": "CISI", "cacm": "CACM", "npl": "NPL", "nfcorpus-test": "NFCorpus"}
OPTIONS = {"trec-dl-2019-passage": " --level 2", "trec-covid-r2-top100": " --samples 5,10,20,40"}
ORDER = ("trec-robust-2003", "trec-dl-2019-passage", "trec-covid-r1", "trec-covid-r2-top100")
OF_RUNS = "histogram-sample qrels.txt runs/*"
OF_TEXTS = "--samples 10,30,100 --repeats 5 --draws 100"
OF_MODELS = f"histogram-sample-models docs.jsonl* queries.jsonl qrels.txt {OF_TEXTS}"
FIGURES = {
    "trec-dl-2019-passage-sample/tracking": f"{NAME}-trec-dl-2019-passage.svg",
    "trec-covid-r1-sample/shares": f"{NAME}-trec-covid-r1-shares.svg",
    "nfcorpus-test-sample-models/tracking": f"{NAME}-nfcorpus-test.svg",
    "nfcorpus-test-sample-models/underrated": f"{NAME}-nfcorpus-test-underrated.svg",
}


def collect(out: Path, data: Path) -> Json:
    """Run both studies on every set."""
    runs = {
        name: run_study(OF_RUNS + OPTIONS.get(name, ""), data / name, out / f"{name}-sample")
        for name in ORDER
    }
    models = {name: run_study(OF_MODELS, data / name, out / f"{name}-sample-models") for name in TEXTS}
    return dict(rounded({"runs": runs, "models": models}))


def cells_of(part: Json) -> list[Json]:
    """Return every cell: set, n, and the better HSA, AP as sampled and AP weighted with their share."""
    return [
        {
            "set": name,
            "share": plain["share"],
            "sample": plain["sample"],
            "hsa": best_slope(data["estimates"], index)[1],
            "plain": plain,
            "weighted": data["estimates"][WEIGHTED][index],
            "most": max(r_of(entry[index]) for entry in data["estimates"].values()),
        }
        for name, data in part.items()
        for index, plain in enumerate(data["estimates"][PLAIN])
    ]


def facts(kept: Json) -> Json:
    """Return the cells of runs and of models, and what is counted over them."""
    by_part = {part: cells_of(kept[part]) for part in ("runs", "models")}
    every = [cell for cells in by_part.values() for cell in cells]
    over = [cell["hsa"]["over_ap"] for cell in every]
    titles = RUN_SETS | TEXTS
    rows = [
        (titles[name], [cell for cell in cells if cell["set"] == name and cell["share"] == share], share)
        for part, cells in by_part.items()
        for name, data in kept[part].items()
        for share in (max(data["shares"]), min(data["shares"]))
    ]
    return {
        "rows": rows,
        "cells": len(every),
        "above": sum((entry["value"] or 0) > 0 for entry in over),
        "clear": sum((entry["low"] or 0) > 0 for entry in over),
        "below": sum((entry["high"] or 0) < 0 for entry in over),
        "weighted": sum(r_of(cell["weighted"]) == cell["most"] for cell in every),
        "beaten": sum(r_of(cell["hsa"]) > r_of(cell["weighted"]) for cell in every),
        "rescored": [(TEXTS[name], data["underrated"][:2]) for name, data in kept["models"].items()],
        "tops": next(iter(kept["models"].values()))["tops"],
        "first": kept["runs"]["trec-robust-2003"],
        "of_texts": OF_TEXTS,
    }
