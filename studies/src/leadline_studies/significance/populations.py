"""Score matrices, and the populations of scores and of differences that are fitted to them."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from leadline import InputError, UsageError
from leadline.data.arrays import Floats
from leadline.io.read_paths import record_input

LEAST_DIFFERING = 10  # queries on which two runs must differ to be a pair worth testing
LEAST_WEIGHT = 0.5  # share of the queries that a tilted population must still be worth


class Margin(NamedTuple):
    """Distribution of one run's scores over queries: its quantiles at increasing probabilities."""

    shares: Floats
    quantiles: Floats
    steps: bool

    @property
    def mean(self) -> float:
        """Return the exact mean of the distribution."""
        if self.steps:
            return float(self.quantiles.mean())
        return float(np.trapezoid(self.quantiles, self.shares))

    def at(self, shares: Floats) -> Floats:
        """Return the quantiles at probabilities, of any shape."""
        if self.steps:
            index = np.minimum((shares * len(self.quantiles)).astype(np.int64), len(self.shares) - 1)
            return np.asarray(self.quantiles[index])
        return np.interp(shares, self.shares, self.quantiles)


def margin(values: Floats) -> Margin:
    """Fit a marginal distribution to one run's scores.

    >>> smooth = margin(np.array([0.1, 0.2, 0.4]))
    >>> round(smooth.mean, 4), smooth.steps, margin(np.array([0.1, 0.1, 0.2])).steps
    (0.2333, False, True)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if np.isnan(ordered).any() or len(ordered) < 2:
        raise UsageError("each run needs at least two scores, and all must be defined")
    positive = ordered[ordered > 0]
    steps = len(np.unique(positive)) < 0.75 * len(positive)
    middles = (np.arange(len(ordered)) + 0.5) / len(ordered)
    if steps:
        return Margin(middles, ordered, steps)
    shares = np.concatenate([[0.0], middles, [1.0]])
    return Margin(shares, np.concatenate([ordered[:1], ordered, ordered[-1:]]), steps)


def normal_correlations(matrix: Floats) -> Floats:
    """Return the correlations of a normal copula with the rank correlations of the columns.

    >>> same = np.array([[0.1, 0.2], [0.4, 0.5], [0.2, 0.9]])
    >>> normal_correlations(same).round(3).tolist()
    [[1.0, 0.518], [0.518, 1.0]]
    """
    from scipy.stats import rankdata

    ranks = rankdata(matrix, axis=0)
    correlations = 2 * np.sin(np.pi * np.corrcoef(ranks, rowvar=False) / 6)
    sizes, directions = np.linalg.eigh(correlations)
    raised = (directions * np.maximum(sizes, 1e-6)) @ directions.T
    scale = np.sqrt(np.diag(raised))
    return np.asarray(raised / scale / scale[:, None])


def draw(
    margins: list[Margin], correlations: Floats, *, queries: int, sets: int, rng: np.random.Generator
) -> Floats:
    """Draw the scores of runs with a given rank correlation: sets x queries x runs."""
    from scipy.special import ndtr

    root = np.linalg.cholesky(correlations)
    shares = ndtr(rng.standard_normal((sets, queries, len(margins))) @ root.T)
    return np.stack([margin.at(shares[:, :, column]) for column, margin in enumerate(margins)], axis=2)


class Atoms(NamedTuple):
    """Discrete population of differences: values and probabilities."""

    values: Floats
    weights: Floats

    @property
    def skewness(self) -> float:
        """Return the third central moment divided by the cubed standard deviation."""
        deviations = self.values - self.weights @ self.values
        return float((self.weights @ deviations**3) / (self.weights @ deviations**2) ** 1.5)

    def draw(self, queries: int, sets: int, rng: np.random.Generator) -> Floats:
        """Draw queries x sets."""
        positions = rng.choice(len(self.values), size=(queries, sets), p=self.weights)
        return np.asarray(self.values[positions])


def shifted(differences: Floats) -> Atoms:
    """Return the differences minus their mean, with equal probabilities: mean 0, same shape."""
    size = len(differences)
    return Atoms(differences - differences.mean(), np.full(size, 1 / size))


def tilted(differences: Floats) -> Atoms | None:
    """Return the differences with the probabilities closest to uniform that give mean 0.

    >>> found = tilted(np.array([0.1, 0.2, -0.2, -0.3, 0.1]))
    >>> abs(float(found.values @ found.weights)) < 1e-12
    True
    """
    from scipy.optimize import brentq

    if not (differences.min() < 0 < differences.max()):
        return None
    scaled = differences / np.abs(differences).max()

    def weights(tilt: float) -> Floats:
        exponents = tilt * scaled
        raised = np.exp(exponents - exponents.max())
        return np.asarray(raised / raised.sum())

    limit = 200.0
    if weights(limit) @ scaled < 0 or weights(-limit) @ scaled > 0:
        return None
    probabilities = weights(brentq(lambda tilt: float(weights(tilt) @ scaled), -limit, limit, xtol=1e-14))
    worth = 1 / (probabilities**2).sum()
    return Atoms(differences, probabilities) if worth >= LEAST_WEIGHT * len(differences) else None


def best_runs(matrix: Floats, *, share: float = 0.75) -> Floats:
    """Return the columns of the best runs by mean, excluding broken runs."""
    order = np.argsort(-matrix.mean(axis=0), kind="stable")
    return np.asarray(matrix[:, order[: max(2, round(share * matrix.shape[1]))]])


def populations(differences: Floats, truth: float = 0.0) -> dict[str, Atoms]:
    """Return populations of differences with a given mean, by name; those that exist.

    >>> found = populations(np.array([0.1, 0.2, -0.2, -0.3, 0.1]), -0.02)
    >>> [round(float(one.values @ one.weights), 9) for one in found.values()]
    [-0.02, -0.02, -0.02]
    """
    signed = np.concatenate([differences, -differences])
    by_name = {
        "exchangeable": Atoms(signed, np.full(len(signed), 1 / len(signed))),
        "tilted": tilted(differences - truth),
        "shifted": shifted(differences),
    }
    return {name: Atoms(one.values + truth, one.weights) for name, one in by_name.items() if one is not None}


def real_pairs(
    matrices: Mapping[str, Floats], pairs: int, rng: np.random.Generator
) -> Iterator[tuple[str, Floats]]:
    """Draw pairs of the best runs of every matrix, each with its measure."""
    for name, matrix in matrices.items():
        for values in random_pairs(best_runs(matrix), pairs, rng):
            yield measure_of(name), values


def random_pairs(matrix: Floats, number: int, rng: np.random.Generator) -> list[Floats]:
    """Draw pairs of runs, queries x 2 each, that differ on at least ten queries."""
    first, second = np.triu_indices(matrix.shape[1], k=1)
    pairs: list[Floats] = []
    for index in rng.permutation(len(first)).tolist():
        pair = matrix[:, [first[index], second[index]]]
        if rng.random() < 0.5:
            pair = pair[:, ::-1]
        if (pair[:, 0] != pair[:, 1]).sum() >= LEAST_DIFFERING:
            pairs.append(pair)
        if len(pairs) == number:
            break
    return pairs


def read_matrices(folder: str) -> dict[str, Floats]:
    """Return the matrices of a folder by name, COLLECTION_MEASURE, as queries x runs."""
    matrices: dict[str, Floats] = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".tsv"):
            record_input(path)
            with open(path, encoding="utf-8", newline="") as file:
                head, *rows = csv.reader(file, delimiter="\t")
            if head[0] == "topic_row":
                matrices[name.removesuffix(".tsv")] = _numbers(rows, path)
    if not matrices:
        raise InputError(
            "no score matrix here. Name the files COLLECTION_MEASURE.tsv, and the first column topic_row.",
            path=folder,
        )
    return matrices


def _numbers(rows: list[list[str]], path: str) -> Floats:
    try:
        return np.array([row[1:] for row in rows], dtype=np.float64)
    except ValueError:
        raise InputError(
            "each row must have a score for every run, and all must be numbers", path=path
        ) from None


def measure_of(name: str) -> str:
    """Return the measure in the name of a matrix.

    >>> measure_of("trec7-adhoc_p10")
    'p10'
    """
    return name.rpartition("_")[2]
