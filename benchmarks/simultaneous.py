"""Measure how often the simultaneous intervals of `leadline compare` hold the true differences together.

    python benchmarks/simultaneous.py [FAMILIES]
    python benchmarks/simultaneous.py FAMILIES SCORES...
    python benchmarks/simultaneous.py FAMILIES bootstrap
    python benchmarks/simultaneous.py FAMILIES means SCORES...

Normal and independent differences with known means, 50 queries: the case in which Holm's correction costs its
intervals most. With SCORES, tables of one measure for many runs (topics x runs): the topics are the
population, from which queries are drawn with replacement, 10 to 37 runs anew each time. Prints the tables of
docs/comparing.md. With `bootstrap`, how often the intervals BCa and Percentile of 15 pairs of equal runs, and
of one pair, hold (docs/statistics.md). With `means`, how often the intervals of means of single runs hold, on
average over up to 20 runs of each table; the intervals draw 999 times.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from leadline.comparison.engine import Differences, Tested
from leadline.comparison.pairing import Rules
from leadline.stats import Interval
from leadline.stats.intervals import BCa, Percentile, Randomisation, Student
from leadline.stats.simultaneous import max_t

WORLDS = {
    "3 pairs, two far from 0": np.array([0.0, 2.0, 2.0]),
    "10 pairs, five far from 0": np.repeat([0.0, 2.0], 5),
    "10 pairs, all 0": np.zeros(10),
    "10 pairs, all half a deviation": np.full(10, 0.5),
}
BOOTSTRAP = (BCa(), Percentile())
OF_MEANS = (Student(), BCa(draws=999), Percentile(draws=999), Randomisation(draws=999))
PROCEDURES = ("Bonferroni", "Holm", "BH")


def coverage(truth: np.ndarray, name: str, families: int) -> tuple[float, float]:
    """Return how often all intervals hold, and the mean share of significant pairs whose interval misses."""
    rules = Rules.of(correction=name)
    rng = np.random.default_rng(1)
    together, missed = [], []
    for _ in range(families):
        differences = truth + rng.normal(size=(50, len(truth)))
        found = Tested([Differences(differences)], rules)
        low, high = found.shown_limits[0].T
        held = (low <= truth) & (truth <= high)
        chosen = found.rejected[0]
        together.append(held.all())
        missed.append((~held[chosen]).mean() if chosen.any() else 0.0)
    return float(np.mean(together)), float(np.mean(missed))


def held(path: str, queries: int, families: int, rng: np.random.Generator) -> tuple[list[float], float]:
    """Return how often Bonferroni's and MaxT's intervals of all pairs hold, and the median width of MaxT's.

    The width is that of the intervals of Bonferroni.
    """
    population = np.loadtxt(path, delimiter="\t", skiprows=1)[:, 1:]
    counts, widths = np.zeros(2), []
    for seed in range(families):
        most = min(37, population.shape[1])
        runs = rng.permutation(population.shape[1])[: rng.integers(10, most + 1)]
        drawn = population[rng.integers(0, len(population), queries)][:, runs]
        first, second = np.triu_indices(len(runs), k=1)
        differences, truth = drawn[:, first] - drawn[:, second], population[:, runs].mean(axis=0)
        truth = truth[first] - truth[second]
        plain = Student().limits(differences, level=1 - 0.05 / len(truth))
        joint = max_t(differences, draws=999, seed=seed).limits()
        counts += [((low <= truth + 1e-12) & (truth - 1e-12 <= high)).all() for low, high in (plain, joint)]
        spread = plain[1] > plain[0]
        widths.append(float(np.median((joint[1] - joint[0])[spread] / (plain[1] - plain[0])[spread])))
    return (counts / families).tolist(), float(np.median(widths))


def real(families: int, paths: list[str]) -> None:
    """Print the table of populations of topics."""
    rng = np.random.default_rng(1)
    print("| scores | queries | Bonferroni | MaxT | width of MaxT |")
    for path in paths:
        for queries in (6, 10, 15, 25, 50):
            (plain, joint), width = held(path, queries, families, rng)
            print(f"| {path} | {queries} | {plain:.1%} | {joint:.1%} | {width:.2f} |", flush=True)


def noise(kind: str, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Return six columns of values with mean 0, normal, skewed or mostly zero."""
    shape = (queries, 6)
    if kind == "mostly zero":
        return np.where(rng.random(shape) < 0.3, rng.normal(size=shape), 0.0)
    return rng.normal(size=shape) if kind == "normal" else rng.exponential(size=shape) - 1.0


def bootstrap(families: int) -> None:
    """Print how often all intervals of the 15 pairs of six runs hold 0, and those of one pair.

    The differences of one pair are the noise itself, so that they too are skewed.
    """
    first, second = np.triu_indices(6, k=1)
    for queries in (6, 10, 15, 25, 50, 100):
        for kind in ("normal", "skewed", "mostly zero"):
            rng, counts = np.random.default_rng(queries), np.zeros((2, 2))
            for _ in range(families):
                common, own = rng.normal(size=(queries, 1)), noise(kind, queries, rng)
                drawn = common + own
                differences = drawn[:, first] - drawn[:, second]
                counts[0] += [_holds(one, differences, 1 - 0.05 / 15).all() for one in BOOTSTRAP]
                counts[1] += [_holds(one, own, 0.95).mean() for one in BOOTSTRAP]
            for pairs, row in zip(("15 pairs", "1 pair"), counts / families, strict=True):
                found = zip(BOOTSTRAP, row, strict=True)
                shares = " | ".join(f"{one}: {share:.1%}" for one, share in found)
                print(f"| {queries} | {kind} | {pairs} | {shares} |", flush=True)


def _holds(interval: Interval, differences: np.ndarray, level: float, seed: int = 0) -> np.ndarray:
    """Return which intervals of columns hold 0."""
    low, high = interval.limits(differences, level=level, seed=seed)
    return (low <= 1e-12) & (high >= -1e-12)


def of_means(families: int, paths: list[str]) -> None:
    """Print how often the 95 % intervals of the means of single runs hold the means of all topics."""
    print("| scores | queries | " + " | ".join(type(one).__name__ for one in OF_MEANS) + " |")
    for path in paths:
        population = np.loadtxt(path, delimiter="\t", skiprows=1)[:, 1:]
        for queries in (10, 25, 50, 100):
            rng, counts = np.random.default_rng(queries), np.zeros(len(OF_MEANS))
            for seed in range(families):
                runs = rng.permutation(population.shape[1])[:20]
                drawn = population[rng.integers(0, len(population), queries)][:, runs]
                truth = population[:, runs].mean(axis=0)
                counts += [_holds(one, drawn - truth, 0.95, seed).mean() for one in OF_MEANS]
            shares = " | ".join(f"{share:.1%}" for share in counts / families)
            print(f"| {Path(path).stem} | {queries} | {shares} |", flush=True)


def main() -> None:
    """Print the table."""
    families = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    if sys.argv[2:] == ["bootstrap"]:
        bootstrap(families)
        return
    if sys.argv[2:3] == ["means"]:
        of_means(families, sys.argv[3:])
        return
    if len(sys.argv) > 2:
        real(families, sys.argv[2:])
        return
    print("| true differences | Bonferroni: together | Holm: together | BH: significant ones that miss |")
    print("| --- | ---: | ---: | ---: |")
    for world, truth in WORLDS.items():
        found = {name: coverage(truth, name, families) for name in PROCEDURES}
        cells = [found["Bonferroni"][0], found["Holm"][0], found["BH"][1]]
        print(f"| {world} | " + " | ".join(f"{100 * cell:.1f} %" for cell in cells) + " |")


if __name__ == "__main__":
    main()
