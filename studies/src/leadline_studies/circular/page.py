"""Numbers of the page on the run that an LLM judge favors."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.circular.coverage import every_interval
from leadline_studies.circular.study import NAME, shown
from leadline_studies.common.pages import Json, cached, rounded, run_all

COMMAND = "circular qrels.txt runs/* {} --machine {}/llama70b-criteria.qrels --level 2 --draws 200"
LABELS = "../trec-dl-2019-machine-labels"
KEPT = ("measure", "level", "depth", "budget", "draws", "pooled", "queries", "runs", "lines")
FIGURES = {f"{NAME}/{NAME}": f"{NAME}.svg"}


def collect(out: Path, data: Path) -> Json:
    """Run the study on TREC 2019 DL with the labels of one machine, and simulate the coverage."""
    folder = "trec-dl-2019-passage"
    later = " ".join(f"--new {path}" for path in sorted((data / folder / "extra-runs").iterdir()))
    found = run_all({NAME: (folder, COMMAND.format(later, LABELS))}, out, data)[NAME]
    simulated = cached(lambda: dict(every_interval(data)), out / "coverage.json")
    return {key: rounded(found[key]) for key in KEPT} | {"coverage": rounded(simulated)}


def facts(kept: Json) -> Json:
    """Return the circular run and the best others, and the coverage of audits by column."""
    audits = kept["coverage"]["audits"]
    return {
        "row": next(row for row in kept["runs"] if row["name"] == NAME),
        "shown": shown(kept),
        "audits": {name: [row[name] for row in audits] for name in audits[0]},
    }
