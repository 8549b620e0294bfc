"""Measure processor time and peak memory of commands against rows, runs and pairs of runs, and draw them.

    python benchmarks/growth.py -o GROWTH

Writes `GROWTH.csv` and `GROWTH.svg`. Each size is one process (the least of `--rounds`); rows are
those of one run of 1,000 documents per query, runs have 50 queries of 200 documents. The inputs are made in a
temporary folder, one size after the other: about 60 bytes per row of disk.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from compare import machine
from generate import document_id

ROWS = {
    "evaluate": ["evaluate", "qrels.txt", "0000.run"],
    "check": ["check", "0000.run"],
    "convert": ["convert", "0000.run", "out.jsonl", "--overwrite"],
}
RUNS = {
    "evaluate": ["evaluate", "qrels.txt", "*.run"],
    "check": ["check", "*.run"],
    "pool": ["pool", "*.run", "--depth", "20", "-o", "pool.tsv"],
    "unjudged": ["unjudged", "*.run"],
}
PAIRS = {
    "compare": ["compare", "qrels.txt", "*.run", "AP"],
    "compare -f json": ["compare", "qrels.txt", "*.run", "AP", "-f", "json"],
    "difference": ["difference", "qrels.txt", "*.run"],
}


def write_runs(folder: Path, runs: int, queries: int, depth: int) -> None:
    """Write judgments of 100 documents per query and runs that rank twice as many as they return."""
    rng = np.random.default_rng(0)
    with (folder / "qrels.txt").open("w") as qrels:
        for query in range(queries):
            documents = [document_id(query * 10_000 + number) for number in range(100)]
            qrels.writelines(
                f"{query} 0 {name} {number % 7 == 0:d}\n" for number, name in enumerate(documents)
            )
    for run in range(runs):
        with (folder / f"{run:04d}.run").open("w") as file:
            for query in range(queries):
                order = rng.permutation(2 * depth)[:depth].tolist()
                file.writelines(
                    f"{query} Q0 {document_id(query * 10_000 + number)} {rank} {depth - rank}.5 r{run}\n"
                    for rank, number in enumerate(order, start=1)
                )


def measured(folder: Path, words: list[str]) -> tuple[float, float]:
    """Return processor seconds and peak MiB of one command."""
    files: list[str] = []
    for word in words:
        files += sorted(each.name for each in folder.glob(word)) if "*" in word else [word]
    with subprocess.Popen(
        [sys.executable, "-m", "leadline", *files], cwd=folder, stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(" ".join(words))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def grown(
    sizes: list[int], commands: dict[str, list[str]], rounds: int, *, rows: bool
) -> dict[str, list[list[float]]]:
    """Return size, processor seconds and peak MiB of each command at each size."""
    found: dict[str, list[list[float]]] = {name: [] for name in commands}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_runs(folder, *((1, size // 1000, 1000) if rows else (size, 50, 200)))
            for command, words in commands.items():
                every = [measured(folder, words) for _ in range(rounds)]
                least = [min(pair) for pair in zip(*every, strict=True)]
                found[command].append([size, *least])
                sys.stderr.write(f"{command} {size:,}: {least[0]:.2f} s, {least[1]:.0f} MiB\n")
    return found


def plot(panels: dict[str, dict[str, list[list[float]]]], path: str) -> None:
    """Draw time (above) and memory (below) of every panel."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "growth", "svg.fonttype": "none"}
    from matplotlib import pyplot as plt
    from matplotlib.ticker import NullFormatter

    figure, axes = plt.subplots(
        2, len(panels), figsize=(10, 5.5), sharex="col", sharey="row", layout="constrained"
    )
    for column, (panel, commands) in enumerate(panels.items()):
        for name, points in commands.items():
            size = [point[0] for point in points]
            for row in range(2):
                axes[row, column].loglog(size, [point[row + 1] for point in points], marker="o", label=name)
        axes[1, column].set_xlabel(panel)
        axes[0, column].legend(frameon=False)
    axes[0, 0].set_ylabel("processor seconds")
    axes[1, 0].set_ylabel("peak MiB")
    axes[1, 0].yaxis.set_minor_formatter(NullFormatter())
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Read the command line, measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--runs", type=int, nargs="+", default=[2, 10, 100, 1000])
    parser.add_argument("--pairs-of", type=int, nargs="+", default=[2, 10, 30, 100, 300])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", required=True, help="name of both files, without suffix")
    given = parser.parse_args()
    pairs = grown(given.pairs_of, PAIRS, given.rounds, rows=False)
    panels = {
        "rows": grown(given.rows, ROWS, given.rounds, rows=True),
        "runs": grown(given.runs, RUNS, given.rounds, rows=False),
        "pairs of runs": {
            name: [[point[0] * (point[0] - 1) / 2, *point[1:]] for point in points]
            for name, points in pairs.items()
        },
    }
    with Path(given.output + ".csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["against", "command", "size", "processor_seconds", "peak_mib", "machine"])
        for panel, commands in panels.items():
            for name, points in commands.items():
                rows.writerows(
                    [panel, name, int(size), f"{seconds:.3f}", f"{peak:.0f}", machine()]
                    for size, seconds, peak in points
                )
    plot(panels, given.output + ".svg")


if __name__ == "__main__":
    main()
