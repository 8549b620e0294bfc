"""Mean ranks, Friedman's test, Nemenyi's critical difference: Demšar's paper, SciPy and slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.statistics.mean_ranks import critical_difference, friedman, mean_ranks

# Table 6 of Demšar (2006): AUC of four variants of C4.5 on 14 data sets.
DEMSAR = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.975, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
# Table 5 (a) of the paper: q for 2 to 10 classifiers at 0.05 and 0.10.
TABLE = {
    0.95: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.90: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


def slow_ranks(values: Floats) -> list[float]:
    """Rank by counting who is better and who is equal, query by query."""
    number, systems = values.shape
    sums = [0.0] * systems
    for row in values.tolist():
        for place, value in enumerate(row):
            better = sum(other > value for other in row)
            equal = sum(other == value for other in row)
            sums[place] += better + (equal + 1) / 2
    return [total / number for total in sums]


def test_demsars_example() -> None:
    assert mean_ranks(DEMSAR).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, confidence=0.90), 2) == 1.12


@pytest.mark.parametrize("confidence", TABLE)
def test_the_table_of_the_paper(confidence: float) -> None:
    for systems, quantile in enumerate(TABLE[confidence], start=2):
        found = critical_difference(systems, 7, confidence=confidence)
        assert found / math.sqrt(systems * (systems + 1) / 42) == pytest.approx(
            quantile, abs=0.0015
        )


tables = st.integers(2, 8).flatmap(
    lambda systems: st.lists(
        st.lists(st.integers(0, 4), min_size=systems, max_size=systems), min_size=1, max_size=9
    )
)


@given(tables)
def test_ranks_are_those_of_the_slow_twin(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=np.float64)
    assert mean_ranks(values).tolist() == pytest.approx(slow_ranks(values))
    assert mean_ranks(values, rising=False).tolist() == pytest.approx(slow_ranks(-values))


@given(tables)
def test_friedman_is_that_of_scipy(rows: list[list[int]]) -> None:
    from scipy.stats import friedmanchisquare

    values = np.array(rows, dtype=np.float64)
    if values.shape[1] < 3:
        return
    found = friedman(values)
    if (values == values[:, :1]).all():
        assert math.isnan(found)
    else:
        assert found == pytest.approx(friedmanchisquare(*values.T).pvalue)


@pytest.mark.parametrize(("systems", "number"), [(1, 5), (3, 0)])
def test_too_little_is_refused(systems: int, number: int) -> None:
    with pytest.raises(UsageError):
        critical_difference(systems, number)
