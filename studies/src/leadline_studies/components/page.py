"""Numbers of the page on components."""

from __future__ import annotations

from pathlib import Path

import leadline as ll
from leadline_studies.common.pages import Json, run_all
from leadline_studies.components.study import best_of

NAME = "components"
SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
KEPT = ("documents", "queries", "measure", "rules", "cells", "effects", "by_weighting", "contests", "lines")
FIGURES = {f"{name}/effects": f"components-{name}.svg" for name in SETS}


def collect(out: Path, data: Path) -> Json:
    """Run the study on every collection."""
    commands = {name: (name, "components docs.jsonl* queries.jsonl qrels.txt") for name in SETS}
    results = run_all(commands, out, data)
    found = {name: {key: data[key] for key in KEPT if key in data} for name, data in results.items()}
    return {"leadline": ll.__version__, "found": found}


def facts(kept: Json) -> Json:
    """Return the effects of the steps beside each other, and the verdicts."""
    results = kept["found"]
    verdicts = {name: best_of(data) for name, data in results.items()}
    means = [[cell["mean"] for cell in data["cells"][15:]] for data in results.values()]
    return {
        "results": results,
        "effects": list(zip(*(data["effects"] for data in results.values()), strict=True)),
        "by_weighting": list(zip(*(data["by_weighting"] for data in results.values()), strict=True)),
        "first": sum(best == "weighting" for best, _ in verdicts.values()),
        "clear": [name for name, (_, words) in verdicts.items() if "no significant" not in words],
        "equal": [name for name, data in results.items() if not data["contests"][2]["told_apart"]],
        "gain": [row[4] - row[0] for row in means],
    }
