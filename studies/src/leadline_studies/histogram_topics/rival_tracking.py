"""Correlation of HSA, DO and a competing predictor with the quality of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.estimation.histogram_result import overlap, slope
from leadline.stats.moments import weights
from leadline_studies.common.tables import correlated, estimated
from leadline_studies.common.tracking import COEFFICIENTS


def correlate_predictors(
    quality: Floats,
    counts: Mapping[str, Floats],
    competitors: Mapping[str, Floats],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Correlate HSA, DO and competitors with mean quality over models, with bootstrap over queries.

    >>> result = correlate_predictors(
    ...     np.array([[0.1], [0.2], [0.4]]),
    ...     {"q": np.array([[[[1, 1], [1, 1]]], [[[1, 2], [1, 1]]], [[[1, 8], [1, 1]]]], dtype=float)},
    ...     {"r": np.array([3.0, 1.0, 2.0])}, draws=0,
    ... )
    >>> [round(result["columns"][name]["pearson"]["value"], 3) for name in ("HSA q", "r")]
    [1.0, -0.327]
    """
    size = quality.shape[1]
    times = np.ones((1 + draws, size))  # the first row is what was found
    times[1:] = weights(np.random.default_rng([seed, 5]), draws, size)
    truths = times @ quality.T / size
    columns = _columns(times, counts, competitors)
    drawn = {
        (name, kind): np.array(
            [correlated(coefficient, *pair, 3) for pair in zip(truths, values, strict=True)]
        )
        for name, values in columns.items()
        for kind, coefficient in COEFFICIENTS.items()
    }

    def lead(name: str, rival: str) -> dict[str, Any]:
        own = f"HSA {name}"
        return {kind: _found(np.abs(drawn[own, kind]) - np.abs(drawn[rival, kind])) for kind in COEFFICIENTS}

    return {
        "columns": {
            name: {kind: _found(drawn[name, kind]) for kind in COEFFICIENTS}
            | {"undefined": int(np.isnan(values[0]).sum())}
            for name, values in columns.items()
        },
        "closer": {name: {rival: lead(name, rival) for rival in competitors} for name in counts},
    }


def _found(values: Floats) -> dict[str, float | None]:
    return estimated(float(values[0]), values[1:])


def _columns(
    times: Floats, counts: Mapping[str, Floats], competitors: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return every column: draws x models."""
    columns: dict[str, Floats] = {}
    for name, tables in counts.items():
        pooled = np.stack([np.tensordot(times, table, axes=1) for table in tables], axis=1)
        columns[f"HSA {name}"] = slope(pooled[:, :, 0], pooled[:, :, 1])
        columns[f"DO {name}"] = overlap(pooled[:, :, 0], pooled[:, :, 1])
    return columns | {name: np.tile(values, (len(times), 1)) for name, values in competitors.items()}
