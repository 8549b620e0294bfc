"""Predicted grades of unjudged pairs, fitted on the judgments of other queries, and tests of labels.

The tests say whether labels were made without the judgments that a sample drew. Given the inclusion
probabilities, the draw is independent of labels that were made without it. If judged pairs have other labels
than the probabilities allow, the labels contain judgments (a merged file, a model trained on them), and
estimates calibrated with them are biased.
"""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import Vocabulary

FOLDS = 5
FEW_QUERIES = 10  # with fewer queries every query is a separate fold
FEWEST = 5  # minimum number of judgments in a cell
SHRINKAGE = 5.0  # weight of the overall mean, in judgments
# Weight of the mean of the cell in predictions outside the frame, in judgments. A round number, chosen by the
# bias of later runs on TREC 2019 DL and Robust 2003: the bias and the coverage of later runs that
# docs/studies/estimate.md reports for TREC 2019 DL are not independent of it.
OUTSIDE_SHRINKAGE = 20.0
VOTE_CONSTANT = 60.0  # of reciprocal rank fusion: a vote is 1 / (60 + rank)


class Guess(NamedTuple):
    """Predicted target values by fold and cell."""

    # prediction for pairs in cell c of queries in fold f, fitted without the queries of fold f (n_folds x
    # n_cells)
    table: Floats
    outside: Floats  # the same for pairs outside the sampling frame (n_folds x n_cells)

    def of(self, fold: Integers, cell: Integers, framed: Flags) -> Floats:
        """Return the prediction for each pair, from the fold of its query, its cell, and the frame."""
        return np.where(framed, self.table[fold, cell], self.outside[fold, cell])


def folds_of(queries: Vocabulary) -> Integers:
    """Return the fold of each query: a hash of its id, or one fold per query if there are fewer than ten.

    >>> folds_of(Vocabulary(["q1", "q2"])).tolist()
    [0, 1]
    """
    if len(queries) < FEW_QUERIES:
        return np.arange(len(queries))
    digests = (hashlib.sha256(name).digest()[:8] for name in queries.names)
    return np.array([int.from_bytes(digest, "big") % FOLDS for digest in digests], dtype=np.int64)


def merged_cells(judgments: Integers, fewest: int = FEWEST) -> Integers:
    """Merge cells with few judgments into neighboring cells; return the group of each cell.

    A cell with fewer than `fewest` judgments is merged with the next cell, the last one with the previous.

    >>> merged_cells(np.array([2, 9, 7, 1])).tolist()
    [0, 0, 1, 1]
    """
    groups = [[cell] for cell in range(len(judgments))]
    index = 0
    while index < len(groups) and len(groups) > 1:
        if judgments[groups[index]].sum() >= fewest:
            index += 1
        elif index + 1 < len(groups):
            groups[index : index + 2] = [groups[index] + groups[index + 1]]
        else:
            groups[index - 1 :] = [groups[index - 1] + groups[index]]
    group = np.empty(len(judgments), dtype=np.int64)
    for number, cells in enumerate(groups):
        group[cells] = number
    return group


def fit(
    target: Floats,
    cell: Integers,
    fold: Integers,
    weight: Floats,
    fallback: Floats,
    *,
    cells: int,
    folds: int,
    apart: int | None = None,
) -> Floats:
    """Fit the prediction of every cell on the judged pairs of the other folds.

    The prediction is (n c + 5 o) / (n + 5), where n is the number of judgments in the cell, c their weighted
    mean and o the weighted mean of all judged pairs.
    """
    table = np.zeros((folds, cells))
    ordered = np.array([column for column in range(cells) if column != apart], dtype=np.int64)
    for number in range(folds):
        used = fold != number
        if not used.any():
            continue
        y, c, w, f = target[used], cell[used], weight[used], fallback[used]
        count = np.bincount(c, minlength=cells)
        group = np.empty(cells, dtype=np.int64)
        group[ordered] = merged_cells(count[ordered])
        groups = int(group[ordered].max(initial=-1)) + 1
        if apart is not None:
            group[apart], groups = groups, groups + 1
        own = group[c]
        overall = float((w * y).sum() / w.sum()) if w.sum() > 0 else float((f * y).sum() / f.sum())
        mean = _means(y, own, w, groups)
        plain = _means(y, own, f, groups)
        mean = np.where(np.isnan(mean), np.where(np.isnan(plain), overall, plain), mean)
        n = np.bincount(own, minlength=groups)
        table[number] = ((n * mean + SHRINKAGE * overall) / (n + SHRINKAGE))[group]
    return table


def fit_outside(
    table: Floats, target: Floats, cell: Integers, fold: Integers, weight: Floats, apart: int | None = None
) -> Floats:
    """Fit the prediction of pairs outside the frame on judged pairs that no pooled run ranks high.

    The prediction is (n c + 20 m) / (n + 20), where n is the number of these judgments in the cell, c their
    weighted mean and m the prediction in the frame. In the cell `apart`, if none of these is in it, n and c
    are of all of them.

    >>> table, zeros = np.array([[0.6], [0.5]]), np.zeros(20, dtype=np.int64)
    >>> fit_outside(table, np.zeros(20), zeros, zeros, np.ones(20)).tolist()
    [[0.6], [0.25]]
    """
    outside = table.copy()
    cells = table.shape[1]
    for number in range(len(table)):
        used = fold != number
        y, c, w = target[used], cell[used], weight[used]
        n = np.bincount(c, minlength=cells).astype(np.float64)
        mean = np.nan_to_num(_means(y, c, w, cells))
        if apart is not None and not n[apart] and len(y):
            n[apart], mean[apart] = len(y), (w * y).sum() / w.sum()
        outside[number] = (n * mean + OUTSIDE_SHRINKAGE * table[number]) / (n + OUTSIDE_SHRINKAGE)
    return outside


def _means(values: Floats, group: Integers, weight: Floats, groups: int) -> Floats:
    total = np.bincount(group, weight, minlength=groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(group, weight * values, minlength=groups) / total)


class Cells(NamedTuple):
    """Cells (post-strata) of pairs, in which grades are predicted; the fields of that name of a `Sample`."""

    cell: Integers
    cells: int = 1
    outside: int = 0
    apart: int | None = None
    guessing: bool = True

    @classmethod
    def one(cls, size: int, *, guessing: bool = True) -> Cells:
        """Return one cell of all pairs."""
        return cls(np.zeros(size, dtype=np.int64), guessing=guessing)

    @classmethod
    def of_levels(cls, values: Floats) -> Cells:
        """Return a cell for each distinct value; those without one are apart.

        >>> Cells.of_levels(np.array([2.0, np.nan, 0.0])).cell.tolist()
        [2, 0, 1]
        """
        levels = np.unique(values[~np.isnan(values)])
        cell = np.where(np.isnan(values), 0, np.searchsorted(levels, values) + 1)
        return cls(cell, len(levels) + 1, apart=0)


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
