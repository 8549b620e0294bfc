"""Correlation of HSA, DO and a competing predictor with the quality of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.records import plain
from leadline.estimation.score_histograms.bins import overlap, slope
from leadline.stats.resampling import interval, weights
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
    truth = times @ quality.T / size
    columns = _columns(times, counts, competitors)
    draws_by_column = {
        name: {
            kind: np.array(
                [_defined_correlation(coefficient, *pair) for pair in zip(truth, values, strict=True)]
            )
            for kind, coefficient in COEFFICIENTS.items()
        }
        for name, values in columns.items()
    }
    return {
        "columns": {
            name: {kind: _with_interval(values) for kind, values in coefficient.items()}
            | {"undefined": int(np.isnan(columns[name][0]).sum())}
            for name, coefficient in draws_by_column.items()
        },
        "closer": {
            name: {
                competitor: {
                    kind: _with_interval(
                        np.abs(draws_by_column[f"HSA {name}"][kind])
                        - np.abs(draws_by_column[competitor][kind])
                    )
                    for kind in COEFFICIENTS
                }
                for competitor in competitors
            }
            for name in counts
        },
    }


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


def _defined_correlation(coefficient: Any, truth: Floats, values: Floats) -> float:
    defined = ~np.isnan(values)
    return float(coefficient(truth[defined], values[defined])) if defined.sum() > 2 else float("nan")


def _with_interval(values: Floats) -> dict[str, float | None]:
    low, high = interval(values[1:])
    return {"value": plain(float(values[0])), "low": plain(low), "high": plain(high)}
