"""The tables that coefficients of agreement are made of, whole or by group of units."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats, Integers


def coded(grades: Floats) -> tuple[Floats, Integers]:
    """Give the grades that occur, rising, and the place of each judgment among them; -1: not judged.

    >>> values, codes = coded(np.array([[2.0, 0.0], [np.nan, 2.0]]))
    >>> values.tolist(), codes.tolist()
    ([0.0, 2.0], [[1, 0], [-1, 1]])
    """
    known = ~np.isnan(grades)
    values = np.unique(grades[known])
    codes = np.where(known, np.searchsorted(values, grades), -1).astype(np.int64)
    return values, codes


def confusions(
    first: Integers, second: Integers, size: int, group: Integers | None = None, groups: int = 1
) -> Floats:
    """Count, per group of units, which grade the second judge gave where the first gave which.

    groups x size x size; `group` is the group of every unit. Units that one of them did not judge are out.
    """
    both = (first >= 0) & (second >= 0)
    cell = first[both] * size + second[both]
    if group is not None:
        cell += group[both] * (size * size)
    counts = np.bincount(cell, minlength=groups * size * size)
    return counts.reshape(groups, size, size).astype(np.float64)


def coincidences(
    codes: Integers, size: int, group: Integers | None = None, groups: int = 1
) -> Floats:
    """Sum, per group of units, the pairs of judgments of the same unit: groups x size x size.

    Every ordered pair of judgments of a unit with m judgments counts 1 / (m - 1), so that a unit counts m;
    one with a single judgment says nothing. (Krippendorff 2004, section 11.3)
    """
    made = (codes >= 0).sum(axis=1)
    kept = np.flatnonzero(made > 1)
    if group is not None:
        kept = kept[np.argsort(group[kept], kind="stable")]
    owner = np.zeros(len(kept), dtype=np.int64) if group is None else group[kept]
    weight = 1.0 / (made[kept] - 1)
    found = np.zeros((groups, size, size))
    given = np.stack([(codes[kept] == grade).sum(axis=1) for grade in range(size)], axis=1) \
        if size else np.zeros((len(kept), 0))  # fmt: skip
    counts = given.astype(np.float64)
    bounds = np.searchsorted(owner, np.arange(groups + 1))
    for place, (low, high) in enumerate(
        zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ):
        part, share = counts[low:high], weight[low:high]
        found[place] = (part * share[:, None]).T @ part - np.diag(share @ part)
    return found
