"""tau-AP with ties: by hand, loops, and the values of the authors' package."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.stats.correlation import ROWS, tau_ap, tau_ap_b

# Test data of the R package ircor by the authors, with its values to four digits.
PUBLISHED = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        (0.8519, 0.8333, 0.7321),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        (0.2504, 0.2880, 0.297),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        (-0.6971, -0.668, -0.7047),
    ),
]


def one_way(x: list[float], y: list[float]) -> float:
    """Return the half of tau-AP,b in which y is the ranking that is read from the top."""
    shares = []
    for i, value in enumerate(y):
        above = [j for j, other in enumerate(y) if other > value]
        if above:
            shares.append(sum(x[j] > x[i] for j in above) / len(above))
    return 2 * sum(shares) / len(shares) - 1 if shares else math.nan


@pytest.mark.parametrize(("x", "y", "tied_x", "tied_y", "values"), PUBLISHED)
def test_the_values_are_those_of_the_authors(
    x: list[float], y: list[float], tied_x: list[float], tied_y: list[float], values: tuple[float, ...]
) -> None:
    columns = [np.array(column, dtype=np.float64) for column in (x, y, tied_x, tied_y)]
    found = tau_ap_b(columns[0], columns[1]), tau_ap_b(columns[2], columns[3])
    assert found == pytest.approx(values[1:], abs=5e-5)
    assert tau_ap(columns[1], columns[0]) == pytest.approx(values[0], abs=5e-5)
    assert tau_ap_b(columns[3], columns[2]) == found[1]


@given(rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
def test_b_is_a_loop_over_systems(rows: list[tuple[int, int]]) -> None:
    x, y = (list(map(float, column)) for column in zip(*rows, strict=True))
    wanted = (one_way(x, y) + one_way(y, x)) / 2
    found = tau_ap_b(np.array(x), np.array(y))
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    of_rows = ROWS["tau_ap_b"](np.array([x, y]), np.array([y, x]))
    assert of_rows.tolist() == pytest.approx([wanted] * 2, abs=1e-12, nan_ok=True)


def test_copies_of_a_system_do_not_agree_with_each_other() -> None:
    x, y = np.array([3.0, 2.0, 1.0]), np.array([2.0, 3.0, 1.0])
    once = tau_ap_b(x, y, np.array([1, 1, 1]))
    assert once == tau_ap_b(x, y) == pytest.approx(0.0)  # shares 0 and 1 in both directions
    # the first twice: by x the second has two above, none rightly; the last has three, all rightly
    twice = tau_ap_b(x, y, np.array([2, 1, 1]))
    # by y the two copies have one above, wrongly; the last has three, rightly
    assert twice == pytest.approx(((2 * (0 + 1) / 2 - 1) + (2 * (0 + 0 + 1) / 3 - 1)) / 2)


def test_a_ranking_of_one_level_has_no_agreement() -> None:
    assert math.isnan(tau_ap_b(np.array([1.0, 2.0]), np.array([1.0, 1.0])))
