"""Tests whether labels were made without the judgments that a sample drew.

Given the inclusion probabilities, the draw is independent of labels that were made without it. If judged
pairs have other labels than the probabilities allow, the labels contain judgments (a merged file, a model
trained on them), and estimates calibrated with them are biased.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers

LEVEL = 0.001  # of the test by cells
REDRAWS = 1999
LEAST_VARIANCE = 3.0  # of the number of drawn pairs in a cell
MOST_DEVIATIONS = 4.0  # of the mean label
DEPTHS = (4, 7, 11)  # first best rank in a pooled run of each depth cell after the first
FEWEST_EQUAL = 30  # judged pairs that all agree with their labels


class LabelTests(NamedTuple):
    """Results of both tests of labels against the draw."""

    # standardized difference of the Horvitz-Thompson mean of the labels and their mean; 0 if there is none
    z: float
    statistic: float  # sum over cells of the squared standardized deviation of the number of drawn pairs
    cells: int  # number of these cells
    p: float  # p-value of `statistic` by redrawing; 1 as soon as it cannot be as small as 0.001

    @property
    def failed(self) -> bool:
        """Whether the labels depend on the draw."""
        return abs(self.z) >= MOST_DEVIATIONS or self.p <= LEVEL

    @property
    def reason(self) -> str:
        """The numbers of the tests that failed."""
        parts = []
        if self.p <= LEVEL:
            parts.append(f"chi-squared = {self.statistic:.1f} in {self.cells} cells, p = {self.p:.4f}")
        if abs(self.z) >= MOST_DEVIATIONS:
            parts.append(f"z = {self.z:.1f}")
        return ", ".join(parts)


def label_tests(
    values: Floats, cell: Integers, probability: Floats, drawn: Flags, best: Integers, seed: int
) -> LabelTests:
    """Test whether labels are independent of the draw."""
    used = (probability > 0) & (probability < 1)
    p, own = probability[used], drawn[used]
    z = _deviation(values[used], p, own)
    depth = np.searchsorted(DEPTHS, best[used], side="right")
    _, place = np.unique(cell[used] * (len(DEPTHS) + 1) + depth, return_inverse=True)
    spread = np.bincount(place, p * (1.0 - p))
    kept = np.flatnonzero(spread >= LEAST_VARIANCE)
    if not len(kept):
        return LabelTests(z, 0.0, 0, 1.0)

    def statistic(one: Flags) -> float:
        excess = np.bincount(place, one - p)[kept]
        return float((excess**2 / spread[kept]).sum())

    observed = statistic(own)
    most = math.floor(LEVEL * (REDRAWS + 1)) - 1  # redraws as extreme with which p is LEVEL or less
    rng, extreme = np.random.default_rng(seed), 0
    for _ in range(REDRAWS):
        extreme += statistic(rng.random(len(p)) < p) >= observed
        if extreme > most:
            return LabelTests(z, observed, len(kept), 1.0)
    return LabelTests(z, observed, len(kept), (1 + extreme) / (1 + REDRAWS))


def _deviation(values: Floats, probability: Floats, drawn: Flags) -> float:
    """Return the standardized difference of the Horvitz-Thompson mean of the labels and their mean."""
    known = ~np.isnan(values)
    label, p = values[known], probability[known]
    if not len(label):
        return 0.0
    gap = label - label.mean()
    variance = float(((1.0 - p) / p * gap**2).sum())
    return float(((drawn[known] / p - 1.0) * gap).sum()) / math.sqrt(variance) if variance > 0 else 0.0


def all_equal(values: Floats, grades: Floats) -> bool:
    """Return whether the labels of the judged pairs are their grades, which are not all alike."""
    known = ~np.isnan(values)
    label, grade = values[known], grades[known]
    enough = len(label) >= FEWEST_EQUAL and len(np.unique(grade)) > 1
    return enough and bool((label == grade).all())
