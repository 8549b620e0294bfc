"""How columns follow quality: against SciPy, and by hand where the answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from leadline.estimation.histogram_result import overlap, slope
from leadline_studies.histogram_topics.rival_tracking import correlate_predictors


def made(models: int = 7, queries: int = 12) -> tuple[Any, Any, Any]:
    """Make quality that grows with the model, histograms that part with it, and a rival that falls."""
    rng = np.random.default_rng(1)
    quality = np.linspace(0.2, 0.6, models)[:, None] + rng.normal(0, 0.1, (models, queries))
    counts = np.stack(
        [
            [
                [rng.multinomial(9, weights / weights.sum()), rng.multinomial(30, np.ones(4) / 4)]
                for _ in range(queries)
            ]
            for weights in (np.exp(np.arange(4) * rise) for rise in np.linspace(0, 1.5, models))
        ]
    ).astype(np.float64)
    return quality, counts, np.linspace(900, 300, models) + rng.normal(0, 90, models)


def test_coefficients_are_those_of_scipy() -> None:
    quality, counts, rival = made()
    found = correlate_predictors(quality, {"a": counts}, {"r": rival}, draws=20)
    pooled = counts.sum(axis=1)
    columns = {
        "HSA a": slope(pooled[:, 0], pooled[:, 1]),
        "DO a": overlap(pooled[:, 0], pooled[:, 1]),
        "r": rival,
    }
    for name, values in columns.items():
        for kind, one in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            wanted = one(quality.mean(axis=1), values)[0]
            assert found["columns"][name][kind]["value"] == pytest.approx(wanted)
    gain = found["closer"]["a"]["r"]["pearson"]
    parts = [abs(found["columns"][name]["pearson"]["value"]) for name in ("HSA a", "r")]
    assert gain["value"] == pytest.approx(parts[0] - parts[1])
    assert gain["low"] <= gain["value"] <= gain["high"]


def test_queries_are_drawn_as_a_slow_twin_draws_them() -> None:
    quality, counts, rival = made()
    found = correlate_predictors(quality, {"a": counts}, {"r": rival}, draws=40, seed=3)
    rng = np.random.default_rng([3, 5])
    values = []
    for _ in range(40):
        chosen = rng.integers(0, quality.shape[1], quality.shape[1])
        pooled = counts[:, chosen].sum(axis=1)
        values.append(stats.pearsonr(quality[:, chosen].mean(axis=1), slope(pooled[:, 0], pooled[:, 1]))[0])
    one = found["columns"]["HSA a"]["pearson"]
    assert [one["low"], one["high"]] == pytest.approx(np.quantile(values, [0.025, 0.975]))


def test_models_whose_hsa_is_undefined_are_left_out_and_counted() -> None:
    quality, counts, rival = made()
    counts[2, :, 0, :3] = 0  # all relevant documents in one bin: no line
    found = correlate_predictors(quality, {"a": counts}, {"r": rival}, draws=0)
    one = found["columns"]["HSA a"]
    assert one["undefined"] == 1
    kept = np.arange(7) != 2
    pooled = counts.sum(axis=1)[kept]
    wanted = stats.pearsonr(quality.mean(axis=1)[kept], slope(pooled[:, 0], pooled[:, 1]))[0]
    assert one["pearson"] == {"value": pytest.approx(wanted), "low": None, "high": None}


def test_two_models_say_nothing() -> None:
    quality, counts, rival = made(2)
    found = correlate_predictors(quality, {"a": counts}, {"r": rival}, draws=5)
    assert found["columns"]["HSA a"]["pearson"]["value"] is None
    assert found["closer"]["a"]["r"]["pearson"]["value"] is None
