"""Measure what unequal groups, weights, close runs and few queries do to tests and intervals.

    python benchmarks/uncertainty.py groups [SETS]
    python benchmarks/uncertainty.py weights [SETS]
    python benchmarks/uncertainty.py best SETS SCORES...
    python benchmarks/uncertainty.py kappa SETS REFERENCE LABELS...

`groups`: rejections of a true null hypothesis at .05, coverage of the 95 % interval, and rejections by the
worse of the two one-sided tests, with groups of Zipf sizes (five queries a group on average, half of the
variance between groups). `weights`: rejections by the t test and the randomisation test, and coverage of
the t interval, of the weighted mean of queries drawn with their weights (log-normal, sigma 1 or 1.5), where
the differences are independent of the weights, and where they grow with the weights (correlation .5 with
their logarithm; the weighted mean of the population is 0 all the same). `best`: 10 to 40 topics of SCORES
(tables of one measure for many runs) are drawn without replacement as the data, all topics are the truth; 3
to 10 runs, random or of adjacent true ranks; how often the run with a P(best) of .5 to .8, and of .8 or
more, is the best. `kappa`: queries are drawn with replacement from all of REFERENCE; how often the
intervals of Cohen's kappa with LABELS hold that of all queries. Prints the tables of docs/data and
docs/agreement.md.
"""

from __future__ import annotations

import sys

import numpy as np

import leadline as ll
from leadline.stats.agreement_coefficients import Cohen, coded, confusions, jackknife_limits, without_each
from leadline.stats.intervals import Student
from leadline.stats.moments import Weighted, means, totals
from leadline.stats.paired_tests import Randomisation, T
from leadline.stats.ranks import bootstrap_ranks

TESTED = (T(), Randomisation(draws=2000))


def groups(sets: int) -> None:
    """Print the size of the t test and the coverage of its interval."""
    rng = np.random.default_rng(1)
    for number in (5, 8, 10, 20, 50):
        shares = 1 / np.arange(1, number + 1)
        sizes = np.maximum(1, np.round(5 * number * shares / shares.sum())).astype(int)
        member = np.repeat(np.arange(number), sizes)
        line = []
        for skewed in (False, True):
            draw = (lambda size: rng.exponential(size=size) - 1) if skewed else rng.standard_normal
            values = draw((number, sets))[member] + draw((len(member), sets))
            low, high = Student().limits(values, groups=member)
            p = T().p_values(values, groups=member)
            less, greater = (
                np.mean(T().p_values(values, groups=member, alternative=side) < 0.05)
                for side in ("less", "greater")
            )
            measured = [np.mean(p < 0.05), np.mean((low <= 0) & (high >= 0)), max(less, greater)]
            line += ["-" if np.isnan(p[0]) else f"{share:.3f}" for share in measured]
        effective = means(totals(values, member)).effective[0]
        print(f"| {number} | {effective:.1f} | {' | '.join(line)} |")


def weights(sets: int) -> None:
    """Print the size of tests of weighted means and the coverage of the t interval."""
    for sigma in (1.0, 1.5):
        for number in (25, 50, 100, 200):
            for skewed in (False, True):
                line, effective = [], []
                for grows in (False, True):
                    rng = np.random.default_rng(1)
                    found = []
                    for _ in range(sets):
                        z = rng.standard_normal(number)
                        noise = rng.exponential(size=number) - 1 if skewed else rng.standard_normal(number)
                        values = np.sqrt(0.75) * noise + 0.5 * (z - sigma) if grows else noise
                        units = Weighted(np.arange(number), np.exp(sigma * z))
                        low, high = Student().limits(values[:, None], groups=units)
                        effective.append(means(totals(values[:, None], units)).effective[0])
                        if np.isnan(low[0]):
                            continue
                        p = [test.p_values(values[:, None], groups=units)[0] for test in TESTED]
                        found.append([*(np.array(p) < 0.05), low[0] <= 0 <= high[0]])
                    line += [f"{share:.3f}" for share in np.mean(found, axis=0)]
                units_of = f"{sigma} | {number} ({np.mean(effective):.1f})"
                print(f"| {units_of} | {'skewed' if skewed else 'normal'} | {' | '.join(line)} |", flush=True)


def best(sets: int, paths: list[str]) -> None:
    """Print how often the run that is probably the best is it, before and after shrinking."""
    rng = np.random.default_rng(1)
    tables = [np.loadtxt(path, delimiter="\t", skiprows=1)[:, 1:] for path in paths]
    for kind in ("random", "adjacent"):
        found: dict[str, list[tuple[float, bool]]] = {"before": [], "after": []}
        for number in range(sets):
            table = tables[rng.integers(len(tables))]
            truth, size = table.mean(axis=0), int(rng.integers(3, 11))
            if kind == "random":
                runs = rng.permutation(table.shape[1])[:size]
            else:
                start = rng.integers(0, table.shape[1] - size + 1)
                runs = np.argsort(-truth, kind="stable")[start : start + size]
            drawn = table[rng.permutation(len(table))[: rng.choice([10, 15, 25, 40])]][:, runs]
            after = bootstrap_ranks(drawn, draws=1000, seed=number)
            plain = after.counts[:, 0] / max(
                1, after.counts[:, 0].sum()
            )  # almost: ties at the top are left out
            for name, shares in (("before", plain), ("after", after.best)):
                chosen = int(np.argmax(shares))
                right = bool(truth[runs[chosen]] >= truth[runs].max() - 1e-12)
                found[name].append((float(shares[chosen]), right))
        for name, rows in found.items():
            said, right = np.array(rows, dtype=np.float64).T
            for low, high in ((0.5, 0.8), (0.8, 1.1)):
                some = (said >= low) & (said < high)
                share = f"{said[some].mean():.3f} | {right[some].mean():.3f}" if some.any() else "- | -"
                print(f"| {kind} | {name} | {low} | {some.sum()} | {right[some].sum():.0f} | {share} |")


def kappa(sets: int, reference: str, paths: list[str]) -> None:
    """Print how often the intervals of kappa hold, by number of queries and grades."""
    rng = np.random.default_rng(1)
    grades = {name: ll.read_qrels(name) for name in [reference, *paths]}
    for rel in (None, 1, 2):
        tables = [_tables(grades[reference], grades[path], rel) for path in paths]
        for number in (5, 6, 8, 10, 12, 15, 20, 25, 40):
            held = []
            for _ in range(sets):
                table, values = tables[rng.integers(len(tables))]
                drawn = table[rng.integers(0, len(table), number)]
                truth, value = (Cohen().of_tables(one.sum(axis=0), values) for one in (table, drawn))
                left = without_each(drawn, Cohen(), values)[:, None]
                low, high = jackknife_limits(value[None], left, fewest=2)
                held.append(bool(low[0] <= truth <= high[0]))
            print(f"| {reference} | {rel} | {number} | {np.mean(held):.3f} |", flush=True)


def _tables(first: ll.Qrels, second: ll.Qrels, rel: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return confusion tables by query, and the grades."""
    judged = ll.agreement({"a": first, "b": second}, rel=rel, draws=0).judgments
    values, codes = coded(judged.grades)
    _, query = np.unique(judged.query, return_inverse=True)
    return confusions(codes[:, 0], codes[:, 1], len(values), query, int(query.max()) + 1), values


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    if sys.argv[1] == "groups":
        groups(count)
    elif sys.argv[1] == "weights":
        weights(count)
    elif sys.argv[1] == "best":
        best(count, sys.argv[3:])
    else:
        kappa(count, sys.argv[3], sys.argv[4:])
