"""Correlation of HSA, DO and a competing predictor with the quality of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.results import plain
from leadline.estimation.score_histograms.bins import overlap, slope
from leadline.stats.resampling import interval
from leadline_studies.common.tracking import COEFFICIENTS


def tracked(
    quality: Floats,
    counts: Mapping[str, Floats],
    rivals: Mapping[str, Floats],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Correlate HSA, DO and competitors with mean quality over models, with bootstrap over queries.

    >>> found = tracked(
    ...     np.array([[0.1], [0.2], [0.4]]),
    ...     {"q": np.array([[[[1, 1], [1, 1]]], [[[1, 2], [1, 1]]], [[[1, 8], [1, 1]]]], dtype=float)},
    ...     {"r": np.array([3.0, 1.0, 2.0])}, draws=0,
    ... )
    >>> [round(found["columns"][name]["pearson"]["value"], 3) for name in ("HSA q", "r")]
    [1.0, -0.327]
    """
    size = quality.shape[1]
    rng = np.random.default_rng([seed, 5])
    times = np.ones((1 + draws, size))  # the first row is what was found
    for row in times[1:]:
        row[:] = np.bincount(rng.integers(0, size, size), minlength=size)
    truth = times @ quality.T / size
    columns = _columns(times, counts, rivals)
    found = {
        name: {
            kind: np.array([_over_known(one, *pair) for pair in zip(truth, values, strict=True)])
            for kind, one in COEFFICIENTS.items()
        }
        for name, values in columns.items()
    }
    return {
        "columns": {
            name: {kind: _spread(values) for kind, values in one.items()}
            | {"undefined": int(np.isnan(columns[name][0]).sum())}
            for name, one in found.items()
        },
        "closer": {
            name: {
                rival: {
                    kind: _spread(np.abs(found[f"HSA {name}"][kind]) - np.abs(found[rival][kind]))
                    for kind in COEFFICIENTS
                }
                for rival in rivals
            }
            for name in counts
        },
    }


def _columns(times: Floats, counts: Mapping[str, Floats], rivals: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return every column: draws x models."""
    found: dict[str, Floats] = {}
    for name, tables in counts.items():
        pooled = np.stack([np.tensordot(times, table, axes=1) for table in tables], axis=1)
        found[f"HSA {name}"] = slope(pooled[:, :, 0], pooled[:, :, 1])
        found[f"DO {name}"] = overlap(pooled[:, :, 0], pooled[:, :, 1])
    return found | {name: np.tile(values, (len(times), 1)) for name, values in rivals.items()}


def _over_known(coefficient: Any, truth: Floats, values: Floats) -> float:
    known = ~np.isnan(values)
    return float(coefficient(truth[known], values[known])) if known.sum() > 2 else float("nan")


def _spread(values: Floats) -> dict[str, float | None]:
    low, high = interval(values[1:])
    return {"value": plain(float(values[0])), "low": plain(low), "high": plain(high)}
