"""Model of the grades in a pool: how they fall with the ranks of the runs, for each query apart.

One regression per level of the grade gives the probability that a pair which has reached the level below
reaches this one (continuation ratios). Its coefficients are common to all queries; each query has its own
level and slope.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers

ROUNDS = 25
FIRST_AVERAGED = 3  # round from which probabilities are averaged over the posterior
FIRST_VARIANCES = 2  # round from which the variances are estimated
LARGEST_LOGIT = 12.0
LARGEST_STEP = 3.0
MOST_VARIANCE = 25.0  # of a logit, in the averages
LEAST_WEIGHT = 1e-5
WIDE = 9.0  # prior variance of the coefficients of intercept and ranks
PRIOR = 0.25  # prior mean of the estimated variances of coefficients, and of the slopes of queries
PRIOR_LEVEL = 1.0  # the same of the levels of queries
PRIOR_SIZE = 3.0  # weight of these, in coefficients or queries
VOTE_CELLS = (3, 6, 11, 21, 41)  # first rank by votes of each cell after the first
CENTRES = (2.3, 2.0, 2.0)  # of the logarithms: rank by votes, best rank, and rank by votes in the slope


class Features(NamedTuple):
    """What the grade of a pair is predicted from."""

    common: Floats  # features with the same coefficients in all queries (n_pairs x n_features)
    # group of each feature: 0 with a wide prior; the coefficients of each other group have one variance,
    # which is estimated
    group: Integers
    # features with coefficients of their own in each query: 1 and the rank by votes (n_pairs x 2)
    own: Floats

    def rows(self, kept: Flags | Integers) -> Features:
        """Return the features of some pairs."""
        return Features(self.common[kept], self.group, self.own[kept])


def features_of(
    votes: Floats, best: Integers, ranks: Integers, cutoff: int | None, cell: Integers, cells: int
) -> Features:
    """Return the features of the pairs of a pool."""
    logs = np.log(votes), np.log(best)
    columns = [np.ones(len(votes)), logs[0] - CENTRES[0], logs[1] - CENTRES[1]]
    place = np.searchsorted(VOTE_CELLS, votes, side="right")
    columns += [(place == number).astype(np.float64) for number in range(len(VOTE_CELLS) + 1)]
    columns.append((best > (np.inf if cutoff is None else cutoff)).astype(np.float64))
    group = [0] * 3 + [1] * (len(columns) - 3)
    if ranks.shape[1] > 1:
        listed = np.maximum(ranks, 1)
        columns += list(np.where(ranks > 0, 1.0 / np.log2(1.0 + listed), 0.0).T)
        group += [2] * ranks.shape[1]
    if cells > 1:
        columns += [(cell == number).astype(np.float64) for number in range(cells)]
        group += [3] * cells
    own = np.stack([np.ones(len(votes)), logs[0] - CENTRES[2]], axis=1)
    return Features(np.stack(columns, axis=1), np.array(group, dtype=np.int64), own)


class GradeModel(NamedTuple):
    """Fitted model of one level: normal approximation of its posterior."""

    common: Floats  # coefficients common to all queries
    own: Floats  # level and slope of each query (n_queries x 2)
    precision: Floats  # posterior precision of `common` (n_features x n_features)
    own_covariance: Floats  # posterior covariance of level and slope, given `common` (n_queries x 2 x 2)
    # decrease of level and slope per increase of each common coefficient (n_queries x n_features x 2)
    shift: Floats

    def draws(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return draws from the posterior: features x size, and queries x 2 x size."""
        root = np.linalg.cholesky(self.precision)
        moves = np.linalg.solve(root.T, rng.standard_normal((len(self.common), size)))
        noise = np.linalg.cholesky(self.own_covariance) @ rng.standard_normal((len(self.own), 2, size))
        own = self.own[:, :, None] + noise - np.einsum("qfi,fs->qis", self.shift, moves)
        return self.common[:, None] + moves, own


def probabilities(features: Features, query: Integers, common: Floats, own: Floats) -> Floats:
    """Return the probability of the level for each pair and draw."""
    logit = features.common @ common
    for column in range(2):
        logit += features.own[:, column, None] * own[query, column]
    np.clip(logit, -LARGEST_LOGIT, LARGEST_LOGIT, out=logit)
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def fit(features: Features, query: Integers, queries: int, reached: Flags) -> GradeModel:
    """Fit the model of one level by penalized logistic regression with two random effects per query.

    Probabilities are averaged over the normal approximation of the posterior, not taken at its mode;
    variances of the effects and of groups of coefficients are estimated (EM).
    """
    f, group, z = features
    target = reached.astype(np.float64)
    common: Floats = np.zeros(f.shape[1])
    own: Floats = np.zeros((queries, 2))
    mean = min(max((target.sum() + 0.5) / (len(target) + 1.0), 0.01), 0.99)
    common[0] = math.log(mean / (1.0 - mean))
    variance: Floats = np.array([WIDE, PRIOR, PRIOR, PRIOR])[group]
    prior = np.diag([PRIOR_LEVEL, PRIOR])
    spread = prior.copy()
    starts = np.flatnonzero(np.diff(query, prepend=-1))

    def by_query(rows: Floats) -> Floats:
        """Return sums of rows by query."""
        total = np.zeros((queries, *rows.shape[1:]))
        if len(starts):
            total[query[starts]] = np.add.reduceat(rows, starts, axis=0)
        return total

    covariance: Floats = np.zeros(0)
    own_covariance = shift = precision = covariance
    for number in range(ROUNDS):
        logit = np.clip(f @ common + (z * own[query]).sum(axis=1), -LARGEST_LOGIT, LARGEST_LOGIT)
        slope: Floats | float = 1.0
        if number >= FIRST_AVERAGED:
            left = f - shift[query, :, 0] * z[:, :1] - shift[query, :, 1] * z[:, 1:]
            doubt = ((left @ covariance) * left).sum(axis=1)
            doubt += np.einsum("ni,nij,nj->n", z, own_covariance[query], z)
            slope = 1.0 / np.sqrt(1.0 + math.pi / 8.0 * np.minimum(doubt, MOST_VARIANCE))
        mu: Floats = 1.0 / (1.0 + np.exp(-slope * logit))
        weight = np.maximum(slope * mu * (1.0 - mu), LEAST_WEIGHT)
        inverse = np.linalg.inv(spread)
        weighted = weight[:, None] * z
        cross = np.stack([by_query(f * weighted[:, one, None]) for one in range(2)], axis=2)
        own_covariance = np.asarray(np.linalg.inv(by_query(weighted[:, :, None] * z[:, None, :]) + inverse))
        shift = cross @ own_covariance
        precision = (f * weight[:, None]).T @ f + np.diag(1.0 / variance)
        precision -= np.tensordot(shift, cross, axes=((0, 2), (0, 2)))
        precision = (precision + precision.T) / 2.0
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        pull = f.T @ (target - mu) - common / variance
        own_pull = by_query(z * (target - mu)[:, None]) - own @ inverse
        step = covariance @ (pull - np.tensordot(shift, own_pull, axes=((0, 2), (0, 1))))
        own_step = np.einsum("qij,qj->qi", own_covariance, own_pull - np.tensordot(cross, step, axes=(1, 0)))
        largest = max(float(np.abs(step).max()), float(np.abs(own_step).max(initial=0.0)), 1e-9)
        share = min(1.0, LARGEST_STEP / largest)
        common, own = common + share * step, own + share * own_step
        if number >= FIRST_VARIANCES:
            turned = shift.transpose(0, 2, 1)
            known = own_covariance + turned @ covariance @ shift
            spread = (own.T @ own + known.sum(axis=0) + PRIOR_SIZE * prior) / (queries + PRIOR_SIZE)
            for one in range(1, 4):
                kept = group == one
                squares = float((common[kept] ** 2).sum() + np.diag(covariance)[kept].sum())
                variance[kept] = (squares + PRIOR_SIZE * PRIOR) / (int(kept.sum()) + PRIOR_SIZE)
    return GradeModel(common, own, precision, own_covariance, shift)
