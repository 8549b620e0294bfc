"""The sign test, and where it decides for the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import edges, holed, smooth, stepped
from scipy import stats

from leadline.stats import TESTS, Alternative
from leadline.stats.paired_tests import Sign, decided_by_sign


def test_by_hand() -> None:
    assert Sign().p([0.1, 0.3, -0.1, 0.2, 0.2]) == 2 * (1 + 5) / 32
    assert Sign().p([0.1, 0.3, -0.1, 0.2, 0.2], alternative="greater") == (1 + 5) / 32
    assert Sign().p([0.1, 0.3, -0.1, 0.2, 0.2], alternative="less") == (32 - 1) / 32
    assert Sign().p([0.1, 0.0, 0.0, 0.3]) == 2 / 4


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=40))
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_it_is_scipys_binomial_test_without_ties(alternative: Alternative, values: list[int]) -> None:
    wins, losses = sum(value > 0 for value in values), sum(value < 0 for value in values)
    found = Sign().p([value / 10 for value in values], alternative=alternative)
    if wins + losses == 0:
        assert found == 1.0
    else:
        expected = stats.binomtest(wins, wins + losses, 0.5, alternative=alternative).pvalue
        assert found == pytest.approx(expected, rel=1e-9)


def test_rounding_is_no_sign() -> None:
    assert Sign().p([0.1 + 0.2 - 0.3, 0.5]) == Sign().p([0.0, 0.5]) == 1.0


def test_with_groups_it_counts_the_signs_of_their_sums() -> None:
    values = np.array([0.1, -0.2, 0.2, 0.1, 0.4, 0.3, 0.1])[:, None]
    groups = np.array([0, 0, 1, 2, 3, 4, 5])  # -0.1, 0.2, 0.1, 0.4, 0.3, 0.1
    assert Sign().p_values(values, groups=groups)[0] == Sign().p([-0.1, 0.2, 0.1, 0.4, 0.3, 0.1])


def test_undefined_queries_are_left_out() -> None:
    differences = holed(stepped(14, 8))
    expected = [Sign().p(column[~np.isnan(column)]) for column in differences.T]
    assert Sign().p_values(differences).tolist() == expected


@pytest.mark.parametrize("queries", [1, 2, 6, 900])
def test_differences_of_one_sign_have_the_smallest_p(queries: int) -> None:
    values = np.linspace(0.1, 0.2, queries)
    assert Sign().p(values) == pytest.approx(Sign().smallest(queries))
    assert Sign().p(values, alternative="greater") == pytest.approx(Sign().smallest(queries, "greater"))


@pytest.mark.parametrize("name", TESTS.classes)
@pytest.mark.parametrize("value", [0.1, -0.3])
def test_constant_differences_have_its_p_in_every_test(name: str, value: float) -> None:
    test = TESTS.classes[name]()
    for queries in (2, 5, 40):
        values = np.full((queries, 1), value)
        assert decided_by_sign(values).tolist() == [True]
        for alternative in ("two-sided", "less", "greater"):
            expected = Sign().p_values(values, alternative=alternative)
            found = test.p_values(values, alternative=alternative)
            assert found.tolist() == expected.tolist()


def test_it_decides_nowhere_else() -> None:
    assert not decided_by_sign(smooth(5, 4)).any()
    for name, values in edges().items():
        assert decided_by_sign(values).all() == name.startswith("constant")
    # residual sums of groups are all 0, though the differences are not equal
    values, groups = np.tile([[0.1], [0.3], [0.2], [0.2]], (3, 1)), np.repeat(np.arange(6), 2)
    assert decided_by_sign(values, groups).tolist() == [True]
    assert decided_by_sign(values).tolist() == [False]
    assert TESTS.parse("T").p_values(values, groups=groups).tolist() == [2 / 2**6]
