"""One query: what every system says of its judged documents, and what every pair of systems says together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.arrays import Codes, Flags, Floats
from leadline.differences.information import conditional, information
from leadline.differences.lists import Cut, ideal
from leadline.differences.tables import joint_tables, orders_of
from leadline.differences.weights import by_ideal_place


class Rules(NamedTuple):
    """How pairs are weighed: `graded` or relevant against not, `weighted` by ideal place, `printed6`."""

    cut: Cut
    graded: bool = True
    weighted: bool = False
    printed6: bool = False
    normalise: bool = False


class Query(NamedTuple):
    """What one query says: RIC, concordance and direction by system, conditional terms by pair.

    `only[i, j]` is I(R_i; Q | R_j) in bits.
    """

    ric: Floats
    concordance: Floats
    wrong_way: Flags
    only: Floats


def difference_of_query(grades: Floats, lists: Sequence[Codes], rules: Rules) -> Query | None:
    """Compare the lists of one query; None where no relevant document was judged or no pair differs.

    `grades` are those of the judged documents; a list holds places in `grades`, best first, already cut.
    """
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
        weight = by_ideal_place(counts, printed6=rules.printed6)
    orders = orders_of([*lists, ideal(grades, cut)], len(grades))
    size = len(lists)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(size, 1))
    own = np.arange(size + 1, dtype=np.int32)
    tables = joint_tables(
        grade.astype(np.int32),
        weight,
        orders,
        np.concatenate([own, first]),
        np.concatenate([own, second]),
    )
    weights = counts * weight
    tables /= (weights.sum() ** 2 - (weights**2).sum()) / 2
    right, wrong = tables[: size + 1, 0, 0], tables[: size + 1, 2, 2]
    best = right[size] - wrong[size] if rules.normalise else 1.0
    only = np.zeros((size, size))
    only[first, second], only[second, first] = conditional(tables[size + 1 :])
    return Query(
        information(right[:size], wrong[:size]) / best,
        (right[:size] - wrong[:size]) / best,
        right[:size] < wrong[:size],
        only / best,
    )
