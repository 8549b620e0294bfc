"""Measure the power of the tests of labels, and the coverage of intervals of new runs by their doubt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leadline.estimation.designs import draw
from leadline.estimation.guesses import LEVEL, MOST_DEVIATIONS, label_tests
from leadline.estimation.pool_designs import pool_for, rank_weights
from leadline.evaluation.profiles import profile_of
from leadline.io.objects import read_qrels
from leadline_studies.common.coverage import covers
from leadline_studies.common.pages import Json, find_runs, rounded
from leadline_studies.estimate.study import Setting, World, make_board, make_setting
from leadline_studies.estimate.trials import Trial

PASSAGES = "trec-dl-2019-passage"
LABELS = "trec-dl-2019-machine-labels"
SHARES = (0.0, 0.1, 0.25, 0.5, 0.9, 1.0)  # of the judged pairs whose grade replaces the label
LABEL_DRAWS = 10
MEASURES = ("P@10", "RBP(p=0.8)@10", "RR@10")
SPLITS, QUARTERS = 5, (1, 2, 3, 1, 2)  # quarters of the runs that are pooled, by split
MOST_RUNS = 40
EDGES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # of the weight outside the frame


def found_labels(data: Path) -> list[Json]:
    """Return how often each test finds labels into which a share of the judgments was copied."""
    official = read_qrels(str(data / PASSAGES / "qrels.txt")).to_dict()
    runs = find_runs(data / PASSAGES)
    machines = [read_qrels(str(path)).to_dict() for path in sorted((data / LABELS).glob("*.qrels"))]
    rng, rows = np.random.default_rng(1), []
    for chosen in (runs[::6][:6], runs):
        for budget in (8, 12, 20):
            pool = pool_for([str(path) for path in chosen], "P@10", budget=budget).pool
            pairs = list(zip(pool.queries, pool.documents, strict=True))
            best = np.array([min(ranks.values()) for ranks in pool.contributors])
            grades = np.array(
                [official[query].get(document, 0) for query, document in pairs], dtype=np.float64
            )
            for share in SHARES:
                failed = []
                for machine in machines:
                    labels = np.array([machine[query].get(document, np.nan) for query, document in pairs])
                    for number in range(LABEL_DRAWS):
                        drawn = rng.random(len(pairs)) < pool.probability
                        copied = drawn & (rng.random(len(pairs)) < share)
                        mixed = np.where(copied, grades, labels)
                        cell = np.where(np.isnan(mixed), 0, np.nan_to_num(mixed) + 1).astype(np.int64)
                        one = label_tests(mixed, cell, pool.probability, drawn, best, number)
                        failed.append((one.p <= LEVEL, abs(one.z) >= MOST_DEVIATIONS, one.failed))
                cells, mean, either = np.mean(failed, axis=0).tolist()
                row = {"runs": len(chosen), "budget": budget, "share": share, "files": len(failed)}
                rows.append(row | {"cells": cells, "mean": mean, "either": either})
    return rows


class _Estimated(NamedTuple):
    """One estimate of a new run: its weight outside the frame, and whether its interval holds the truth."""

    collection: str
    measure: str
    proxy: str
    guessed: float
    held: bool
    half: float
    share: float
    error: float


def _collections(data: Path) -> Iterator[tuple[str, list[str], list[str], list[str], float, int, int]]:
    """Yield name, pooled and new runs, labels, level, draws and seed of each simulation."""
    passages = list(map(str, find_runs(data / PASSAGES)))
    later = sorted(map(str, (data / PASSAGES / "extra-runs").iterdir()))
    labels = [str(data / LABELS / "llama70b-criteria.qrels")]
    yield PASSAGES, passages, later, labels, 2.0, 50, 0
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(passages))[:6]
        yield f"{PASSAGES}, six", [passages[place] for place in order], later, labels, 2.0, 20, split
    for name in ("trec-robust-2003", "trec-covid-r1"):
        rng = np.random.default_rng(5)
        every = list(map(str, find_runs(data / name)))
        if len(every) > MOST_RUNS:
            every = [every[place] for place in sorted(rng.choice(len(every), MOST_RUNS, replace=False))]
        for split in range(SPLITS):
            order = rng.permutation(len(every)).tolist()
            size = len(every) * QUARTERS[split] // 4
            pooled, new = ([every[place] for place in some] for some in (order[:size], order[size:]))
            yield name, pooled, new, [], 1.0, 20, split


def _estimates(data: Path) -> Iterator[_Estimated]:
    """Yield estimates of runs that did not contribute to the pool."""
    for name, pooled, new, labels, level, draws, seed in _collections(data):
        truth = read_qrels(str(data / name.partition(",")[0] / "qrels.txt"))
        for one in profile_of("leadline").measures(list(MEASURES), rel=level, documents=None):
            world = World.of(pooled, new, truth, [one], machines=labels, draws=draws, seed=seed)
            limit = 2 * len(rank_weights(one))
            board = make_board(world, limit)
            setting = make_setting(board, one, world, limit)
            for budget in (10, 20, 40) if name == PASSAGES else (10, 20):
                p = draw(setting.frame, budget * len(world.systems.queries), seed=seed).probability
                proxies = board.proxies(p)
                for proxy in ("none", "centred", "votes", *board.labels):
                    for number in range(draws):
                        sample = board.sample(proxies[proxy], p, board.numbers[number] < p, number)
                        trial = Trial.of(sample, setting.kind, board.joined)
                        yield from _of_trial(setting, trial, (name, str(one), proxy))


def _of_trial(setting: Setting, trial: Trial, names: tuple[str, str, str]) -> Iterator[_Estimated]:
    half = trial.half
    error = trial.values - setting.truth
    low, high = np.hypot(half, trial.doubt[:, 0]), np.hypot(half, trial.doubt[:, 1])
    held = covers(trial.values - low, trial.values + high, setting.truth)
    for run in np.flatnonzero(setting.new & (half > 0)).tolist():
        width = float(low[run] + high[run])
        share = 1 - 2 * float(half[run]) / width
        yield _Estimated(
            *names, float(trial.guessed[run]), bool(held[run]), width / 2, share, float(error[run])
        )


def by_weight(estimates: Iterable[_Estimated]) -> list[Json]:
    """Return the coverage of intervals of new runs by collection, measure, guess and weight outside."""
    groups: dict[tuple[str, str, str, int], list[_Estimated]] = {}
    for one in estimates:
        place = int(np.searchsorted(EDGES, one.guessed))
        groups.setdefault(
            (one.collection, one.measure.partition("(")[0].partition("@")[0], one.proxy, place), []
        ).append(one)
    return [
        {
            "set": name,
            "measure": measure,
            "proxy": proxy,
            "most": EDGES[place] if place < len(EDGES) else 1.0,
            "estimates": len(some),
            "coverage": float(np.mean([one.held for one in some])),
            "half_width": float(np.mean([one.half for one in some])),
            "widened": float(np.mean([one.share for one in some])),
            "bias": float(np.mean([one.error for one in some])),
        }
        for (name, measure, proxy, place), some in sorted(groups.items())
    ]


def doubts(data: Path) -> Json:
    """Return all numbers of this module."""
    return dict(rounded({"labels": found_labels(data), "outside": by_weight(_estimates(data))}))
