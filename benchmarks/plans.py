"""Measure how well a plan from a pilot forecasts half-widths over other queries.

    python benchmarks/plans.py DATA [TRIALS]

DATA holds the sets trec-robust-2003, trec-dl-2019-passage and trec-covid-r1. In each trial the queries are
parted: a pool is drawn for ten runs and the pilot queries, 8 judgments per query, and judged by the qrels.
The other queries get a pool of each budget of the plan. Prints, by budget, the mean of forecast and realised
standard deviations over queries (half-widths have the same ratio), of runs and of differences.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.data.arrays import Floats
from leadline.data.judgment_tables import DrawnPool
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.estimated_columns import variance_of
from leadline.estimation.pool_designs import pool_for
from leadline.judging.half_widths import PoolPrecision

CASES = (  # set, measure, level, pilot queries
    ("trec-robust-2003", "P@10", None, 30),
    ("trec-robust-2003", "RBP", None, 30),
    ("trec-dl-2019-passage", "P@10", 2.0, 20),
    ("trec-covid-r1", "P@10", None, 15),
)
RUNS, DEPTH, PILOT = 10, 40, 8.0
Grades = dict[str, dict[str, float]]


def studied(
    runs: dict[str, Any],
    qrels: Grades,
    queries: list[str],
    measure: str,
    level: float | None,
    budget: float,
    seed: int,
) -> tuple[EstimatedResults, DrawnPool]:
    """Return estimates of some queries from a pool of a budget."""
    chosen = {name: {query: run[query] for query in queries} for name, run in runs.items()}
    pool = pool_for(chosen, measure, budget=budget, rel=1.0 if level is None else level, seed=seed).pool
    judged: Grades = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(query, {})[document] = qrels[query].get(document, 0)
    return estimate(judged, chosen, measure, pool=pool, rel=level), pool


def spreads(results: EstimatedResults) -> tuple[list[Floats], list[float]]:
    """Return the values of runs, then of differences, and their variance due to the draw."""
    values = results.averaged_values(0)
    pairs = [(a, b) for a in range(len(values)) for b in range(a)]
    drawn = [variance_of(results, 0, run) for run in range(len(values))]
    drawn += [variance_of(results, 0, a, b) for a, b in pairs]
    return [*values, *(values[a] - values[b] for a, b in pairs)], [values.shape[1] * one for one in drawn]


def main(data: Path, trials: int) -> None:
    """Print a line for each budget of each case."""
    for name, measure, level, pilot in CASES:
        rng = random.Random(5)
        paths = rng.sample(sorted((data / name / "runs").glob("*.xz")), RUNS)
        qrels: Grades = ll.read_qrels(data / name / "qrels.txt").to_dict()
        runs: dict[str, Any] = {}
        for path in paths:
            lists = ll.read_run(path, on_duplicate="first").to_dict()
            runs[path.stem] = {
                query: dict(sorted(found.items(), key=lambda one: -one[1])[:DEPTH])
                for query, found in lists.items()
                if query in qrels
            }
        queries = sorted(query for query in qrels if all(query in run for run in runs.values()))
        found: dict[int, list[list[float]]] = {}
        for trial in range(trials):
            rng.shuffle(queries)
            results, pool = studied(runs, qrels, queries[:pilot], measure, level, PILOT, trial)
            values, drawn = spreads(results)
            text = str(results.measures[0])
            for place, (budget, share) in enumerate(PoolPrecision(pool).budgets(text)):
                later, _ = studied(runs, qrels, queries[pilot:], measure, level, budget, 1000 + trial)
                real = [float(one.std(ddof=1)) for one in spreads(later)[0]]
                pairs = zip(values, drawn, strict=True)
                said = [max(float(one.var(ddof=1)) - part, 0.0) + part * share for one, part in pairs]
                halves = [part for one in (np.sqrt(said), real) for part in (one[:RUNS], one[RUNS:])]
                found.setdefault(place, []).append([budget, *(float(np.mean(half)) for half in halves)])
        for rows in found.values():
            budget, run, difference, real_run, real_difference = np.mean(rows, axis=0)
            print(
                f"{name} {measure}: {budget:.1f} per query; realised / forecast: runs {real_run / run:.3f}, "
                f"differences {real_difference / difference:.3f}"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30)
