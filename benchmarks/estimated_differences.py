"""Measure size and coverage of `compare` and `evaluate` on estimates from drawn judgments.

    python benchmarks/estimated_differences.py DATA [--trials N] [--only SET] [--over-queries N]

In each trial two submitted runs exchange their lists on a random half of the queries, so that neither is
better. A pool of both is drawn from complete judgments with new random numbers; `compare` tests the
estimates.
Printed are the share of p < 0.05, for estimates and for all judgments, and how often the interval for these
queries contains the difference by all judgments.

With `--over-queries N` each trial draws N queries with replacement and a pool of eight submitted runs.
Printed is how often `low` to `high` contains the mean, or the difference, over all queries by all judgments.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.estimation.estimate import EstimatedResults
from leadline.estimation.pool_designs import pool_for

SETS = {"trec-dl-2019-passage": 2.0, "trec-robust-2003": 1.0, "trec-covid-r1": 1.0}  # smallest relevant grade
RUNS = 8  # submitted runs, spread over the names
KEPT = 30  # documents of a list, where queries are drawn
BUDGETS = (5, 10, 20)
MEASURES = ("P@10", "nDCG@10")
MEASURES_OVER_QUERIES = ("P@10", "RR")  # nDCG is relative to the pool, which differs between draws of queries
SLACK = 1e-9

Nested = dict[str, dict[str, float]]


def read_set(data: Path, name: str) -> tuple[Nested, dict[str, Nested]]:
    """Read the judgments of a set as 0 and 1, and some of its runs."""
    judged = ll.read_qrels(data / name / "qrels.txt").to_dict()
    grades = {
        query: {document: float(grade >= SETS[name]) for document, grade in documents.items()}
        for query, documents in judged.items()
    }
    paths = sorted((data / name / "runs").iterdir())
    chosen = [paths[int((number + 0.5) * len(paths) / RUNS)] for number in range(RUNS)]
    return grades, {path.stem: ll.read_run(path).to_dict() for path in chosen}


def judge(pool: Any, grades: Nested) -> Nested:
    """Judge the drawn pairs of a pool."""
    drawn: Nested = {}
    for query, document, taken in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if taken:
            drawn.setdefault(query, {})[document] = grades[query].get(document, 0.0)
    return drawn


def exchanged(
    grades: Nested, runs: dict[str, Nested], measure: str, budget: int, trials: int
) -> Iterator[tuple[bool, bool, bool, bool]]:
    """Compare two runs of which neither is better: significant, also by all judgments, covered, withheld."""
    pairs = list(itertools.combinations(runs.values(), 2))
    for trial in range(trials):
        rng = np.random.default_rng([trial, budget])
        a, b = pairs[trial % len(pairs)]
        queries = [query for query in grades if query in a and query in b]
        swapped = dict(zip(queries, rng.random(len(queries)) < 0.5, strict=True))
        two = {
            "a": {query: (b if swapped[query] else a)[query] for query in queries},
            "b": {query: (a if swapped[query] else b)[query] for query in queries},
        }
        pool = pool_for(two, measure, budget=budget, seed=trial).pool
        whole = {query: grades[query] for query in queries}
        if measure != "P@10":  # values are over the documents of the pool
            known = set(zip(pool.queries, pool.documents, strict=True))
            whole = {
                query: {one: grade for one, grade in documents.items() if (query, one) in known}
                for query, documents in whole.items()
            }
        estimated = ll.compare(judge(pool, grades), two, measure, pool=pool)
        true = ll.compare(whole, two, measure).pairs[0]
        assert estimated.these is not None
        low, high = estimated.these.limits[0, 0].tolist()
        held = low - SLACK <= true.difference <= high + SLACK
        yield estimated.pairs[0].p < 0.05, true.p < 0.05, held, bool(np.isnan(low))


def over_queries(
    grades: Nested, runs: dict[str, Nested], measure: str, budget: int, trials: int, size: int
) -> tuple[list[float], list[float], list[float]]:
    """Return whether intervals over queries hold: of runs, differences, and runs by all judgments."""
    queries = [query for query in grades if all(query in run for run in runs.values())]
    cut = {
        name: {query: dict(sorted(run[query].items(), key=lambda one: -one[1])[:KEPT]) for query in queries}
        for name, run in runs.items()
    }
    results = ll.evaluate({query: grades[query] for query in queries}, cut, measure)
    truth = {name: results.mean(name, measure) for name in cut}
    of_runs, of_pairs, complete = [], [], []
    for trial in range(trials):
        rng = np.random.default_rng([trial, budget, size])
        drawn = {f"{place}": queries[one] for place, one in enumerate(rng.integers(len(queries), size=size))}
        here = {name: {key: run[query] for key, query in drawn.items()} for name, run in cut.items()}
        known = {key: grades[query] for key, query in drawn.items()}
        pool = pool_for(here, measure, budget=budget, seed=trial).pool
        judged = judge(pool, known)
        estimates = ll.evaluate(judged, here, measure, pool=pool)
        assert isinstance(estimates, EstimatedResults)
        whole = ll.evaluate(known, here, measure, intervals="Student")
        assert whole.intervals is not None
        for name, (low, high) in zip(here, whole.intervals.limits[:, 0].tolist(), strict=True):
            complete.append(float(low <= truth[name] <= high))
            one = estimates.estimate(name, measure)
            of_runs.append(float(one.low <= truth[name] <= one.high) if np.isfinite(one.low) else np.nan)
        try:
            pairs = ll.compare(judged, here, measure, pool=pool, correction="none").pairs
        except ll.UsageError:  # every interval is withheld
            of_pairs += [np.nan] * (RUNS * (RUNS - 1) // 2)
            continue
        for pair in pairs:
            held = pair.low <= truth[pair.a] - truth[pair.b] <= pair.high
            of_pairs.append(float(held) if np.isfinite(pair.low) else np.nan)
    return of_runs, of_pairs, complete


def main() -> None:
    """Run the trials and print a line for each set, measure and budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", action="append")
    parser.add_argument("--over-queries", type=int)
    given = parser.parse_args()
    measures = MEASURES if given.over_queries is None else MEASURES_OVER_QUERIES
    for name in given.only or SETS:
        grades, runs = read_set(given.data, name)
        for measure, budget in itertools.product(measures, BUDGETS):
            start = f"{name:22} {measure:8} {budget:3} per query: "
            if given.over_queries is not None:
                found = over_queries(grades, runs, measure, budget, given.trials, given.over_queries)
                words = [
                    f"{kind} {np.nanmean(held):.3f}, withheld {np.isnan(held).mean():.2f}"
                    for kind, held in zip(
                        ("runs", "differences", "runs by all judgments"), found, strict=True
                    )
                ]
                print(f"{start}{given.over_queries} queries, {'; '.join(words)}", flush=True)
                continue
            rows = list(exchanged(grades, runs, measure, budget, given.trials))
            size, size_true, held, withheld = np.array(rows, dtype=np.float64).T
            print(
                f"{start}size {size.mean():.3f}, all judgments {size_true.mean():.3f}, these queries "
                f"{held[withheld == 0].mean():.3f}, withheld {withheld.mean():.2f}, {given.trials} trials",
                flush=True,
            )


if __name__ == "__main__":
    main()
