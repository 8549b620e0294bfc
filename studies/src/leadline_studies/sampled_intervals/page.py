"""Numbers of the page on sampled candidates."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.pages import Json, rounded, run_all

NAME = "sampled-intervals"
TITLES = {"cranfield": "Cranfield", "cacm": "CACM", "nfcorpus-test": "NFCorpus", "npl": "NPL"}
MOST = {"cranfield": "225"}
FIGURES = {f"{name}/coverage": f"{NAME}-{name}.svg" for name in ("cranfield", "nfcorpus-test")}


def collect(out: Path, data: Path) -> Json:
    """Run the study on every collection."""
    command = f"{NAME} docs.jsonl* queries.jsonl qrels.txt --most "
    results = run_all({name: (name, command + MOST.get(name, "100")) for name in TITLES}, out, data)
    return dict(rounded(results))


def facts(kept: Json) -> Json:
    """Return the cells without and with certain documents, and what is counted over them."""
    cells = {
        certain: [cell for part in kept.values() for cell in part["cells"] if cell["certain"] == certain]
        for certain in (False, True)
    }
    drawn = cells[False]
    return {
        "titles": TITLES,
        "cells": cells,
        "closer": {
            way: sum(abs(cell[way]["bias"]) < abs(cell["none"]["bias"]) for cell in drawn)
            for way in ("log", "uniform")
        },
        "exact": sum(cell["log"]["rmse"] < cell["none"]["rmse"] for cell in drawn),
        "ordered": sum(cell["log"]["tau"] > cell["none"]["tau"] for cell in drawn),
        "sizes": (10, 30, 100, 300),
        "printed": {
            certain: [cell for cell in some if not cell["withheld"] and cell["sampling"]["intervals"]]
            for certain, some in cells.items()
        },
    }
