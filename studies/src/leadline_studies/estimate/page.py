"""Numbers and figures of the page on estimates from few judgments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from leadline.charts import COLUMN
from leadline.estimation.sampling_errors import MOST_GUESSED_OF_NEW
from leadline_studies.common.figures import by_size, significance_errors
from leadline_studies.common.pages import Json, cached, family, pick, rounded, run_study
from leadline_studies.estimate.doubts import EDGES, doubts

NAME = "estimate"
PASSAGES = "trec-dl-2019-passage"
MACHINES = {"llama70b-criteria": "llama-70B", "llama8b-direct": "llama-8B"}
SHOWN = ("centred", "votes", *MACHINES)
SUMS = ("P", "RBP", "DCG")
OTHERS = {
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2, first 100",
    "trec-robust-2003": "Robust 2003",
}
# Parts of the study of the passages, and the options of the others.
PARTS = {
    "dl-p": "--measure P@10 --measure 'RBP(p=0.8)@10' --measure DCG@10",
    "dl-rr": "--measure RR@10 --pairs 0",
}
MANY_RUNS = "--measure P@10 --budgets 20,40 --draws 100 --pairs 0"
ELSEWHERE = {
    "trec-covid-r1": MANY_RUNS,
    "trec-covid-r2-top100": MANY_RUNS,
    "trec-robust-2003": f"{PARTS['dl-p'].rpartition(' --')[0]} --measure RR@10 --budgets 10,20,40 --pairs 0",
}
MIDDLE = 20  # judgments per query of the tables
FEWEST = 50  # estimates in a cell of a table
POOLED = {
    PASSAGES: "TREC 2019 DL, all 37 runs",
    f"{PASSAGES}, six": "TREC 2019 DL, 6 runs (5 choices)",
    "trec-robust-2003": "Robust 2003, a quarter to three quarters of 17",
    "trec-covid-r1": "TREC-COVID round 1, a quarter to three quarters of 40",
}


def collect(out: Path, data: Path) -> Json:
    """Run the studies, and put their numbers together; every row names its collection."""
    later = " ".join(f"--new {path}" for path in sorted((data / PASSAGES / "extra-runs").iterdir()))
    labels = " ".join(f"--machine ../trec-dl-2019-machine-labels/{name}.qrels" for name in MACHINES)
    commands = [
        (PASSAGES, part, f"{later} {labels} --level 2 {options}") for part, options in PARTS.items()
    ] + [(name, name, options) for name, options in ELSEWHERE.items()]
    found: Json = {"sets": {}, "cells": [], "rivals": [], "nested": [], "exact": [], "pairs": []}
    for name, part, options in commands:
        result = run_study(f"{NAME} qrels.txt runs/* {options}", data / name, out / part)
        known = ("draws", "systems", "pooled", "level", "queries", "frame")
        found["sets"][name] = {key: result[key] for key in known}
        for key in ("cells", "rivals", "nested", "exact", "pairs"):
            found[key] += [{"set": name} | row for row in result[key]]
    return {**rounded(found), **cached(lambda: doubts(data), out / "doubts.json")}


def _bias(rows: Iterable[Json]) -> float:
    some = list(rows)
    return float(np.average([row["bias"] for row in some], weights=[row["estimates"] for row in some]))


def _costs(cells: list[Json]) -> list[float]:
    """Return the half-widths with adverse machines relative to centred."""
    widths = {
        (one["set"], one["measure"], one["budget"], one["proxy"]): one["half_width_pooled"] for one in cells
    }
    return [
        width / centred
        for (*cell, proxy), width in widths.items()
        if proxy.startswith("adverse") and width
        if (centred := widths[*cell, "centred"]) and centred >= 0.001  # kept with four places
    ]


def facts(kept: Json) -> Json:
    """Return the cells of the tables, and what is counted over them."""
    passages = pick(kept["cells"], set=PASSAGES)
    sums = [one for one in pick(passages, budget=MIDDLE) if family(one) in SUMS and one["proxy"] in SHOWN]
    at = {(family(one), one["proxy"]): one for one in pick(passages, budget=MIDDLE)}
    known = [one for one in kept["outside"] if one["most"] <= MOST_GUESSED_OF_NEW]
    centred = pick(kept["outside"], proxy="centred", measure="P")
    return {
        "titles": {PASSAGES: "TREC 2019 DL", **OTHERS},
        "machines": MACHINES,
        "sums": sums,
        "unscaled": [one for one in sums if family(one) != "DCG"],
        "deep": [one for one in kept["cells"] if family(one) == "RR" and one["proxy"] != "none"],
        "at": at,
        "edges": [*EDGES, 1.0],
        "outside": [
            (
                title,
                {one["most"]: one for one in centred if one["set"] == name and one["estimates"] >= FEWEST},
            )
            for name, title in POOLED.items()
        ],
        "most": MOST_GUESSED_OF_NEW,
        "elsewhere": [
            _bias(one for one in known if one in centred and one["set"] == name) for name in POOLED
        ],
        "unpredicted": min(
            one["coverage"]
            for one in known
            if one["proxy"] == "none" and one["measure"] != "RR" and one["estimates"] >= FEWEST
        ),
        "cost": max(_costs(kept["cells"])),
    }


def figures(kept: Json) -> dict[str, Any]:
    """Draw coverage by measure and budget, and the bias of P@10 by pool."""
    cells = pick(kept["cells"], set=PASSAGES, proxy="centred")
    sizes = sorted({one["budget"] for one in cells})
    groups = {"pooled": "pooled runs", "new": "later runs", "pairs": "pairs of pooled runs"}
    coverage = {
        f"{name}@10": {
            words: [(one[f"coverage_{group}"], 0.0) for one in pick(cells, measure=name)]
            for group, words in groups.items()
        }
        for name in (*SUMS, "RR")
    }
    rivals = pick(kept["rivals"], set=PASSAGES, measure="P")
    pools = {
        "depth": [one for one in rivals if one["method"].startswith("depth")],
        "MoveToFront": pick(rivals, method="MoveToFront"),
        "drawn": [one | {"cost": one["budget"]} for one in pick(cells, measure="P")],
    }
    bias = {
        f"{pool}, {words}": [(one["cost"], one[f"bias_{group}"]) for one in rows]
        for pool, rows in pools.items()
        for group, words in (("pooled", "pooled"), ("new", "later"))
    }
    return {
        f"{NAME}-coverage": significance_errors(
            coverage, sizes, promised=0.95, label="coverage, centred", across="judgments per query"
        ),
        f"{NAME}-bias": by_size(
            bias, label="mean error of P@10", sizes="judgments per query", width=1.3 * COLUMN
        ),
    }
