"""Count, mean and deviation of columns."""

from __future__ import annotations

import numpy as np
import pytest
from samples import edges, holed, smooth

from leadline.stats.moments import moments


def test_they_equal_numpy_where_queries_are_missing() -> None:
    values = holed(smooth(40, 12))
    found = moments(values)
    assert found.number.tolist() == (~np.isnan(values)).sum(axis=0).tolist()
    np.testing.assert_allclose(found.mean, np.nanmean(values, axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.deviation, np.nanstd(values, axis=0, ddof=1), rtol=1e-13)
    np.testing.assert_allclose(found.error, found.deviation / np.sqrt(found.number), rtol=1e-15)


@pytest.mark.parametrize("value", [0.1, -0.7, 1 / 3, 1e-300, 1e9])
@pytest.mark.parametrize("queries", [2, 3, 7, 1000])
def test_equal_values_have_deviation_zero_whatever_their_sum_rounds_to(value: float, queries: int) -> None:
    assert moments(np.full((queries, 1), value)).deviation.tolist() == [0.0]


def test_a_small_spread_around_a_large_mean_is_no_rounding() -> None:
    found = moments(np.array([[1.0], [1.0 + 1e-9], [1.0 - 1e-9]]))
    assert found.deviation[0] == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "number", "mean", "deviation"),
    [
        ("no query", 0, np.nan, np.nan),
        ("all undefined", 0, np.nan, np.nan),
        ("one query", 1, 0.3, np.nan),
        ("one defined", 1, 0.3, np.nan),
        ("identical runs", 7, 0.0, 0.0),
    ],
)
def test_few_or_equal_values(name: str, number: int, mean: float, deviation: float) -> None:
    found = [float(part[0]) for part in moments(edges()[name])]
    np.testing.assert_array_equal(found, [number, mean, deviation])
