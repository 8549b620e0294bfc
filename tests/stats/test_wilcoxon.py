"""Wilcoxon's signed-rank test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import edges, holed, smooth, stepped
from scipy import stats

from leadline.errors import UsageError
from leadline.stats import Alternative
from leadline.stats.paired_tests import Wilcoxon


def enumerated(differences: list[float], zeros: str = "drop", side: int = 0) -> float:
    """Go through all signs of the mid-ranks of the differences that are not 0."""
    kept = [one for one in differences if one or zeros == "pratt"]
    ranks = [
        sum(abs(other) < abs(one) for other in kept) + (sum(abs(other) == abs(one) for other in kept) + 1) / 2
        for one in kept
    ]
    signed = [(rank, one) for rank, one in zip(ranks, kept, strict=True) if one]
    middle = sum(rank for rank, _ in signed) / 2
    seen = sum(rank for rank, one in signed if one > 0) - middle
    sums = [
        sum(rank for (rank, _), taken in zip(signed, signs, strict=True) if taken) - middle
        for signs in product((False, True), repeat=len(signed))
    ]
    if side:
        return sum(side * total >= side * seen for total in sums) / len(sums)
    return sum(abs(total) >= abs(seen) for total in sums) / len(sums)


def test_five_equal_differences_have_the_exact_p() -> None:
    assert Wilcoxon().p([0.1, 0.1, 0.1, 0.1, 0.1]) == 2 / 32
    # ranks 1, 3.5, 3.5, 3.5, 3.5; those below 0 sum to 1: the patterns of sum 0, 1, 14 and 15
    assert Wilcoxon().p([0.1, 0.1, 0.1, 0.1, -0.05]) == 4 / 32


@pytest.mark.parametrize("zeros", ["drop", "pratt"])
@given(values=st.lists(st.integers(-4, 4), min_size=1, max_size=11))
def test_with_ties_and_zeros_it_equals_enumeration(zeros: str, values: list[int]) -> None:
    differences = [value / 10 for value in values]
    test = Wilcoxon(zeros=zeros)
    if not any(values):
        assert test.p(differences) == 1.0
        return
    assert test.p(differences) == pytest.approx(enumerated(values, zeros), rel=1e-12)  # type: ignore[arg-type]
    for side, alternative in ((1, "greater"), (-1, "less")):
        expected = enumerated(values, zeros, side)  # type: ignore[arg-type]
        found = test.p(differences, alternative=alternative)  # type: ignore[arg-type]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("queries", [1, 7, 20, 50, 120, 200])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_ties_it_equals_scipys_exact_form(queries: int, alternative: Alternative) -> None:
    differences = smooth(queries, 3)
    expected = stats.wilcoxon(differences, method="exact", alternative=alternative).pvalue
    found = Wilcoxon().p_values(differences, alternative=alternative)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(("zeros", "theirs"), [("drop", "wilcox"), ("pratt", "pratt")])
def test_beyond_two_hundred_it_equals_scipys_normal_form(
    zeros: str, theirs: str, alternative: Alternative
) -> None:
    tied = np.vstack([stepped(260, 5), np.full((2, 5), 0.3), np.zeros((1, 5))])
    for differences in (smooth(201, 5), tied):
        # tenths that come of a sum stand apart in the last bit; SciPy is given them in whole numbers
        whole = np.round(differences * 10) if differences is tied else differences
        expected = stats.wilcoxon(whole, zero_method=theirs, method="asymptotic", alternative=alternative)
        found = Wilcoxon(zeros=zeros).p_values(differences, alternative=alternative)
        np.testing.assert_allclose(found, expected.pvalue, rtol=1e-9)


def test_exact_and_normal_forms_meet() -> None:
    differences = np.round(smooth(200, 6), 2)
    expected = stats.wilcoxon(np.round(differences * 100), method="asymptotic").pvalue
    np.testing.assert_allclose(Wilcoxon().p_values(differences), expected, atol=2e-3)


def test_groups_are_refused_and_the_tests_that_take_them_named() -> None:
    with pytest.raises(UsageError, match="Bootstrap, Random"):
        Wilcoxon().p_values(smooth(4), groups=np.arange(4))


@pytest.mark.parametrize("queries", [1, 3, 10, 200, 201, 400])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_no_p_is_below_the_smallest(queries: int, alternative: Alternative) -> None:
    values = np.linspace(1, 2, queries)
    found = Wilcoxon().p(values, alternative=alternative)
    assert found >= Wilcoxon().smallest(queries, alternative) > 0
    if queries <= 200:
        assert found == pytest.approx(Wilcoxon().smallest(queries, alternative))


@pytest.mark.parametrize("queries", [5, 20, 45])
def test_dropped_zeros_leave_it_exact(queries: int) -> None:
    differences = smooth(queries)[:, 0]
    with_zeros = np.concatenate([differences, np.zeros(4)])
    assert Wilcoxon().p(with_zeros) == Wilcoxon().p(differences)


def test_pratt_counts_zeros_against_the_difference() -> None:
    values = [0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4, -0.25]
    assert Wilcoxon(zeros="pratt").p(values) != Wilcoxon().p(values)
    assert Wilcoxon(zeros="pratt").p(values) == pytest.approx(enumerated(values, "pratt"))


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
    assert up.tolist() == down.tolist() == [2 / 2**7]


def test_other_rules_for_zeros_are_refused() -> None:
    with pytest.raises(UsageError, match="zeros must be drop or pratt, not zsplit"):
        Wilcoxon(zeros="zsplit")
