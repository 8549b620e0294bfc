"""Estimates of one measure for all runs from one draw, and the intervals of all their differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from leadline.data.arrays import Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.measure_targets import AveragePrecision, Kind, Ratio
from leadline.estimation.sampling_errors import MOST_DEGREES
from leadline.estimation.withheld import MOST_GUESSED


class Trial(NamedTuple):
    """Estimated means of all runs; error terms by drawn pair, and the pairs outside the frame.

    Attributes
    ----------
    values : ndarray of float64, shape (n_runs,)
        Estimated means.
    errors : ndarray of float64, shape (n_runs, n_drawn)
        Error terms of the drawn pairs, from which the degrees of freedom are computed.
    predicted : ndarray of float64, shape (n_runs, n_pairs)
        Predicted error terms of all pairs; of no pair for measures that have none.
    spare : ndarray of float64, shape (n_drawn,)
        1 - p of the drawn pairs.
    guessed : ndarray of float64, shape (n_runs,)
        Weight of guessed and unknown pairs.
    doubt : ndarray of float64, shape (n_runs, 2)
        Largest decrease and increase by pairs outside the frame.
    lower, upper : ndarray of float64, shape (n_runs, n_free)
        What each listed pair outside the frame adds to them.
    """

    values: Floats
    errors: Floats
    predicted: Floats
    spare: Floats
    guessed: Floats
    doubt: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, sample: Sample, kind: Kind, joined: Sequence[JudgedRun]) -> Trial:
        """Estimate the measure of all runs from one sample."""
        if isinstance(kind, (AveragePrecision, Ratio)):
            raise UsageError(
                "this study cannot simulate measures with a divisor. Use a sum over ranks, RR, Success or "
                "ERR."
            )
        estimator = Estimator(sample, kind)
        parts = [estimator.of(one) for one in joined]
        pairs = len(sample.probability)
        lower, upper, predicted = np.zeros((3, len(parts), pairs))
        for run, part in enumerate(parts):
            rows, low, high = part.free
            lower[run, rows], upper[run, rows] = low, high
            predicted[run, part.predicted[0]] = part.predicted[1]
        free = np.flatnonzero((sample.probability == 0) & ((lower > 0) | (upper > 0)).any(axis=0))
        return cls(
            np.array([np.nan_to_num(part.values).mean() for part in parts]),
            np.array([part.errors for part in parts]),
            predicted if any(len(part.predicted[0]) for part in parts) else predicted[:, :0],
            1 - sample.probability[sample.drawn],
            np.array([part.shares[2] + part.shares[3] for part in parts]),
            np.array([part.doubt for part in parts]),
            lower[:, free],
            upper[:, free],
        )

    @property
    def covariance(self) -> Floats:
        """Covariance of the estimated means: with predicted terms, the mean of both sums of products."""
        estimated = self.errors @ self.errors.T
        return (estimated + self.predicted @ self.predicted.T) / 2 if self.predicted.size else estimated

    @property
    def half(self) -> Floats:
        """Half-widths of the intervals of the runs."""
        square = self.errors**2
        quantiles = _quantiles(square.sum(axis=1), square**2 @ self.spare)
        return quantiles * np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def pair_limits(
        self, first: Integers, second: Integers, most: Floats | float = MOST_GUESSED
    ) -> tuple[Floats, Floats]:
        """Return how far below and above the estimated difference of each pair its interval reaches.

        `most` is the largest guessed weight of each run with which an interval is given.
        """
        covariance = self.covariance
        own = np.diag(covariance)
        variance = np.maximum(own[first] + own[second] - 2 * covariance[first, second], 0.0)
        beyond = self.doubt - np.stack([self.lower.sum(axis=1), self.upper.sum(axis=1)], axis=1)
        beyond = np.maximum(beyond, 0.0)
        down = self.lower[first] - self.lower[second]
        up = self.upper[first] - self.upper[second]
        loss = (np.maximum(down, 0) + np.maximum(-up, 0)).sum(axis=1) + beyond[first, 0] + beyond[second, 1]
        gain = (np.maximum(up, 0) + np.maximum(-down, 0)).sum(axis=1) + beyond[first, 1] + beyond[second, 0]
        both = self.doubt[first].sum(axis=1) + self.doubt[second].sum(axis=1)
        share = np.where(both > 0, (loss + gain) / np.where(both > 0, both, 1.0), 0.0)
        excess = self.guessed / most
        given = np.maximum(excess[first], excess[second]) * share <= 1.0
        square = self._pair_quantiles(first, second) ** 2 * variance
        known = np.where(given & (variance > 0), 1.0, np.nan)
        return np.sqrt(square + loss**2) * known, np.sqrt(square + gain**2) * known

    def _pair_quantiles(self, first: Integers, second: Integers) -> Floats:
        one, two, three = self.errors, self.errors**2, self.errors**3
        gram = one @ one.T
        cubes, squares = (three * self.spare) @ one.T, (two * self.spare) @ two.T
        own, fourth = np.diag(gram), np.diag(squares)
        total = own[first] + own[second] - 2 * gram[first, second]
        noise = fourth[first] + fourth[second] + 6 * squares[first, second]
        noise -= 4 * (cubes[first, second] + cubes[second, first])
        rounding = 1e-12 * (own[first] + own[second])
        return _quantiles(np.where(total > rounding, total, 0.0), noise)


def _quantiles(total: Floats, noise: Floats) -> Floats:
    """Return the 97.5 % quantiles of Student's t for variances with estimated variances `noise` / 2."""
    least = 2 * total**2 / MOST_DEGREES
    degrees = np.where(total > 0, 2 * total**2 / np.maximum(noise, np.where(total > 0, least, 1.0)), 1.0)
    return np.asarray(stdtrit(np.where(total > 0, degrees, MOST_DEGREES), 0.975))
