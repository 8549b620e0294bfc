"""Information Difference of the lists of one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.comparison.information_difference.joint_tables import (
    Truncation,
    conditional,
    ideal,
    ideal_rank_weights,
    information,
    joint_tables,
    orders_of,
)
from leadline.data.arrays import Codes, Flags, Floats

PAIRS = 1 << 18  # pairs of lists whose tables are in memory at a time


class DifferenceRules(NamedTuple):
    """Options of the Information Difference, as in `difference`."""

    cut: Truncation
    graded: bool = True
    weighted: bool = False
    printed6: bool = False
    normalise: bool = False


class QueryDifference(NamedTuple):
    """Values of one query: RIC in bits, concordance and direction by system.

    `only` is the conditional mutual information I(R_i; Q | R_j) in bits, systems x systems.
    """

    ric: Floats
    concordance: Floats
    wrong_way: Flags
    only: Floats


def difference_of_query(
    grades: Floats,
    lists: Sequence[Codes],
    rules: DifferenceRules,
    *,
    pairs: tuple[Codes, Codes] | None = None,
    whole: tuple[int, int] | None = None,
) -> QueryDifference | None:
    """Compare the lists of one query."""
    grades = np.maximum(grades, 0.0)
    if not rules.graded:
        grades = (grades >= rules.cut.rel).astype(np.float64)
    cut = rules.cut if rules.graded else rules.cut._replace(rel=1.0)
    levels, grade = np.unique(grades, return_inverse=True)
    if len(levels) < 2 or levels[-1] < cut.rel:
        return None
    counts = np.bincount(grade)
    weight = np.ones(len(levels))
    if rules.weighted:
        weight = ideal_rank_weights(counts, printed6=rules.printed6)
    best_list = ideal(grades, cut)
    orders = orders_of([*lists, best_list], len(grades))
    if whole is not None:
        whole = whole[0] + 1, whole[1] + len(best_list)
    size = len(lists)
    weights = counts * weight
    mass = (weights.sum() ** 2 - (weights**2).sum()) / 2

    def tables_of(first: Codes, second: Codes) -> Floats:
        tables = joint_tables(grade.astype(np.int32), weight, orders, first, second, whole=whole)
        tables /= mass
        return tables

    own = np.arange(size + 1, dtype=np.int32)
    tables = tables_of(own, own)
    right, wrong = tables[:, 0, 0], tables[:, 2, 2]
    best = right[size] - wrong[size] if rules.normalise else 1.0
    only = np.zeros((size, size))
    firsts, seconds = np.triu_indices(size, 1) if pairs is None else pairs
    for start in range(0, len(firsts), PAIRS):
        first, second = (ends[start : start + PAIRS].astype(np.int32) for ends in (firsts, seconds))
        only[first, second], only[second, first] = conditional(tables_of(first, second))
    return QueryDifference(
        information(right[:size], wrong[:size]) / best,
        (right[:size] - wrong[:size]) / best,
        right[:size] < wrong[:size],
        only / best,
    )
