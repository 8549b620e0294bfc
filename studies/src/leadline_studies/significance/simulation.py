"""The whole study: all tables, from one folder of score matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from leadline.data.arrays import Floats
from leadline_studies.significance.decisions import Row
from leadline_studies.significance.estimates import coverage, power
from leadline_studies.significance.families import families
from leadline_studies.significance.rejections import halves, rejections


class Extent(NamedTuple):
    """Numbers of simulations; the error of a proportion decreases with the square root."""

    pairs: int = 80
    sets: int = 25
    ratio_sets: int = 8
    splits: int = 20
    draws: int = 1_999
    sizes: tuple[int, ...] = (25, 50, 100)
    families: tuple[tuple[int, int, int], ...] = ((10, 25, 50), (10, 50, 100), (20, 50, 50), (40, 50, 40))


FULL = Extent()


def simulate_all(
    matrices: Mapping[str, Floats], *, extent: Extent = FULL, seed: int = 0
) -> dict[str, list[Row]]:
    """Return the rows of every table by name."""
    pairs, sets, draws = extent.pairs, extent.sets, extent.draws
    tables: dict[str, list[Row]] = {"rejections": [], "power": [], "coverage": [], "families": []}
    for queries in extent.sizes:
        tables["rejections"] += rejections(
            matrices, queries=queries, pairs=pairs, sets=sets, draws=draws, seed=seed
        )
        tables["power"] += power(matrices, queries=queries, pairs=pairs, sets=sets, draws=draws, seed=seed)
        tables["coverage"] += coverage(
            matrices,
            queries=queries,
            pairs=pairs,
            sets=sets,
            draws=draws,
            seed=seed,
            ratio_sets=extent.ratio_sets,
        )
    tables["halves"] = halves(matrices, pairs=pairs, splits=extent.splits, draws=draws, seed=seed)
    for runs, queries, number in extent.families:
        tables["families"] += families(
            matrices, runs=runs, queries=queries, sets=number, draws=draws, seed=seed
        )
    return tables
