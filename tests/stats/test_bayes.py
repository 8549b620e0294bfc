"""How probable it is that a run is worse, equal or better."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import edges, holed, smooth
from scipy import stats

from leadline.errors import UsageError
from leadline.stats.paired_tests import T, beliefs


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.1])
def test_they_are_shares_of_a_t_distribution_around_the_mean(margin: float) -> None:
    differences = holed(smooth(30, 10))
    found = beliefs(differences, margin=margin)
    for place, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        of_mean = stats.t(len(known) - 1, loc=known.mean(), scale=stats.sem(known))
        expected = (of_mean.cdf(-margin), of_mean.cdf(margin) - of_mean.cdf(-margin), of_mean.sf(margin))
        assert [share[place] for share in found] == pytest.approx(expected, abs=1e-12)


def test_without_a_margin_they_are_the_halves_of_the_t_test() -> None:
    differences = smooth(30, 10)
    found = beliefs(differences)
    np.testing.assert_allclose(
        2 * np.minimum(found.worse, found.better), T().p_values(differences), rtol=1e-9
    )
    np.testing.assert_allclose(found.equivalent, 0.0, atol=1e-15)


def test_exchanged_runs_exchange_worse_and_better() -> None:
    one, other = beliefs(smooth(9, 3), margin=0.1), beliefs(-smooth(9, 3), margin=0.1)
    np.testing.assert_allclose(one.worse, other.better, rtol=1e-12)
    np.testing.assert_allclose(one.equivalent, other.equivalent, rtol=1e-12)


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_allow_no_belief(name: str) -> None:
    assert np.isnan(beliefs(edges()[name], margin=0.1)).all()


@pytest.mark.parametrize(
    ("name", "margin", "expected"),
    [
        ("identical runs", 0.0, [0, 1, 0]),
        ("identical runs", 0.1, [0, 1, 0]),
        ("constant", 0.0, [0, 0, 1]),
        ("constant", 0.2, [0, 1, 0]),
        ("constant below", 0.05, [1, 0, 0]),
    ],
)
def test_a_constant_difference_is_certain(name: str, margin: float, expected: list[int]) -> None:
    assert [float(share[0]) for share in beliefs(edges()[name], margin=margin)] == expected


@pytest.mark.parametrize("margin", [-0.1, math.nan])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(UsageError, match=r"margin .*; expected a number, 0 or more"):
        beliefs(smooth(5), margin=margin)
