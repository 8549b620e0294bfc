"""Time id of all pairs of systems against a plain NumPy loop over document pairs, in the same run.

    python benchmarks/difference.py -o docs/difference-figures.json

TREC-8 size by default: 129 systems, 50 queries, 1,700 judged documents each. A system orders the judged
documents by grade plus noise of its own and retrieves a share of them. One thread; processor seconds of
this process, so that other work on the machine counts less. The NumPy loop (matrices of documents by
documents) is timed on ten pairs of the first and the last query, and its total is extrapolated; so is one
that looks only at better by worse documents. All must agree to 1e-12.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from compare import machine
from leadline.comparison.joint_tables import DifferenceRules, difference_of_query
from leadline.data.arrays import Codes, Floats

ODDS = {"binary": (0.945, 0.055), "graded": (0.9, 0.06, 0.03, 0.01)}


def make_query(
    rng: np.random.Generator, documents: int, systems: int, odds: tuple[float, ...], share: float
) -> tuple[Floats, list[Codes]]:
    """Draw the grades of one query and the lists of all systems."""
    grades = rng.choice(len(odds), size=documents, p=odds).astype(np.float64)
    grades[:2] = 0, 1
    lists = []
    for quality in np.linspace(0.5, 2, systems):
        order = np.argsort(-(grades * quality + rng.normal(size=documents)))
        lists.append(order[: round(documents * share)].astype(np.int32))
    return grades, lists


def cut(grades: Floats, ranked: Codes) -> Codes:
    """End a list after its last relevant document."""
    return ranked[: np.flatnonzero(grades[ranked] >= 1)[-1] + 1]


def plain_numpy(grades: Floats, first: Codes, second: Codes, *, blocks: bool) -> float:
    """Return id of two lists by matrices of all documents by all, or (`blocks`) of better by worse ones."""
    parts = [(np.arange(len(grades)),) * 2]
    if blocks:
        levels = np.unique(grades)[1:]
        parts = [(np.flatnonzero(grades == level), np.flatnonzero(grades < level)) for level in levels]
    table = np.zeros((3, 3))
    for rows, columns in parts:
        wanted = grades[rows, None] > grades[columns]
        said = []
        for ranked in (first, second):
            place = np.full(len(grades), len(grades), dtype=np.int16)
            place[ranked] = np.arange(len(ranked))
            up, down = place[rows, None], place[columns]
            said.append((up < down, up == down, up > down))
        for i, one in enumerate(said[0]):
            counted = one & wanted
            for j, two in enumerate(said[1]):
                table[i, j] += np.count_nonzero(counted & two)
    table /= table.sum()

    def bits(x: float, y: float) -> float:
        return float(x + y + sum(p * np.log2(p / (x + y)) for p in (x, y) if p > 0))

    flat = table.ravel()
    both = sum(bits(flat[place], flat[8 - place]) for place in range(4))
    left, right = table.sum(axis=1), table.sum(axis=0)
    return float(2 * both - bits(left[0], left[2]) - bits(right[0], right[2]))


def time_numpy(
    grades: Floats, lists: list[Codes], pairs: list[tuple[int, int]], found: Floats
) -> tuple[float, float]:
    """Return the processor seconds of one pair, plain and by blocks; its id must be the one found."""
    times: tuple[list[float], list[float]] = ([], [])
    for i, j in pairs:
        for blocks in (False, True):
            started = time.process_time()
            far = plain_numpy(grades, lists[i], lists[j], blocks=blocks)
            times[blocks].append(time.process_time() - started)
            assert abs(far - found[i, j] - found[j, i]) < 1e-12
    return statistics.median(times[0]), statistics.median(times[1])


def measure(kind: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Time all pairs of all queries, and the plain loop on some pairs."""
    rng = np.random.default_rng(arguments.seed)
    rules = DifferenceRules()
    pairs: list[Any] = [tuple(rng.choice(arguments.systems, 2, replace=False).tolist()) for _ in range(10)]
    seconds = 0.0
    slow: list[tuple[float, float]] = []
    for query in range(arguments.queries):
        grades, lists = make_query(rng, arguments.documents, arguments.systems, ODDS[kind], arguments.share)
        lists = [cut(grades, one) for one in lists]
        started = time.process_time()
        found = difference_of_query(grades, lists, rules)
        seconds += time.process_time() - started
        assert found is not None
        if query in (0, arguments.queries - 1):
            slow.append(time_numpy(grades, lists, pairs, found.only))
    many = arguments.systems * (arguments.systems - 1) // 2 * arguments.queries
    plain, blocks = (statistics.mean(part) for part in zip(*slow, strict=True))
    return {
        "pairs_of_lists": many,
        "seconds": round(seconds, 2),
        "microseconds_per_pair": round(seconds / many * 1e6, 2),
        "numpy_milliseconds_per_pair": round(plain * 1e3, 2),
        "ratio": round(plain * many / seconds),
        "blocks_milliseconds_per_pair": round(blocks * 1e3, 2),
        "blocks_ratio": round(blocks * many / seconds),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Read the command line and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--systems", type=int, default=129)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--documents", type=int, default=1700)
    parser.add_argument("--share", type=float, default=0.6, help="of judged documents retrieved")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    print(machine())
    print("| judgments | seconds | us a pair | NumPy ms a pair | ratio | by blocks | ratio | peak MiB |")
    print("| --- |" + " ---: |" * 7)
    figures = {}
    for kind in ODDS:
        found = figures[kind] = measure(kind, arguments)
        print(
            f"| {kind} | {found['seconds']} | {found['microseconds_per_pair']} "
            f"| {found['numpy_milliseconds_per_pair']} | {found['ratio']} "
            f"| {found['blocks_milliseconds_per_pair']} | {found['blocks_ratio']} | {found['peak_mib']} |",
            flush=True,
        )
    if arguments.output:
        text = json.dumps({"machine": machine(), "figures": figures}, indent=2)
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
