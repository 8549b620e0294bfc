"""Histograms, the overlap and the slope: by hand, against slow twins, and what must not change them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.estimation.histogram_result import bin_of, coarser, edges, overlap, slope

COUNTS = st.integers(2, 8).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(0, 9), min_size=size, max_size=size)] * 2)
)


def slow_overlap(relevant: list[int], nonrelevant: list[int]) -> float:
    """Add logarithms bin by bin."""
    return sum(math.log(min(h)) for h in zip(relevant, nonrelevant, strict=True) if min(h) > 0)


def slow_slope(relevant: list[int], nonrelevant: list[int]) -> float:
    """Fit a line point by point, by the normal equations."""
    points = [
        ((place + 0.5) / len(relevant), math.log(r / n))
        for place, (r, n) in enumerate(zip(relevant, nonrelevant, strict=True))
        if r and n
    ]
    if len(points) < 2:
        return math.nan
    size, x, y = len(points), sum(p[0] for p in points), sum(p[1] for p in points)
    xx, xy = sum(p[0] ** 2 for p in points), sum(p[0] * p[1] for p in points)
    return (size * xy - x * y) / (size * xx - x * x)


def columns(pair: tuple[list[int], list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(pair[0], dtype=np.float64), np.array(pair[1], dtype=np.float64)


def test_an_example_by_hand() -> None:
    # centres 1/8, 3/8, 5/8 (7/8 has no relevant score): ln 1/4, 0, ln 4 on a line of slope ln 4 over 1/4
    relevant, nonrelevant = columns(([1, 3, 4, 0], [4, 3, 1, 2]))
    assert slope(relevant, nonrelevant) == pytest.approx(4 * math.log(4))
    assert overlap(relevant, nonrelevant) == pytest.approx(math.log(1) + math.log(3) + math.log(1))


@given(COUNTS)
def test_the_fast_and_the_slow_way_agree(pair: tuple[list[int], list[int]]) -> None:
    assert slope(*columns(pair)) == pytest.approx(slow_slope(*pair), abs=1e-9, nan_ok=True)
    assert overlap(*columns(pair)) == pytest.approx(slow_overlap(*pair), abs=1e-9)


@given(COUNTS, st.integers(2, 5))
def test_copies_of_the_nonrelevant_scores_leave_hsa_and_not_do(
    pair: tuple[list[int], list[int]], copies: int
) -> None:
    relevant, nonrelevant = columns(pair)
    more = slope(relevant, copies * nonrelevant)
    assert more == pytest.approx(float(slope(relevant, nonrelevant)), abs=1e-9, nan_ok=True)
    assert overlap(relevant, copies * nonrelevant) >= overlap(relevant, nonrelevant)


@given(COUNTS)
def test_a_mirrored_histogram_has_the_negative_slope_and_the_same_overlap(
    pair: tuple[list[int], list[int]],
) -> None:
    relevant, nonrelevant = columns(pair)
    for more in ({}, {"half_counts": True}, {"weighted": True}):
        mirrored = slope(relevant[::-1], nonrelevant[::-1], **more)
        assert mirrored == pytest.approx(-float(slope(relevant, nonrelevant, **more)), abs=1e-9, nan_ok=True)
    assert overlap(relevant[::-1], nonrelevant[::-1]) == pytest.approx(float(overlap(relevant, nonrelevant)))


def test_fewer_than_two_supported_bins_have_no_slope_and_perfect_separation_no_overlap() -> None:
    apart = columns(([0, 0, 5], [9, 0, 0]))
    assert np.isnan(slope(*apart))
    assert overlap(*apart) == 0
    assert np.isnan(slope(*columns(([2, 0], [3, 0]))))
    # with half counts both bins that anything reached count: ln(5.5/.5) - ln(.5/9.5) over 2/3
    assert slope(*apart, half_counts=True) == pytest.approx(1.5 * (math.log(11) + math.log(19)))


def test_weights_are_the_inverse_variance_of_the_log_ratio() -> None:
    relevant, nonrelevant = columns(([1, 2, 6], [4, 2, 1]))
    weight = relevant * nonrelevant / (relevant + nonrelevant)
    expected = np.polyfit([1 / 6, 3 / 6, 5 / 6], np.log(relevant / nonrelevant), 1, w=weight**0.5)
    assert slope(relevant, nonrelevant, weighted=True) == pytest.approx(expected[0])


@given(st.integers(1, 300), st.data())
def test_ranks_fall_where_exact_arithmetic_puts_them(bins: int, data: st.DataObject) -> None:
    below = data.draw(st.integers(1, 1000))
    above = data.draw(st.integers(0, below))
    expected = min(int(Fraction(above, below) * bins), bins - 1)
    assert bin_of(np.array([above / below]), bins).tolist() == [expected]


def test_the_histogram_of_numpy_misplaces_ranks_and_this_one_does_not() -> None:
    values = np.arange(51) / 50
    assert bin_of(values[:-1], 50).tolist() == list(range(50))
    assert np.histogram(values, bins=50, range=(0, 1))[0].tolist() != [1] * 49 + [2]


def test_coarser_histograms_are_those_of_coarser_bins() -> None:
    values = np.random.default_rng(0).integers(0, 401, 500) / 400
    fine = np.bincount(bin_of(values, 200), minlength=200).astype(np.float64)
    for bins in (5, 10, 20, 50, 100):
        whole = np.bincount(bin_of(values, bins), minlength=bins)
        assert coarser(fine, bins).tolist() == whole.tolist()
        assert edges(bins).tolist() == edges(200)[:: 200 // bins].tolist()
