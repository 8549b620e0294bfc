"""Estimates of one measure for many runs at once: what the draw does not change is computed once.

The numbers are those of `leadline.estimation.estimators`, run by run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.measure_targets import (
    AveragePrecision,
    Cascade,
    Kind,
    Linear,
    Ratio,
    attention,
    cascade,
)
from leadline.estimation.sampling_errors import MOST_DEGREES


class Trial(NamedTuple):
    """Estimates of all runs from one draw.

    Attributes
    ----------
    values, variances : ndarray of float64, shape (n_runs,)
        Estimated means and their variances.
    covariance : ndarray of float64, shape (n_runs, n_runs)
        Covariance of the estimated means.
    errors : ndarray of float64, shape (n_runs, n_drawn)
        Error terms of the drawn pairs, from which the degrees of freedom are computed.
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
    covariance: Floats
    errors: Floats
    spare: Floats
    guessed: Floats
    doubt: Floats
    lower: Floats
    upper: Floats

    @property
    def variances(self) -> Floats:
        """Variances of the estimated means."""
        return np.diag(self.covariance)

    @property
    def quantiles(self) -> Floats:
        """Quantiles of Student's t for the intervals of the runs."""
        square = self.errors**2
        return _quantiles(square.sum(axis=1), square**2 @ self.spare)

    def quantiles_of_pairs(self, first: Integers, second: Integers) -> Floats:
        """Return the quantiles of Student's t for the intervals of differences of runs."""
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
    """Return the 97.5 % quantiles for variances with estimated variances `noise` / 2 (Satterthwaite)."""
    least = 2 * total**2 / MOST_DEGREES
    degrees = np.where(total > 0, 2 * total**2 / np.maximum(noise, np.where(total > 0, least, 1.0)), 1.0)
    return np.asarray(stdtrit(np.where(total > 0, degrees, MOST_DEGREES), 0.975))


class Stack:
    """Runs joined with the same pairs, cut at the cutoff of a measure and side by side."""

    def __init__(self, kind: Kind, joined: Sequence[JudgedRun]) -> None:
        if isinstance(kind, (AveragePrecision, Ratio)):
            raise UsageError(
                "measures with a divisor are not simulated here; expected a sum, RR, Success or ERR"
            )
        self.kind = kind
        self.runs = len(joined)
        self.queries = len(joined[0].present)
        pairs = len(joined[0].qrels.grades)
        self.owner = joined[0].qrels.query.astype(np.int64)
        cutoff = kind.cutoff
        length = np.array([one.length for one in joined], dtype=np.int64)
        self.length = length if cutoff is None else np.minimum(length, cutoff)
        parts = []
        for run, one in enumerate(joined):
            kept = one.rank <= (cutoff or one.length.max(initial=1))
            columns = [one.query[kept], one.rank[kept] - 1, one.row[kept]]
            parts.append(np.array([np.full(int(kept.sum()), run), *columns], dtype=np.int64))
        self.run, self.query, self.place, self.row = np.concatenate(parts, axis=1)
        self.depth = int(self.length.max(initial=0))
        weight = kind.weights(np.arange(1.0, self.depth + 1))
        total = np.concatenate(([0.0], np.cumsum(weight)))[self.length]
        own = weight[self.place]
        at = self.run * self.queries + self.query
        shape = self.runs, self.queries
        listed = np.bincount(at, own, minlength=self.runs * self.queries).reshape(shape)
        count = np.bincount(at, minlength=self.runs * self.queries).reshape(shape)
        self.complete = count == self.length
        rest = np.where(self.complete, 0.0, np.maximum(total - listed, 0.0))
        scale = np.ones(shape)
        if isinstance(kind, Linear) and kind.share:
            scale = np.where(self.length > 0, 1.0 / np.maximum(self.length, 1), 0.0)
        self.rest = rest * scale
        self.weight = np.zeros((self.runs, pairs))
        self.weight[self.run, self.row] = own * scale[self.run, self.query]
        self.listed = np.flatnonzero((self.weight > 0).any(axis=0))
        self.starts = np.searchsorted(self.owner, np.arange(self.queries))
        self.filled = np.diff(np.append(self.starts, pairs)) > 0

    def of(self, sample: Sample) -> Trial:
        """Estimate the measure of all runs from one sample."""
        kind = self.kind
        estimator = Estimator(sample, kind)
        guessed, outside, top = estimator.guessed, estimator.outside, estimator.top
        drawn = sample.drawn
        p = sample.probability[drawn]
        residual = kind.target.of(sample.table.grades[drawn]) - guessed[drawn]
        error = np.sqrt(1 - p) / p * residual / self.queries
        free = self.listed[sample.probability[self.listed] == 0]
        if isinstance(kind, Cascade):
            values, weight, rest, slopes = self._cascade(kind, estimator.pseudo, outside)
            errors = slopes[:, drawn] * error
            covariance = errors @ errors.T
            if len(estimator.predicted_error):
                *_, slopes = self._cascade(kind, estimator.expected_target, outside)
                predicted = slopes * (estimator.predicted_error / self.queries)
                covariance = (covariance + predicted @ predicted.T) / 2
        else:
            errors = self.weight[:, drawn] * error
            covariance = errors @ errors.T
            weight, rest = self.weight, self.rest
            values = (weight @ estimator.pseudo + rest @ outside) / self.queries
        lower = weight[:, free] * guessed[free] / self.queries
        upper = weight[:, free] * (top - guessed[free]) / self.queries
        doubt = np.stack(
            [
                lower.sum(axis=1) + rest @ outside / self.queries,
                upper.sum(axis=1) + rest @ (top - outside) / self.queries,
            ],
            axis=1,
        )
        guessed_share = self._share(weight, rest, free)
        return Trial(values, covariance, errors, 1 - p, guessed_share, doubt, lower, upper)

    def _by_query(self, columns: Floats) -> Floats:
        """Return sums over the pairs of each query: runs x queries."""
        sums = np.zeros((len(columns), self.queries))
        sums[:, self.filled] = np.add.reduceat(columns, self.starts[self.filled], axis=1)
        return sums

    def _share(self, weight: Floats, rest: Floats, free: Integers) -> Floats:
        """Return the mean over queries of the share of the weight outside the frame."""
        mask = np.zeros(weight.shape[1])
        mask[free] = 1.0
        guessed = self._by_query(weight * mask) + rest
        total = self._by_query(weight) + rest
        return np.asarray(np.where(total > 0, guessed / np.where(total > 0, total, 1.0), 0.0).mean(axis=1))

    def _cascade(self, kind: Cascade, pseudo: Floats, outside: Floats) -> tuple[Floats, ...]:
        """Return values, weights of the pairs and of others, and slopes."""
        inside: Flags = np.arange(self.depth) < self.length[:, :, None]
        table = np.where(inside, outside[None, :, None], 0.0)
        table[self.run, self.query, self.place] = pseudo[self.row]
        weight = kind.weights(np.arange(1.0, self.depth + 1))
        values, slope = cascade(table, weight)
        seen = attention(table, weight, self.length)
        own = np.zeros_like(self.weight)
        own[self.run, self.row] = seen[self.run, self.query, self.place]
        slopes = np.zeros_like(self.weight)
        slopes[self.run, self.row] = slope[self.run, self.query, self.place]
        rest = np.maximum(seen.sum(axis=2) - self._by_query(own), 0.0)
        return values.mean(axis=1), own, np.where(self.complete, 0.0, rest), slopes
