"""Measure how often the simultaneous intervals of `leadline compare` hold the true differences together.

    python benchmarks/simultaneous.py MATRICES -o docs/simultaneous.json

MATRICES is a folder of score matrices, as for `leadline study significance`: runs are simulated with the
margins and rank correlations of real ones, so that the truth is known.
"""

from __future__ import annotations

import argparse
import json

from leadline.studies.significance.matrices import read_matrices
from leadline.studies.significance.simultaneous import simultaneous


def main() -> None:
    """Simulate all cells and write them."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("matrices", metavar="MATRICES")
    options.add_argument("-o", "--output", required=True, metavar="FILE")
    options.add_argument("--sets", type=int, default=20, help="families per matrix and world")
    options.add_argument("--runs", type=int, nargs="+", default=[3, 5])
    asked = options.parse_args()
    matrices = read_matrices(asked.matrices)
    rows = [
        row
        for runs in asked.runs
        for queries in (25, 50)
        for row in simultaneous(matrices, runs=runs, queries=queries, sets=asked.sets)
    ]
    with open(asked.output, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
