"""Measure size and coverage of `compare` on estimates from drawn judgments.

    python benchmarks/estimated_differences.py DATA [--trials N] [--only SET]

In each trial two submitted runs exchange their lists on a random half of the queries, so that neither is
better. A pool of both is drawn from complete judgments with new random numbers; `compare` tests the
estimates.
Printed are the share of p < 0.05, for estimates and for all judgments, and how often the interval for these
queries contains the difference by all judgments.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np

import leadline as ll
from leadline.estimation.pool_designs import pool_for

SETS = {"trec-dl-2019-passage": 2.0, "trec-robust-2003": 1.0}  # with the smallest relevant grade
RUNS = 8  # submitted runs, spread over the names
BUDGETS = (5, 10, 20)
MEASURES = ("P@10", "nDCG@10")
SLACK = 1e-9


def main() -> None:
    """Run the trials and print a line for each set, measure and budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    for name in given.only or SETS:
        folder = given.data / name
        judged = ll.read_qrels(folder / "qrels.txt").to_dict()
        grades = {
            query: {document: float(grade >= SETS[name]) for document, grade in documents.items()}
            for query, documents in judged.items()
        }
        paths = sorted((folder / "runs").iterdir())
        chosen = [paths[int((number + 0.5) * len(paths) / RUNS)] for number in range(RUNS)]
        runs = [ll.read_run(path).to_dict() for path in chosen]
        pairs = list(itertools.combinations(range(RUNS), 2))
        for measure, budget in itertools.product(MEASURES, BUDGETS):
            found = []
            for trial in range(given.trials):
                rng = np.random.default_rng([trial, budget])
                a, b = (runs[place] for place in pairs[trial % len(pairs)])
                queries = [query for query in grades if query in a and query in b]
                swapped = dict(zip(queries, rng.random(len(queries)) < 0.5, strict=True))
                two = {
                    "a": {query: (b if swapped[query] else a)[query] for query in queries},
                    "b": {query: (a if swapped[query] else b)[query] for query in queries},
                }
                pool = pool_for(two, measure, budget=budget, seed=trial).pool
                drawn: dict[str, dict[str, float]] = {}
                for query, document, taken in zip(
                    pool.queries, pool.documents, pool.drawn.tolist(), strict=True
                ):
                    if taken:
                        drawn.setdefault(query, {})[document] = grades[query].get(document, 0.0)
                whole = {query: grades[query] for query in queries}
                if measure != "P@10":  # values are over the documents of the pool
                    known = set(zip(pool.queries, pool.documents, strict=True))
                    whole = {
                        query: {one: grade for one, grade in documents.items() if (query, one) in known}
                        for query, documents in whole.items()
                    }
                estimated = ll.compare(drawn, two, measure, pool=pool)
                true = ll.compare(whole, two, measure).pairs[0]
                pair = estimated.pairs[0]
                assert estimated.these is not None
                low, high = estimated.these.limits[0, 0].tolist()
                found.append(
                    (
                        pair.p < 0.05,
                        true.p < 0.05,
                        low - SLACK <= true.difference <= high + SLACK,
                        np.isnan(low),
                    )
                )
            size, size_true, held, withheld = np.array(found, dtype=np.float64).T
            share = held[withheld == 0]
            print(
                f"{name:22} {measure:8} {budget:3} per query: size {size.mean():.3f}, all judgments "
                f"{size_true.mean():.3f}, these queries {share.mean():.3f}, withheld {withheld.mean():.2f}, "
                f"{given.trials} trials",
                flush=True,
            )


if __name__ == "__main__":
    main()
