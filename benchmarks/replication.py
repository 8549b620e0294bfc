"""Measure the coverage of the intervals of `leadline replicate`.

    MEASURE=AP python benchmarks/replication.py QRELS SYSTEMS RUN...

SYSTEMS is a table of runs with their teams (columns 1 and 2). Four runs make two experiments: where teams
have several runs, two of one team stand for a run and its reproduction, otherwise any two. The queries are
the population, so that the true values are known; 25, 50 and 100 queries are drawn from it with replacement,
20 times for each of 40 experiments. For replications the queries of both experiments are drawn apart. Prints
the numbers of docs/replication.md: how often 95 % intervals held the true value, and how often they were
withheld.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict

import numpy as np

import leadline as ll
from leadline.comparison.replication import ReplicationRules, replication_values
from leadline.comparison.replication_result import STATISTICS, ReplicationValue
from leadline.data.ids import Vocabulary
from leadline.data.table import NamedMeasure, RunInfo
from leadline.evaluation.results import Results

MEASURE = "nDCG@10" if os.environ.get("MEASURE") is None else os.environ["MEASURE"]
EXPERIMENTS, REDRAWS, DRAWS = 40, 20, 1999
SIZES = (25, 50, 100)
SLACK = 1e-12
Counts = dict[tuple[str, int], list[int]]


def results_of(values: np.ndarray) -> Results:
    """Return values of baseline and advanced run, 2 x queries, as results."""
    table = np.ascontiguousarray(values)[:, :, None]
    names = Vocabulary([f"{number:05d}" for number in range(values.shape[1])])
    measure = NamedMeasure(MEASURE, low=0.0, high=1.0)
    infos = [RunInfo("baseline"), RunInfo("advanced")]
    return Results(infos, names, [measure], table, np.ones(table.shape, dtype=np.bool_))


def experiments(qrels: str, systems: str, paths: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return per experiment the values of its four runs, and tau union and RBO of both pairs of runs."""
    by_name = {os.path.basename(path).split(".")[0]: path for path in paths}
    teams: dict[str, list[str]] = defaultdict(list)
    with open(systems, encoding="utf-8") as lines:
        for line in list(lines)[1:]:
            name, team = line.split("\t")[:2]
            if name in by_name:
                teams[team].append(by_name[name])
    groups = [group for group in teams.values() if len(group) > 1]
    alike = len(groups) > 1
    random = np.random.default_rng(0)
    table = ll.read_qrels(qrels)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    while len(found) < EXPERIMENTS:
        if alike:
            first, second = (groups[index] for index in random.permutation(len(groups))[:2])
            pairs = [
                [group[index] for index in random.permutation(len(group))[:2]] for group in (first, second)
            ]
            base, reproduced_base, advanced, reproduced = *pairs[0], *pairs[1]
        else:
            base, reproduced_base, advanced, reproduced = (
                paths[i] for i in random.permutation(len(paths))[:4]
            )
        made = ll.replicate(
            (base, advanced), (reproduced_base, reproduced), qrels=table, measures=MEASURE, draws=0
        )
        values = np.concatenate([made.original.averaged_values(0), made.reproduced.averaged_values(0)])
        if values.mean(axis=1).min() > 0.05:
            found.append((values, np.concatenate(list(made.orders.values()))))
    print(f"{'runs of a team' if alike else 'any runs'}; {values.shape[1]} queries")
    return found


def main() -> None:
    """Draw samples and print coverage."""
    held: Counts = defaultdict(lambda: [0, 0, 0])  # contained, given, all
    for number, (values, orders) in enumerate(experiments(sys.argv[1], sys.argv[2], sys.argv[3:])):
        random = np.random.default_rng([1, number])
        for size in SIZES:
            for _ in range(REDRAWS):
                drawn, apart = random.integers(0, values.shape[1], (2, size))
                redraw(held, values, orders, (drawn, drawn), size)
                redraw(held, values, orders, (drawn, apart), size)
    for name, (contained, given, total) in held.items():
        print(
            f"{name[0]:40} {name[1]:4} {100 * contained / max(given, 1):6.1f} % of {given:5}, "
            f"withheld {100 * (1 - given / total):5.1f} %"
        )


def redraw(
    held: Counts, values: np.ndarray, orders: np.ndarray, drawn: tuple[np.ndarray, np.ndarray], size: int
) -> None:
    """Count which intervals of a sample contain the values of the population."""
    rules = ReplicationRules(DRAWS, 0.95, 0)
    paired = drawn[0] is drawn[1]
    whole = np.arange(values.shape[1])
    truth = values_by_key(values, orders, (whole, whole), rules._replace(draws=0), paired=paired)
    sample = values_by_key(values, orders, drawn, rules, paired=paired)
    for key, value in sample.items():
        if not paired and key[0] not in ("difference", "effect_ratio", "delta_ri"):
            continue
        name = f"{STATISTICS[key[0]]}{'' if paired else ', replication'}"
        count = held[name, size]
        count[1] += not value.withheld
        count[2] += 1
        count[0] += value.low - SLACK <= truth[key].value <= value.high + SLACK


def values_by_key(
    values: np.ndarray,
    orders: np.ndarray,
    drawn: tuple[np.ndarray, np.ndarray],
    rules: ReplicationRules,
    *,
    paired: bool,
) -> dict[tuple[str, str | None], ReplicationValue]:
    """Return the values of an experiment on some queries by statistic and run."""
    first, second = drawn
    found = replication_values(
        results_of(values[:2, first]),
        results_of(values[2:, second]),
        {"tau_union": orders[:2, first], "rbo": orders[2:, first]} if paired else {},
        rules,
    )
    return {(value.statistic, value.run): value for value in found}


if __name__ == "__main__":
    main()
