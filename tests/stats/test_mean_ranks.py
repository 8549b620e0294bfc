"""Mean ranks, Friedman's test, Nemenyi's critical difference: Demšar's paper, SciPy and slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.data.arrays import Floats
from leadline.stats.simultaneous import critical_difference, friedman, mean_ranks

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


def test_the_critical_differences_of_the_papers_example() -> None:
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, confidence=0.90), 2) == 1.12


def test_ranks_worked_by_hand() -> None:
    values = np.array([[0.3, 0.2, 0.2], [0.1, 0.5, 0.4]])
    assert mean_ranks(values).tolist() == [2.0, 1.75, 2.25]
    assert mean_ranks(values, rising=False).tolist() == [2.0, 2.25, 1.75]


@pytest.mark.parametrize("confidence", TABLE)
def test_the_table_of_the_paper(confidence: float) -> None:
    for systems, quantile in enumerate(TABLE[confidence], start=2):
        found = critical_difference(systems, 7, confidence=confidence)
        assert found / math.sqrt(systems * (systems + 1) / 42) == pytest.approx(quantile, abs=0.0015)


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
