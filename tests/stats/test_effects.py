"""Outcomes and sizes of effects."""

from __future__ import annotations

import numpy as np
import pytest
from samples import edges, holed, smooth, stepped

from leadline.stats.power import outcomes, standardised


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


@pytest.mark.parametrize(
    ("name", "counts", "effect"),
    [
        ("no query", [0, 0, 0], np.nan),
        ("all undefined", [0, 0, 0], np.nan),
        ("one query", [1, 0, 0], np.nan),
        ("one defined", [1, 0, 0], np.nan),
        ("identical runs", [0, 7, 0], 0.0),
        ("constant", [7, 0, 0], np.nan),
        ("constant below", [0, 0, 7], np.nan),
    ],
)
def test_edges(name: str, counts: list[int], effect: float) -> None:
    differences = edges()[name]
    assert [int(count[0]) for count in outcomes(differences)] == counts
    np.testing.assert_array_equal(standardised(differences), [effect])
