"""Measure how often intervals hold the values of a second judge, with and without a second phase.

    python benchmarks/second_judge.py DATA [DRAWS]

DATA holds the sets trec-dl-2019-passage with trec-dl-2019-machine-labels (the first judge is an LLM, the
second the assessors; eight official runs, P@10 at grade 2), llmjudge-dl23 (the same with the labels of six
programs, and runs that rank by the labels of other programs), and dl19-rejudged-8judges (people: 188 pairs
of three topics in 18 groups of ten or eleven in place of queries, random runs, P@5). For each first judge,
pools are drawn (20 pairs per query, or 6), the first judge judges them, and the second judge a part of them
again. Prints the table of docs/agreement.md: how often 95 % intervals for these queries hold the value that
the second judge gives, of runs and of differences, by the first judge alone and with the second phase, and
the width.
"""

from __future__ import annotations

import csv
import lzma
import sys
from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.data.judgment_tables import DrawnPool
from leadline.estimation.measured_pool import draw_twice
from leadline.estimation.pool_designs import pool_for

Grades = dict[str, dict[str, float]]
Case = tuple[dict[str, Any], Grades, Grades]


def chosen(pool: DrawnPool, grades: Mapping[str, Mapping[str, float]]) -> Grades:
    """Return the grades of the drawn pairs of a pool."""
    found: Grades = {}
    for row in np.flatnonzero(pool.drawn).tolist():
        query, document = pool.queries[row], pool.documents[row]
        found.setdefault(query, {})[document] = grades[query][document]
    return found


def held(case: Case, measure: str, budget: float, share: float, draws: int) -> np.ndarray[Any, Any]:
    """Return per draw: coverage of runs and pairs and width, by the first judge and with the second phase."""
    runs, first, second = case
    truth = ll.evaluate(second, runs, measure)
    names = truth.names
    rows = []
    for seed in range(draws):
        pool = pool_for(runs, measure, budget=budget, new_runs=0, seed=seed).pool
        again = draw_twice(pool, round(share * int(pool.drawn.sum())))
        judged, more = chosen(pool, first), {"second_judge": chosen(again, second), "second_pool": again}
        row = []
        each: tuple[Any, ...] = ({}, more)
        for options in each:
            found: Any = ll.evaluate(judged, runs, measure, pool=pool, **options)
            one = [found.estimate(name, measure) for name in names]
            values = [truth.mean(name, measure) for name in names]
            row.append(np.mean([a.these_low <= b <= a.these_high for a, b in zip(one, values, strict=True)]))
            gaps = [
                pair.these_low <= truth.mean(pair.a, measure) - truth.mean(pair.b, measure) <= pair.these_high
                for pair in found.differences(measure)
            ]
            row += [np.mean(gaps), np.mean([a.these_high - a.these_low for a in one])]
        rows.append(row)
    return np.array(rows)


def read_run(path: Path, pairs: Grades, depth: int) -> dict[str, list[str]]:
    """Return the judged documents of a run, the first of each query."""
    run = ll.read_run(path).to_dict() if path.suffix != ".xz" else _unpacked(path)
    return {
        query: [name for name in sorted(one, key=lambda name: -one[name]) if name in pairs[query]][:depth]
        for query, one in run.items()
        if query in pairs
    }


def _unpacked(path: Path) -> Grades:
    found: Grades = {}
    with lzma.open(path, "rt") as lines:
        for line in lines:
            query, _, document, _, score, *_ = line.split()
            found.setdefault(query, {})[document] = float(score)
    return found


def machines(data: Path) -> Iterator[Case]:
    """Yield LLMs and the assessors of TREC 2019."""
    second = ll.read_qrels(data / "trec-dl-2019-passage/qrels.txt").to_dict()
    paths = sorted((data / "trec-dl-2019-passage/runs").glob("*.xz"))[::5][:8]
    runs = {path.stem: read_run(path, second, 20) for path in paths}
    for path in sorted((data / "trec-dl-2019-machine-labels").glob("*.qrels")):
        labels = ll.read_qrels(path).to_dict()
        yield runs, {q: {d: labels[q].get(d, 0) for d in one} for q, one in second.items()}, second


def programs(data: Path) -> Iterator[Case]:
    """Yield programs and the assessors of TREC 2023; runs rank by the labels of other programs."""
    second = ll.read_qrels(data / "llmjudge-dl23/human.qrels.txt").to_dict()
    every = sorted((data / "llmjudge-dl23/judges").glob("*.qrels.txt"))
    rng = np.random.default_rng(0)
    runs = {}
    for path in every[1::5]:
        labels = ll.read_qrels(path).to_dict()
        scores = {q: {d: labels[q].get(d, 0) + rng.normal() for d in one} for q, one in second.items()}
        runs[path.stem] = {q: sorted(one, key=lambda name: -one[name])[:20] for q, one in scores.items()}
    for path in every[::6]:
        labels = ll.read_qrels(path).to_dict()
        yield runs, {q: {d: labels[q].get(d, 0) for d in one} for q, one in second.items()}, second


def people(data: Path) -> Iterator[Case]:
    """Yield pairs of people who judged the same pairs."""
    with (data / "dl19-rejudged-8judges/labels.tsv").open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    names = [name for name in rows[0] if name.startswith("judge")]
    pairs = [(row["query_id"], row["doc_id"]) for row in rows]
    judges = [{pair: float(row[name]) for pair, row in zip(pairs, rows, strict=True)} for name in names]
    rng = np.random.default_rng(0)
    groups = np.array_split(rng.permutation(len(pairs)), 18)
    members = {f"g{place}": [pairs[row] for row in part] for place, part in enumerate(groups)}
    lists = {group: ["|".join(pair) for pair in rows] for group, rows in members.items()}
    runs = {
        f"run {number}": {group: list(rng.permutation(one)) for group, one in lists.items()}
        for number in range(6)
    }
    as_groups = [
        {group: {"|".join(pair): judge[pair] for pair in rows} for group, rows in members.items()}
        for judge in judges
    ]
    for first, second in list(permutations(as_groups, 2))[::5]:
        yield runs, first, second


SETS = {
    "TREC 2019, LLM and assessors": (machines, "P(rel=2)@10", 20.0),
    "TREC 2023, programs and assessors": (programs, "P(rel=2)@10", 20.0),
    "TREC 2019 judged again, two people": (people, "P(rel=2)@5", 6.0),
}

if __name__ == "__main__":
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for name, (cases, measure, budget) in SETS.items():
        for share in (0.1, 0.25, 0.5):
            found = np.concatenate(
                [held(case, measure, budget, share, draws) for case in cases(Path(sys.argv[1]))]
            )
            cells = " | ".join(f"{value:.3f}".lstrip("0") for value in found.mean(axis=0))
            print(f"| {name} | {share:.0%} | {cells} |", flush=True)
