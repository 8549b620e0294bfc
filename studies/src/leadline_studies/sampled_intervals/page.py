"""Numbers of the page on sampled candidates."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.pages import Json, rounded, run_all

NAME = "sampled-intervals"
TITLES = {"cranfield": "Cranfield", "cacm": "CACM", "nfcorpus-test": "NFCorpus", "npl": "NPL"}
MOST = {"cranfield": "225"}
LOW, HIGH = 0.93, 0.97
SHOWN = (10, 30, 100, 300)  # sampled documents
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
    printed = {
        certain: [cell for cell in some if not cell["withheld"] and cell["sampling"]["intervals"]]
        for certain, some in cells.items()
    }

    def taus(way: str, measure: str, size: int, *, certain: bool) -> float:
        values = [
            cell[way]["tau"] for cell in cells[certain] if (cell["measure"], cell["n"]) == (measure, size)
        ]
        return float(sum(values) / len(values))

    drawn = cells[False]
    return {
        "titles": TITLES,
        "cells": len(drawn),
        "closer": {
            way: sum(abs(cell[way]["bias"]) < abs(cell["none"]["bias"]) for cell in drawn)
            for way in ("log", "uniform")
        },
        "exact": sum(cell["log"]["rmse"] < cell["none"]["rmse"] for cell in drawn),
        "ordered": sum(cell["log"]["tau"] > cell["none"]["tau"] for cell in drawn),
        "sizes": SHOWN,
        "bias": {
            (name, cell["n"]): cell
            for name, part in kept.items()
            for cell in part["cells"]
            if cell["measure"] == "AP" and not cell["certain"]
        },
        "taus": {
            (measure, size): (
                taus("none", measure, size, certain=False),
                taus("log", measure, size, certain=False),
                taus("none", measure, size, certain=True),
            )
            for measure in ("AP", "nDCG@10", "R@100")
            for size in SHOWN[1:]
        },
        "printed": {
            certain: {
                "cells": len(some),
                "shares": [cell["sampling"]["coverage"] for cell in some],
                "inside": sum(LOW <= cell["sampling"]["coverage"] <= HIGH for cell in some),
                "queries": [cell["queries"]["coverage"] for cell in some],
            }
            for certain, some in printed.items()
        },
    }
