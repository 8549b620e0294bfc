"""Type I error rates of tests, and agreement between halves of real queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadline.data.arrays import Flags, Floats, Integers
from leadline_studies.significance.decisions import LEVEL, Extent, Row, classes, p_values, paired_tests, rate
from leadline_studies.significance.populations import (
    Atoms,
    draw,
    margin,
    normal_correlations,
    populations,
    real_pairs,
)

NULLS = {
    "exchangeable": "both runs have the same margin, and a normal copula",
    "tilted": "real differences, drawn with the probabilities that make their mean 0",
    "shifted": "real differences less their mean",
}
SKEWED = (0.0, 0.5, 1.0, 2.0)  # where classes of absolute skewness begin


class Sets(NamedTuple):
    """Simulated differences of pairs, queries x sets, with pair, measure and skewness of each set."""

    differences: Floats
    pairs: Integers
    measures: NDArray[np.str_]
    skewness: Floats

    def groups(self) -> dict[tuple[str, str], Flags]:
        """Return the sets of each group: all, each measure, and each class of skewness."""
        groups: dict[tuple[str, str], Flags] = {("all", "all"): np.ones(len(self.pairs), dtype=np.bool_)}
        groups |= {("measure", str(name)): self.measures == name for name in np.unique(self.measures)}
        for label, low, high in classes(SKEWED):
            groups["skewness", label] = (np.abs(self.skewness) >= low) & (np.abs(self.skewness) < high)
        return groups


def rejections(matrices: Mapping[str, Floats], queries: int, extent: Extent) -> list[Row]:
    """Simulate true null hypotheses and return the rejection rate of each test, one row each."""
    rows: list[Row] = []
    for null, simulated in simulate(matrices, queries, extent).items():
        for name, test in paired_tests(extent.draws).items():
            p = p_values(test, simulated.differences)
            for (by, group), chosen in simulated.groups().items():
                if chosen.any():
                    facts: Row = {"null": null, "queries": queries, "test": name, "by": by, "group": group}
                    facts["sets"] = int(chosen.sum())
                    rows.append(facts | rate((p <= LEVEL)[chosen], simulated.pairs[chosen]))
    return rows


def simulate(matrices: Mapping[str, Floats], queries: int, extent: Extent) -> dict[str, Sets]:
    """Draw sets of differences with true mean 0, under each null hypothesis."""
    rng, sets = np.random.default_rng([extent.seed, queries]), extent.sets
    drawn: dict[str, list[tuple[Floats, int, str, float]]] = {null: [] for null in NULLS}
    for pair, (measure, values) in enumerate(real_pairs(matrices, extent.pairs, rng), start=1):
        margins = [margin(values[:, 0])] * 2
        scores = draw(margins, normal_correlations(values), queries=queries, sets=sets, rng=rng)
        drawn["exchangeable"].append(((scores[:, :, 0] - scores[:, :, 1]).T, pair, measure, 0.0))
        for null, atoms in skewed_right(values[:, 0] - values[:, 1]).items():
            drawn[null].append((atoms.draw(queries, sets, rng), pair, measure, atoms.skewness))
    found = {}
    for null, parts in drawn.items():
        differences, *each = zip(*parts, strict=True)
        repeated = (np.repeat(np.array(values), sets) for values in each)
        found[null] = Sets(np.concatenate(differences, axis=1), *repeated)
    return found


def skewed_right(differences: Floats) -> dict[str, Atoms]:
    """Return the zero-mean populations of real differences, skewed to the right."""
    found = populations(differences)
    return {
        null: Atoms(-atoms.values if atoms.skewness < 0 else atoms.values, atoms.weights)
        for null in ("shifted", "tilted")
        if (atoms := found.get(null))
    }


def halves(matrices: Mapping[str, Floats], extent: Extent) -> list[Row]:
    """Split the queries of pairs of runs into random halves and compare the conclusions."""
    rng, splits = np.random.default_rng([extent.seed, 2]), extent.splits
    parts = []
    for _, pair in real_pairs(matrices, extent.pairs, rng):
        size, half = len(pair), len(pair) // 2
        order = rng.permuted(np.tile(np.arange(size), (splits, 1)), axis=1)
        split = (pair[:, 0] - pair[:, 1])[order].T
        parts.append([_to(25, split[:half]), _to(25, split[half : 2 * half])])
    source = np.repeat(np.arange(len(parts)), splits)
    both = [np.concatenate(side, axis=1) for side in zip(*parts, strict=True)]
    signs = [np.sign(np.nanmean(side, axis=0)) for side in both]
    opposite = signs[0] * signs[1] < 0
    rows: list[Row] = []
    for name, test in paired_tests(extent.draws).items():
        first, again = (p_values(test, side) <= LEVEL for side in both)
        row: Row = {"test": name, "splits": len(first)} | rate(first, source, "significant", "significant_se")
        for label, flags in {
            "again": again & ~opposite,
            "minor": opposite & ~again,
            "major": opposite & again,
        }.items():
            row |= rate(flags[first], source[first], label, f"{label}_se")
        rows.append(row)
    return rows


def _to(queries: int, values: Floats) -> Floats:
    """Pad a half with NaN to a number of rows."""
    missing = np.full((max(queries - len(values), 0), values.shape[1]), np.nan)
    return np.concatenate([values, missing])
