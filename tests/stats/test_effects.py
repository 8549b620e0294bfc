"""Outcomes and sizes of effects."""

from __future__ import annotations

import numpy as np
import pytest
from samples import edges, holed, smooth, stepped

from leadline.stats.power import hedges, outcomes, standardised, superiority


def test_outcomes_equal_a_plain_count() -> None:
    differences = holed(stepped(40, 6))
    wins, ties, losses = outcomes(differences)
    for place, column in enumerate(differences.T):
        known = [round(one * 10) for one in column if not np.isnan(one)]
        assert wins[place] == sum(one > 0 for one in known)
        assert ties[place] == known.count(0)
        assert losses[place] == sum(one < 0 for one in known)


def test_rounding_is_a_tie() -> None:
    found = outcomes(np.array([[0.1 + 0.2 - 0.3], [0.3 - 0.2 - 0.1], [1e-9], [-1e-9]]))
    assert [int(count[0]) for count in found] == [1, 2, 1]


def test_the_standardised_difference_is_mean_over_deviation() -> None:
    differences = holed(smooth(40, 6))
    expected = np.nanmean(differences, axis=0) / np.nanstd(differences, axis=0, ddof=1)
    np.testing.assert_allclose(standardised(differences), expected, rtol=1e-12)


def test_hedges_by_hand() -> None:
    # d = 2 / 1 of three queries: 2 (1 - 3 / 7)
    assert hedges(np.array([[1.0], [2.0], [3.0]]))[0] == pytest.approx(8 / 7)
    assert hedges(np.array([[1.0], [2.0]]))[0] == 0.0  # of two queries nothing is left


def test_hedges_and_the_standardised_difference_meet_in_many_queries() -> None:
    differences = smooth(10_000)
    assert hedges(differences)[0] == pytest.approx(standardised(differences)[0], rel=1e-4)


def test_superiority_counts_ties_half() -> None:
    differences = holed(stepped(40, 6))
    for place, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        expected = np.mean([0.5 if one == 0 else float(one > 0) for one in known])
        assert superiority(differences)[place] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "counts", "effect", "share"),
    [
        ("no query", [0, 0, 0], np.nan, np.nan),
        ("all undefined", [0, 0, 0], np.nan, np.nan),
        ("one query", [1, 0, 0], np.nan, 1.0),
        ("one defined", [1, 0, 0], np.nan, 1.0),
        ("identical runs", [0, 7, 0], 0.0, 0.5),
        ("constant", [7, 0, 0], np.nan, 1.0),
        ("constant below", [0, 0, 7], np.nan, 0.0),
    ],
)
def test_edges(name: str, counts: list[int], effect: float, share: float) -> None:
    differences = edges()[name]
    assert [int(count[0]) for count in outcomes(differences)] == counts
    np.testing.assert_array_equal(standardised(differences), [effect])
    np.testing.assert_array_equal(hedges(differences), [effect])
    np.testing.assert_array_equal(superiority(differences), [share])
