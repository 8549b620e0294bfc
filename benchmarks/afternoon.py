"""Simulate afternoons of judging with the command line: pool, judge, compare, gate.

    python benchmarks/afternoon.py COLLECTION OLD NEW [--total N] [--afternoons N] [--draws N]

COLLECTION is a folder with qrels.txt, OLD and NEW are runs. Each afternoon draws another pool for the
difference in P@10, lets two simulated judges grade it by qrels.txt, and asks `compare` for the verdict and
for a gate (`--fail-if-worse`). Printed is how often the verdict is that of all judgments, or "not
significant", and how often the gate passed. Then `--draws` pools are drawn in one process, judged and
compared by the same functions. Printed is how often the interval for these queries contains the difference by
all judgments, and, with queries drawn anew with replacement, how often `low` to `high` does.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.estimation.pool_designs import pool_for

MEASURE = "P@10"
KEPT = 20  # documents of a list that matter
Nested = dict[str, dict[str, float]]


def run(*words: str) -> tuple[int, str]:
    """Run leadline; return its exit status and what it printed."""
    command = [sys.executable, "-m", "leadline", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"leadline {' '.join(words)}: {done.stderr}")
    return done.returncode, done.stdout


def afternoon(qrels: str, old: str, new: str, total: int, seed: int, folder: str) -> tuple[str, int, float]:
    """Return verdict, status of the gate and difference of one afternoon."""
    pool, store = f"{folder}/pool-{seed}.tsv", f"{folder}/judged-{seed}.db"
    names = Path(old).stem, Path(new).stem
    drawing = ["--for", MEASURE, "--for-pair", *names, "--total", str(total), "--seed", str(seed)]
    run("pool", old, new, *drawing, "-o", pool)
    run("judge", pool, "--simulate", qrels, "--judges", "ann,bob", "--store", store)
    compared = json.loads(run("compare", store, old, new, "-f", "json")[1])
    gate, _ = run("compare", store, old, new, "--baseline", names[0], "--fail-if-worse", MEASURE)
    pair = compared["pairs"][0]
    sign = 1 if pair["a"] == names[1] else -1
    return turned(str(pair["verdict"]), of_new=sign > 0), gate, sign * float(pair["difference"])


def turned(verdict: str, *, of_new: bool) -> str:
    """Return a verdict as that of the new run."""
    return verdict if of_new else {"better": "worse", "worse": "better"}.get(verdict, verdict)


def first(run_of: Nested, queries: list[str]) -> Nested:
    """Return the first documents of a run, in order of score and of descending id as everywhere."""
    return {
        query: dict(sorted(run_of[query].items(), key=lambda one: (one[1], one[0]), reverse=True)[:KEPT])
        for query in queries
        if query in run_of
    }


def draws(
    grades: Nested, runs: dict[str, Nested], total: int, number: int
) -> tuple[list[float], list[float]]:
    """Return how often intervals hold: for these queries, and over queries drawn anew."""
    queries = list(grades)
    whole = ll.compare(grades, runs, MEASURE).pairs[0]
    these: list[float] = []
    others: list[float] = []
    for seed in range(number):
        rng = np.random.default_rng(seed)
        chosen = rng.integers(len(queries), size=len(queries)).tolist()
        for drawn, found in ((range(len(queries)), these), (chosen, others)):
            keys = {f"{place}": queries[one] for place, one in enumerate(drawn)}
            here = {
                name: {key: one[query] for key, query in keys.items() if query in one}
                for name, one in runs.items()
            }
            pool = pool_for(here, MEASURE, total=total, pair=("old", "new"), seed=seed).pool
            judged: Nested = {}
            for query, document, taken in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
                if taken:
                    judged.setdefault(query, {})[document] = grades[keys[query]].get(document, 0.0)
            compared = ll.compare(judged, here, MEASURE, pool=pool)
            assert compared.these is not None
            pair = compared.pairs[0]
            low, high = (pair.low, pair.high) if found is others else compared.these.limits[0, 0].tolist()
            found.append(float(low <= whole.difference <= high))
    return these, others


def main() -> None:
    """Print the figures of one collection."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--total", type=int, default=700)
    parser.add_argument("--afternoons", type=int, default=20)
    parser.add_argument("--draws", type=int, default=200)
    given = parser.parse_args()
    qrels = str(given.collection / "qrels.txt")
    truth = ll.compare(qrels, [given.old, given.new], MEASURE).pairs[0]
    verdict = turned(truth.verdict, of_new=truth.a == Path(given.new).stem)
    print(f"all judgments: new is {verdict}, {truth.difference:+.4f}, p = {truth.p:.2g}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = [
            afternoon(qrels, given.old, given.new, given.total, seed, folder)
            for seed in range(given.afternoons)
        ]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdicts = Counter(one for one, _, _ in found)
    agree = verdicts[verdict] + (verdicts["not significant"] if verdict != "not significant" else 0)
    seconds = (spent.ru_utime + spent.ru_stime) / max(len(found), 1)
    print(
        f"{len(found)} afternoons of {given.total} judgments: {dict(verdicts)}, {agree} agree or are not "
        f"significant; gates passed: {sum(gate == 0 for _, gate, _ in found)}; {seconds:.1f} s of processor "
        "time each",
        flush=True,
    )
    judgments: Any = ll.read_qrels(qrels).to_dict()
    read = [ll.read_run(path).to_dict() for path in (given.old, given.new)]
    queries = [query for query in judgments if all(query in one for one in read)]
    runs = {name: first(one, queries) for name, one in zip(("old", "new"), read, strict=True)}
    grades = {query: judgments[query] for query in queries}
    these, others = draws(grades, runs, given.total, given.draws)
    print(
        f"{given.draws} draws: the interval for these queries held in {np.mean(these):.3f}, that over "
        f"queries in {np.mean(others):.3f} (queries drawn anew)"
    )


if __name__ == "__main__":
    main()
