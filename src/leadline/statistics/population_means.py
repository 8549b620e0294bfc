"""Plausible means of runs over a whole population of queries, given the values of a sample of them."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.statistics._draws import weights


def resampled_pairs(
    x: Floats, y: Floats, draws: int, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return draws of the means of runs by two measures, noisier and as noisy as those of the population.

    The first two are means of resamples of the queries. Their spread over runs holds the error of the sample
    twice, of the queries seen and of those drawn again, so that their correlations are too low on average.

    The other two are simulated from the distribution of the population's means given those of the sample,
    in an empirical Bayes model: the two true means of a run, centred over runs, have covariance T, the means
    seen are these plus an error of covariance E. E is estimated from the residuals of queries, T is what the
    means seen have less E, its negative eigenvalues set to 0. With K = T (T + E)^-1, m the means seen, a mu
    drawn from the model and e an error resampled from the queries, all runs and both measures together, a
    draw is K (m - mu - e) + mu (Matheron's rule). Their correlations tend to be too high.

    Parameters
    ----------
    x, y : ndarray, shape (queries, runs)
        Values of the same queries and runs by each measure; where a measure has only means, they stand in
        every row and have no error.
    draws : int
        Number of draws.
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of four ndarrays, shape (draws, runs)
        Resampled means by x and y, simulated means by x and y (centred over runs).

    References
    ----------
    Efron and Tibshirani (1993), chapter 13; for the model Morris (1983), JASA 78(381).

    """
    queries, runs = x.shape
    both = np.stack([x, y])
    centred = both - both.mean(axis=2, keepdims=True)
    seen = centred.mean(axis=1)
    residuals = centred - seen[:, None]
    error = np.einsum("aqr,bqr->ab", residuals, residuals) / (queries * (queries - 1) * (runs - 1))
    total = seen @ seen.T / (runs - 1)
    values, vectors = np.linalg.eigh(total - error)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    true = root @ root.T
    shrink = true @ np.linalg.pinv(true + error, hermitian=True)
    times = weights(generator, draws, queries) / queries
    errors = (times @ residuals) * np.sqrt(queries / (queries - 1))
    model = np.einsum("ab,bdr->adr", root, generator.normal(size=errors.shape))
    model -= model.mean(axis=2, keepdims=True)
    simulated = np.einsum("ab,bdr->adr", shrink, seen[:, None] - model - errors) + model
    return times @ x, times @ y, simulated[0], simulated[1]
