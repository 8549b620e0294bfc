"""Type I error rates of tests, the effect of fewer draws, and agreement between halves of real queries."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats import TESTS
from leadline_studies.significance.decisions import Row, p_values, paired_tests, share
from leadline_studies.significance.populations import (
    Atoms,
    best_runs,
    draw,
    margin,
    measure_of,
    normal_correlations,
    random_pairs,
    shifted,
    tilted,
)

NULLS = {
    "exchangeable": "both runs have the same margin, and a normal copula",
    "tilted": "real differences, drawn with the probabilities that make their mean 0",
    "shifted": "real differences less their mean",
}
LEVELS = (0.05, 0.01)
SKEWED = (0.5, 1.0, 2.0)  # where the classes of absolute skewness end


class Sets:
    """Simulated differences of pairs, queries x sets, with the properties of each set."""

    def __init__(self) -> None:
        self.differences: list[Floats] = []
        self.facts: list[tuple[int, str, float]] = []

    def add(self, differences: Floats, *, pair: int, measure: str, skewness: float) -> None:
        """Add the sets of one pair."""
        self.differences.append(differences)
        self.facts += [(pair, measure, skewness)] * differences.shape[1]

    @property
    def pairs(self) -> Integers:
        """Return the number of the pair of each set."""
        return np.array([pair for pair, _, _ in self.facts], dtype=np.int64)

    def groups(self) -> dict[tuple[str, str], Flags]:
        """Return the sets of each group: all, each measure, and each class of skewness."""
        measures = np.array([measure for _, measure, _ in self.facts])
        skewness = np.abs(np.array([skew for _, _, skew in self.facts]))
        groups: dict[tuple[str, str], Flags] = {("all", "all"): np.ones(len(measures), dtype=np.bool_)}
        groups |= {("measure", str(name)): measures == name for name in np.unique(measures)}
        ends = (0.0, *SKEWED, np.inf)
        for low, high in pairwise(ends):
            label = f"{low:g} to {high:g}" if high < np.inf else f"{low:g} or more"
            groups["skewness", label] = (skewness >= low) & (skewness < high)
        return groups


def rejections(
    matrices: Mapping[str, Floats],
    *,
    queries: int,
    pairs: int = 40,
    sets: int = 50,
    draws: int = 1_999,
    seed: int = 0,
) -> list[Row]:
    """Simulate true null hypotheses and return the rejection rate of each test, one row each."""
    rows: list[Row] = []
    for null, simulated in simulate(matrices, queries=queries, pairs=pairs, sets=sets, seed=seed).items():
        differences = np.concatenate(simulated.differences, axis=1)
        signs = np.sign(differences.mean(axis=0))
        for name, test in paired_tests(draws).items():
            p = p_values(test, differences)
            for (by, group), chosen in simulated.groups().items():
                for level in LEVELS if chosen.any() else ():
                    rejected = (p <= level)[chosen]
                    rate, error = share(rejected, simulated.pairs[chosen])
                    rows.append(
                        {
                            "null": null,
                            "queries": queries,
                            "test": name,
                            "by": by,
                            "group": group,
                            "level": level,
                            "sets": int(chosen.sum()),
                            "rate": rate,
                            "se": error,
                            "above": float((rejected & (signs[chosen] > 0)).mean()),
                            "below": float((rejected & (signs[chosen] < 0)).mean()),
                        }
                    )
    return rows


def simulate(
    matrices: Mapping[str, Floats], *, queries: int, pairs: int, sets: int, seed: int
) -> dict[str, Sets]:
    """Draw sets of differences with true mean 0, under each null hypothesis."""
    rng = np.random.default_rng([seed, queries])
    simulated = {null: Sets() for null in NULLS}
    pair = 0
    for name, matrix in matrices.items():
        for values in random_pairs(best_runs(matrix), pairs, rng):
            pair += 1
            measure = measure_of(name)
            margins = [margin(values[:, 0])] * 2
            scores = draw(margins, normal_correlations(values), queries=queries, sets=sets, rng=rng)
            simulated["exchangeable"].add(
                (scores[:, :, 0] - scores[:, :, 1]).T, pair=pair, measure=measure, skewness=0.0
            )
            for null, atoms in populations(values[:, 0] - values[:, 1]).items():
                simulated[null].add(
                    atoms.draw(queries, sets, rng), pair=pair, measure=measure, skewness=atoms.skewness
                )
    return simulated


def populations(differences: Floats) -> dict[str, Atoms]:
    """Return the zero-mean populations of real differences, skewed to the right."""
    tilt = tilted(differences)
    by_null = {"shifted": shifted(differences)} | ({} if tilt is None else {"tilted": tilt})
    return {
        null: Atoms(-atoms.values if atoms.skewness < 0 else atoms.values, atoms.weights)
        for null, atoms in by_null.items()
    }


def fewer_draws(
    matrices: Mapping[str, Floats],
    *,
    queries: int = 50,
    pairs: int = 40,
    sets: int = 5,
    draws: int = 1_999,
    level: float = 0.05,
    seed: int = 0,
) -> list[Row]:
    """Decide the same sets with few draws and with the default number."""
    simulated = simulate(matrices, queries=queries, pairs=pairs, sets=sets, seed=seed + 3)["tilted"]
    differences = np.concatenate(simulated.differences, axis=1)
    rows: list[Row] = []
    for name, test in paired_tests(draws).items():
        default = TESTS.classes[name]()
        if test != default:
            few = p_values(test, differences) <= level
            many = p_values(default, differences) <= level
            rates = [share(flags, simulated.pairs)[0] for flags in (few, many, few != many)]
            rows.append(
                {
                    "test": name,
                    "queries": queries,
                    "sets": len(few),
                    "draws": draws,
                    "default_draws": int(getattr(default, "draws")),  # noqa: B009  # not every test draws
                    "few": rates[0],
                    "default": rates[1],
                    "differ": rates[2],
                }
            )
    return rows


def halves(
    matrices: Mapping[str, Floats],
    *,
    pairs: int = 40,
    splits: int = 40,
    draws: int = 1_999,
    level: float = 0.05,
    seed: int = 0,
) -> list[Row]:
    """Split the queries of pairs of runs into random halves and compare the conclusions."""
    rng = np.random.default_rng([seed, 2])
    first, second = [], []
    for matrix in matrices.values():
        half = len(matrix) // 2
        for pair in random_pairs(best_runs(matrix), pairs, rng):
            order = rng.permuted(np.tile(np.arange(len(matrix)), (splits, 1)), axis=1)
            split = (pair[:, 0] - pair[:, 1])[order].T
            first.append(_to(25, split[:half]))
            second.append(_to(25, split[half : 2 * half]))
    source = np.repeat(np.arange(len(first)), splits)
    first_half, second_half = np.concatenate(first, axis=1), np.concatenate(second, axis=1)
    opposite = np.sign(np.nanmean(first_half, axis=0)) * np.sign(np.nanmean(second_half, axis=0)) < 0
    rows: list[Row] = []
    for name, test in paired_tests(draws).items():
        split_differences, again = p_values(test, first_half) <= level, p_values(test, second_half) <= level
        row: Row = {"test": name, "splits": len(split_differences)}
        row["significant"], row["significant_se"] = share(split_differences, source)
        for label, flags in {
            "again": again & ~opposite,
            "minor": opposite & ~again,
            "major": opposite & again,
        }.items():
            row[label], row[f"{label}_se"] = share(flags[split_differences], source[split_differences])
        rows.append(row)
    return rows


def _to(queries: int, values: Floats) -> Floats:
    """Pad every half with NaN to the same number of rows."""
    missing = np.full((queries - len(values), values.shape[1]), np.nan)
    return np.concatenate([values, missing]) if len(missing) else values
