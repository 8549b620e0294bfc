"""Two one-sided tests of equivalence."""

from __future__ import annotations

import numpy as np
import pytest
from samples import edges, holed, smooth
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from leadline.stats.intervals import Student
from leadline.stats.paired_tests import equivalence


@pytest.mark.parametrize("margin", [0.001, 0.05, 0.3])
@pytest.mark.parametrize("mean", [-0.2, 0.0, 0.03])
def test_it_equals_statsmodels(margin: float, mean: float) -> None:
    differences = smooth(20, 6, mean=mean)
    found = equivalence(differences, margin)
    expected = [DescrStatsW(column).ttost_mean(-margin, margin)[0] for column in differences.T]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_it_is_the_larger_of_two_one_sided_tests() -> None:
    differences = holed(smooth(15, 8))
    above = stats.ttest_1samp(differences, -0.1, alternative="greater", nan_policy="omit").pvalue
    below = stats.ttest_1samp(differences, 0.1, alternative="less", nan_policy="omit").pvalue
    np.testing.assert_allclose(equivalence(differences, 0.1), np.maximum(above, below), rtol=1e-9)


def test_it_is_below_five_percent_when_the_interval_of_ninety_lies_inside_the_margin() -> None:
    low, high = Student().of(smooth(30)[:, 0], level=0.9)
    farthest = max(abs(low), abs(high))
    assert equivalence(smooth(30), farthest)[0] == pytest.approx(0.05, abs=1e-12)


def test_a_mean_at_the_margin_has_p_one_half() -> None:
    assert equivalence(np.array([[0.1], [0.3]]), 0.2)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_have_no_p(name: str) -> None:
    assert np.isnan(equivalence(edges()[name], 0.05)).all()


@pytest.mark.parametrize("name", ["constant", "constant below"])
def test_a_constant_difference_has_the_p_of_the_sign_test(name: str) -> None:
    differences = edges()[name]
    assert equivalence(differences, 0.11).tolist() == [0.5 ** len(differences)]
    assert equivalence(differences, 0.09).tolist() == [1.0]
    assert equivalence(np.array([[0.5], [0.5]]), 0.5).tolist() == [1.0]


def test_two_identical_queries_do_not_show_equivalence() -> None:
    assert equivalence(np.zeros((2, 1)), 1e-9).tolist() == [0.25]
