"""Wilcoxon's signed-rank test."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from samples import edges, holed, smooth, stepped
from scipy import stats

from leadline.errors import UsageError
from leadline.statistics.wilcoxon import Wilcoxon


def enumerated(differences: list[float]) -> float:
    """Go through all signs of the ranks; the differences have no ties and no zeros."""
    ranks = range(1, len(differences) + 1)
    ordered = sorted(differences, key=abs)
    middle = sum(ranks) / 2
    seen = abs(sum(rank for rank, one in zip(ranks, ordered, strict=True) if one > 0) - middle)
    sums = [
        sum(rank for rank, taken in zip(ranks, signs, strict=True) if taken)
        for signs in product((False, True), repeat=len(differences))
    ]
    return sum(abs(total - middle) >= seen for total in sums) / len(sums)


@pytest.mark.parametrize("queries", range(1, 11))
@pytest.mark.parametrize("zeros", ["drop", "pratt"])
def test_without_ties_it_is_exact(queries: int, zeros: str) -> None:
    differences = smooth(queries, seed=queries)[:, 0].tolist()
    found = Wilcoxon(zeros=zeros).p(differences)
    assert found == pytest.approx(min(1.0, enumerated(differences)), abs=1e-12)


@pytest.mark.parametrize("queries", [20, 50])
def test_it_equals_scipys_exact_form_up_to_fifty_queries(queries: int) -> None:
    differences = smooth(queries, 5)
    expected = stats.wilcoxon(differences, method="exact").pvalue
    np.testing.assert_allclose(Wilcoxon().p_values(differences), expected, rtol=1e-12)


def test_it_equals_scipys_normal_form_above_fifty_queries() -> None:
    differences = smooth(51, 5)
    expected = stats.wilcoxon(differences, method="asymptotic").pvalue
    np.testing.assert_allclose(Wilcoxon().p_values(differences), expected, rtol=1e-12)


@pytest.mark.parametrize("queries", [6, 13, 14, 40, 80])
@pytest.mark.parametrize(("zeros", "theirs"), [("drop", "wilcox"), ("pratt", "pratt")])
def test_with_ties_it_equals_scipys_normal_form(queries: int, zeros: str, theirs: str) -> None:
    differences = np.vstack([stepped(queries, 5), np.full((2, 5), 0.3), np.zeros((1, 5))])
    # tenths that come of a sum stand apart in the last bit; SciPy is given them in whole numbers
    expected = stats.wilcoxon(np.round(differences * 10), zero_method=theirs, method="asymptotic")
    found = Wilcoxon(zeros=zeros).p_values(differences)
    np.testing.assert_allclose(found, expected.pvalue, rtol=1e-12)


def test_the_normal_form_by_hand() -> None:
    # ranks of |d|: 1.5, 1.5, 3, 4; those above 0 sum to 8.5; mean 5, variance (180 - 6 / 2) / 24
    deviation = math.sqrt((4 * 5 * 9 - (2**3 - 2) / 2) / 24)
    expected = 2 * stats.norm.sf((8.5 - 5) / deviation)
    assert Wilcoxon().p([0.1, -0.1, 0.2, 0.4]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("queries", [5, 20, 45])
def test_dropped_zeros_leave_it_exact(queries: int) -> None:
    differences = smooth(queries)[:, 0]
    with_zeros = np.concatenate([differences, np.zeros(4)])
    assert Wilcoxon().p(with_zeros) == Wilcoxon().p(differences)


def test_pratt_counts_zeros_against_the_difference() -> None:
    values = [0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4, -0.05]
    assert Wilcoxon(zeros="pratt").p(values) != Wilcoxon().p(values)
    expected = stats.wilcoxon(values, zero_method="pratt", method="asymptotic").pvalue
    assert Wilcoxon(zeros="pratt").p(values) == pytest.approx(expected, abs=1e-12)


def test_rounding_makes_neither_ranks_nor_signs() -> None:
    assert Wilcoxon().p([0.1 + 0.2 - 0.3, 0.5, 0.25]) == Wilcoxon().p([0.0, 0.5, 0.25])
    assert Wilcoxon().p([0.1 + 0.2, -0.3, 0.5]) == Wilcoxon().p([0.3, -0.3, 0.5])


def test_undefined_queries_are_left_out() -> None:
    differences = holed(smooth(30, 6))
    expected = [Wilcoxon().p(column[~np.isnan(column)]) for column in differences.T]
    assert Wilcoxon().p_values(differences).tolist() == expected


@pytest.mark.parametrize("zeros", ["drop", "pratt"])
def test_edges(zeros: str) -> None:
    test = Wilcoxon(zeros=zeros)
    for name in ("no query", "all undefined"):
        assert np.isnan(test.p_values(edges()[name])).all()
    assert test.p_values(edges()["one query"]).tolist() == [1.0]
    assert test.p_values(edges()["identical runs"]).tolist() == [1.0]
    up, down = test.p_values(edges()["constant"]), test.p_values(edges()["constant below"])
    assert up == pytest.approx(down)
    assert 0 < up[0] < 0.01


def test_other_rules_for_zeros_are_refused() -> None:
    with pytest.raises(UsageError, match="zeros=zsplit in Wilcoxon; expected drop or pratt"):
        Wilcoxon(zeros="zsplit")
