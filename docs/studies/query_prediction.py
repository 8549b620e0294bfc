"""Run the study of query prediction on public collections and write its page and figures.

`python docs/studies/query_prediction.py DATA` writes query-prediction.json, the figures and the page beside
this file. DATA holds folders with docs.jsonl (or .gz), queries.jsonl and qrels.txt; more words name the
collections to run, the others are kept as they are. With `--page` alone page and figures are made again
from query-prediction.json.
"""  # noqa: INP001

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import leadline as ll
from leadline.studies import study

HERE = Path(__file__).parent
KEPT = HERE / "query-prediction.json"
SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
SWEEPS = 300
Found = dict[str, Any]


def run(data: Path, name: str) -> None:
    """Conduct the study on a collection and keep what it found."""
    folder = data / name
    docs = str(next(folder.glob("docs.jsonl*")))
    outcome = study("query-prediction").run(
        docs, str(folder / "queries.jsonl"), str(folder / "qrels.txt"), sweeps=SWEEPS
    )
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"found": {}}
    found = kept["found"] | {name: outcome.data | {"lines": list(outcome.lines)}}
    kept = {"leadline": ll.__version__, "sweeps": SWEEPS, "found": found}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    sys.stderr.write(f"{name}: {outcome.lines[-1]}\n")


def main(arguments: list[str]) -> None:
    """Run what was asked for and write the page."""
    if "--page" not in arguments:
        for name in arguments[1:] or SETS:
            run(Path(arguments[0]), name)


if __name__ == "__main__":
    main(sys.argv[1:])
