"""Numbers of the page on models and parameters."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import leadline as ll
from leadline.charts import picture
from leadline_studies import study
from leadline_studies.common.pages import PAGES, Json, cached, find_documents

NAME = "difference-models"
SETS = ("cisi", "cacm", "npl", "nfcorpus-test")
CUTOFFS = (None, 20)
STEPS = range(21)
B = [f"{step * 0.05:.2g}" for step in STEPS]
EVEN, WIDE = "even", "wide"
COMPLETE = "complete"
JUDGED: dict[str, dict[str, int]] = {COMPLETE: {}, "pool of 100": {"pool": 100}, "pool of 30": {"pool": 30}}
DEEPEST = 100
GRIDS = {
    EVEN: {
        "b": B,
        "mu": [f"{250 * (step + 1)}" for step in STEPS],
        "c": [f"{0.5 * (step + 1):g}" for step in STEPS],
    },
    WIDE: {
        "b": B,
        "mu": [f"{10 * 500 ** (step / 20):.3g}" for step in STEPS],
        "c": [f"{0.05 * 400 ** (step / 20):.3g}" for step in STEPS],
    },
}
FAMILIES = ("BM25", "LM", "DFR")
PAPER_FAR = 0.40  # of the pairs of BM25, in the paper


def collect(out: Path, data: Path) -> Json:
    """Run the study on both grids with every kind of judgments."""
    return cached(lambda: _run_grids(data), out / f"{NAME}.json")


def _run_grids(data: Path) -> Json:
    results: Json = {"leadline": ll.__version__, "documents": {}}
    for (grid_name, values), name in product(GRIDS.items(), SETS):
        index = ll.build_index(str(find_documents(data / name)))
        results["documents"][name] = index.documents
        for cutoff in CUTOFFS:
            key = name if cutoff is None else f"{name}-at-{cutoff}"
            outcomes = _run_grid(index, data / name, cutoff, values)
            for judged, outcome in outcomes.items():
                messages = {"lines": list(outcome.lines), "notices": list(map(str, outcome.warnings))}
                results.setdefault(f"{grid_name} {judged}", {})[key] = outcome.data | messages
            if grid_name == EVEN:
                for title, figure in outcomes[COMPLETE].figures.items():
                    (PAGES / f"{NAME}-{key}-{title}.svg").write_bytes(picture(figure, "svg"))
    return results


def _run_grid(index: Any, folder: Path, cutoff: int | None, values: dict[str, list[str]]) -> dict[str, Any]:
    """Search with one grid and run the study with each kind of judgments."""
    dfr = "In_expB2" if cutoff is None else "PL2"
    settings = [
        *((f"BM25(k1=1.2,b={value})", "BM25", value) for value in values["b"]),
        *((f"QLDirichlet(mu={float(value):g})", "LM", value) for value in values["mu"]),
        *((f"{dfr}(c={value})", "DFR", value) for value in values["c"]),
    ]
    depth = index.documents if cutoff is None else DEEPEST  # a pool is deeper than the cutoff
    runs = ll.search(index, str(folder / "queries.jsonl"), [model for model, _, _ in settings], k=depth)
    rows = [f"{name}\t{family}\t{value}\n" for name, (_, family, value) in zip(runs, settings, strict=True)]
    documents = str(find_documents(folder))
    with tempfile.TemporaryDirectory() as temporary:
        grid_file = Path(temporary) / "grid.tsv"
        grid_file.write_text("run\tfamily\tparameter\n" + "".join(rows))
        columns = {"family": f"{grid_file}:family", "parameter": f"{grid_file}:parameter", "cutoff": cutoff}
        return {
            judged: study(NAME).run(
                str(folder / "qrels.txt"),
                runs,
                **columns,
                **({"complete": documents} if judged == COMPLETE else how),
            )
            for judged, how in JUDGED.items()
        }


def ends(data: Json) -> tuple[Json, Json]:
    """Return the pairs of best runs that are nearest and farthest."""
    ordered = sorted(data["across"].values(), key=lambda entry: entry["id"])
    return ordered[0], ordered[-1]


def counted(results: Json) -> Json:
    """Return what a verdict is based on: shares of the pairs of a family farther apart than best models."""
    far = [ends(data)[1] for data in results.values()]
    shares = [share for entry in far for share in entry["share_of_pairs_above"].values()]
    return {
        "settings": len(results),
        "cells": len(shares),
        "held": sum(min(entry["share_of_pairs_above"].values()) > 0.5 for entry in far),
        "paper": sum(round(share, 2) >= PAPER_FAR for share in shares),
        "largest": [entry["id"] for entry in far],
        "shares": {name: [entry["share_of_pairs_above"][name] for entry in far] for name in FAMILIES},
    }


def facts(kept: Json) -> Json:
    """Return the counts by grid, judgments and cutoff."""
    blocks = {f"{grid} {judged}": kept[f"{grid} {judged}"] for grid in GRIDS for judged in JUDGED}
    complete, *pooled = (blocks[f"{EVEN} {judged}"] for judged in JUDGED)
    rows = [
        (name, label, counted({key: data for key, data in block.items() if (data["k"] is None) == whole}))
        for name, block in blocks.items()
        for label, whole in (("whole lists", True), ("at 20", False))
    ]
    every = {name: counted(block) for name, block in blocks.items()}
    return {
        "rows": rows,
        "every": every,
        "held": sum(entry["held"] for entry in every.values()),
        "total": sum(entry["settings"] for entry in every.values()),
        "times": [
            [ends(block[key])[1]["id"] / ends(complete[key])[1]["id"] for key in block] for block in pooled
        ],
        "edge": sum(
            data["families"]["LM"]["parameter"] == float(GRIDS[EVEN]["mu"][0]) for data in complete.values()
        ),
    }
