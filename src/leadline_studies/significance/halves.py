"""Agreement between conclusions from two halves of the real queries, without a model or known truth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.data.arrays import Floats
from leadline_studies.significance.decisions import Row, p_values, paired_tests, share
from leadline_studies.significance.populations import best_runs, random_pairs


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
    generator = np.random.default_rng([seed, 2])
    first, second = [], []
    for matrix in matrices.values():
        half = len(matrix) // 2
        for pair in random_pairs(best_runs(matrix), pairs, generator):
            order = generator.permuted(np.tile(np.arange(len(matrix)), (splits, 1)), axis=1)
            split = (pair[:, 0] - pair[:, 1])[order].T
            first.append(_to(25, split[:half]))
            second.append(_to(25, split[half : 2 * half]))
    source = np.repeat(np.arange(len(first)), splits)
    first_half, second_half = np.concatenate(first, axis=1), np.concatenate(second, axis=1)
    opposite = np.sign(np.nanmean(first_half, axis=0)) * np.sign(np.nanmean(second_half, axis=0)) < 0
    rows: list[Row] = []
    for name, test in paired_tests(draws).items():
        split_differences, there = p_values(test, first_half) <= level, p_values(test, second_half) <= level
        row: Row = {"test": name, "splits": len(split_differences)}
        row["significant"], row["significant_se"] = share(split_differences, source)
        for label, flags in {
            "again": there & ~opposite,
            "minor": opposite & ~there,
            "major": opposite & there,
        }.items():
            row[label], row[f"{label}_se"] = share(flags[split_differences], source[split_differences])
        rows.append(row)
    return rows


def _to(queries: int, values: Floats) -> Floats:
    """Pad every half with NaN to the same number of rows."""
    missing = np.full((queries - len(values), values.shape[1]), np.nan)
    return np.concatenate([values, missing]) if len(missing) else values
