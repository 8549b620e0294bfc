"""Measure the coverage of the intervals of `leadline rank`, and its time.

    python benchmarks/ranks.py SCORES [REDRAWS [CORRECTION...]]
    python benchmarks/ranks.py SCORES REDRAWS --runs 10 --sizes 6 10 15 41

SCORES is a table of one measure for many runs. Its queries are the population: its means give the true
ranks, and the same number of queries is drawn from it with replacement REDRAWS times (default 200). Prints
the table of docs/comparing.md: how often the intervals of all runs hold their true ranks together, how often
that of one run, and their mean width; and the width that pairwise t tests need at the level at which 95 % of
the redraws hold. At last, the processor time of 332 runs, 41 queries and 10,000 resamples.

With `--sizes` that many queries (or collections) are drawn, of `--runs` runs that are drawn anew each time
(default: all; with `--neighbours` runs of adjacent true ranks), as for ranks over the collections of a suite.
Prints one row per size.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import leadline as ll
from leadline.comparison.rank import Ranking, rank
from leadline.data.ids import Vocabulary
from leadline.data.table import NamedMeasure, RunInfo
from leadline.evaluation.results import Results
from leadline.stats.ranks import bootstrap_ranks, paired_t, rank_limits

PROCEDURES = ("Holm", "Bonferroni", "MaxT", "Uncorrected")
LEVELS = np.geomspace(1e-8, 0.2, 120)
CONFIDENCE = 0.95


class Seen(NamedTuple):
    """What one procedure gave over the redraws: whether all hold, the share that hold, and the mean width."""

    together: list[bool]
    single: list[float]
    width: list[float]


def true_ranks(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest rank of every run; equal means share all ranks of their group."""
    above = (means[None, :] > means[:, None] + 1e-12).sum(axis=1)
    below = (means[None, :] < means[:, None] - 1e-12).sum(axis=1)
    return 1 + above, len(means) - below


def results_of(values: np.ndarray) -> Results:
    """Return values, queries x runs, as results."""
    queries, runs = values.shape
    table = np.ascontiguousarray(values.T)[:, :, None]
    names = Vocabulary([f"{number:05d}" for number in range(queries)])
    infos = [RunInfo(f"run{number}") for number in range(runs)]
    return Results(infos, names, [NamedMeasure("score")], table, np.ones(table.shape, dtype=np.bool_))


def add(seen: Seen, low: np.ndarray, high: np.ndarray, truth: tuple[np.ndarray, np.ndarray]) -> None:
    """Add the intervals of one redraw."""
    holds = (low <= truth[0]) & (truth[1] <= high)
    seen.together.append(bool(holds.all()))
    seen.single.append(float(holds.mean()))
    seen.width.append(float((high - low).mean()))


def better_at(p: np.ndarray, means: np.ndarray, level: float) -> np.ndarray:
    """Return which runs are significantly better than which at a level of the single tests."""
    first, second = np.triu_indices(len(means), k=1)
    found = np.flatnonzero(p < level)
    ahead = means[first[found]] > means[second[found]]
    better = np.zeros((len(means), len(means)), dtype=np.bool_)
    better[np.where(ahead, first[found], second[found]), np.where(ahead, second[found], first[found])] = True
    return better


def by_run(ranking: Ranking) -> dict[str, np.ndarray]:
    """Return the columns of a ranking by one measure, in the order of its runs."""
    rows = np.argsort(ranking.results.order(0))
    return {name: values[rows] for name, values in ranking.fields.items()}


def coverage(values: np.ndarray, redraws: int, procedures: Sequence[str]) -> None:
    """Print coverage and width of every procedure."""
    queries, runs = values.shape
    truth = true_ranks(values.mean(axis=0))
    seen = {name: Seen([], [], []) for name in (*procedures, "bootstrap")}
    by_level = [Seen([], [], []) for _ in LEVELS]
    rng = np.random.default_rng(1)
    for number in range(redraws):
        drawn = values[rng.integers(0, queries, queries)]
        results = results_of(drawn)
        for name in procedures:
            draws = 2000 if name == procedures[0] else 0
            found = by_run(rank(results, correction=name, draws=draws, seed=number))
            add(seen[name], found["rank_low"], found["rank_high"], truth)
            if draws:
                add(seen["bootstrap"], found["bootstrap_low"], found["bootstrap_high"], truth)
        p, means = paired_t(drawn), drawn.mean(axis=0)
        for level, entry in zip(LEVELS, by_level, strict=True):
            add(entry, *rank_limits(better_at(p, means, level)), truth)
    print(f"{runs} runs, {queries} queries, {redraws} redraws\n")
    print("| intervals | hold for all runs | hold for one run | mean width in ranks |")
    print("| --- | ---: | ---: | ---: |")
    rows = dict(seen)
    enough = [index for index, entry in enumerate(by_level) if np.mean(entry.together) >= CONFIDENCE]
    if enough:
        rows[f"t tests at {LEVELS[enough[-1]]:.2g}"] = by_level[enough[-1]]
    for name, entry in rows.items():
        print(
            f"| {name} | {100 * np.mean(entry.together):.1f} % | {100 * np.mean(entry.single):.1f} % | "
            f"{np.mean(entry.width):.1f} |"
        )
    if enough:
        needed = np.mean(by_level[enough[-1]].width)
        ratios = ", ".join(f"{name} {np.mean(seen[name].width) / needed:.2f}" for name in procedures)
        print(f"\nwidth as a multiple of what is needed: {ratios}")


def timing() -> None:
    """Print the processor time of 332 runs and 41 queries."""
    rng = np.random.default_rng(0)
    level, task = rng.normal(0.5, 0.1, 332), rng.normal(0, 0.1, (41, 1))
    values = np.clip(level + task + rng.normal(0, 0.05, (41, 332)), 0, 1)
    results = results_of(values)
    rank(results, draws=100)
    spent = []
    for _ in range(5):
        begin = time.process_time()
        rank(results, draws=10_000)
        spent.append(time.process_time() - begin)
    print(f"\n332 runs x 41 queries x 10,000 resamples: {min(spent):.2f} s of processor time, the least of 5")


def few_values(
    values: np.ndarray, redraws: int, sizes: Sequence[int], runs: int | None, *, neighbours: bool
) -> None:
    """Print coverage and width for small numbers of queries."""
    queries, columns = values.shape
    runs = runs or columns
    by_rank = np.argsort(-values.mean(axis=0), kind="stable")
    kind = "adjacent" if neighbours else "random"
    print(f"{runs} {kind} runs of {columns}, drawn from {queries} queries, {redraws} redraws\n")
    print("| queries | Holm: all | Holm: one | width | bootstrap: one | width | best run in group 1 |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in sizes:
        rng = np.random.default_rng(size)
        tested, bootstrapped, top = Seen([], [], []), Seen([], [], []), []
        for number in range(redraws):
            first = rng.integers(0, columns - runs + 1)
            chosen = by_rank[first : first + runs] if neighbours else rng.permutation(columns)[:runs]
            some = values[:, chosen]
            truth = true_ranks(some.mean(axis=0))
            drawn = some[rng.integers(0, queries, size)]
            found = by_run(rank(results_of(drawn), draws=0))
            limits = bootstrap_ranks(drawn, draws=2000, seed=number).limits(CONFIDENCE)
            add(tested, found["rank_low"], found["rank_high"], truth)
            add(bootstrapped, limits[:, 0], limits[:, 1], truth)
            top.append(bool((found["group"][truth[0] == 1] == 1).any()))
        print(
            f"| {size} | {100 * np.mean(tested.together):.1f} % | {100 * np.mean(tested.single):.1f} % | "
            f"{np.mean(tested.width):.1f} | {100 * np.mean(bootstrapped.single):.1f} % | "
            f"{np.mean(bootstrapped.width):.1f} | {100 * np.mean(top):.1f} % |"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scores", nargs="?")
    parser.add_argument("redraws", nargs="?", type=int, default=200)
    parser.add_argument("correction", nargs="*", default=PROCEDURES)
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--neighbours", action="store_true")
    given = parser.parse_args()
    if given.scores:
        values = np.ascontiguousarray(ll.read_scores(given.scores).averaged_values(0).T)
        if given.sizes:
            few_values(values, given.redraws, given.sizes, given.runs, neighbours=given.neighbours)
            return
        coverage(values, given.redraws, given.correction)
    timing()


if __name__ == "__main__":
    main()
