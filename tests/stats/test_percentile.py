"""The percentile bootstrap interval."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from samples import edges, holed, skewed
from scipy import stats

from leadline.stats.intervals import Percentile, resampled


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("queries", [5, 50])
def test_it_equals_scipy_on_the_same_resamples(level: float, queries: int) -> None:
    values = skewed(queries)[:, 0]
    ours = SimpleNamespace(bootstrap_distribution=resampled(values[:, None], 2_999, 0)[:, 0])
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=0, bootstrap_result=ours, method="percentile", confidence_level=level
    ).confidence_interval
    found = Percentile(draws=2_999).of(values, level=level)
    assert found == pytest.approx(tuple(expected), rel=1e-12)


def test_two_queries_by_hand() -> None:
    # of the four resamples one has mean 0, two have 0.5, one has 1
    assert Percentile().of([0, 1], level=0.95) == (0.0, 1.0)
    assert Percentile().of([0, 1], level=0.5) == pytest.approx((0.25, 0.75), abs=0.26)
    assert Percentile(draws=999).of([0, 1], level=0.5, seed=3)[0] in (0.0, 0.5)


def test_it_is_near_the_t_interval_when_there_are_many_queries() -> None:
    values = skewed(400)[:, 0]
    error = stats.sem(values)
    low, high = Percentile(draws=4_999).of(values)
    assert (low, high) == pytest.approx(
        (values.mean() - 1.96 * error, values.mean() + 1.96 * error), abs=0.25 * error
    )


def test_missing_queries_are_left_out() -> None:
    values = holed(skewed(20, 5))
    low, high = Percentile(draws=299).limits(values)
    for place, column in enumerate(values.T):
        alone = Percentile(draws=299).of(column[~np.isnan(column)])
        assert (low[place], high[place]) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("name", ["no query", "one query", "all undefined", "one defined"])
def test_fewer_than_two_queries_have_no_interval(name: str) -> None:
    assert np.isnan(Percentile(draws=99).limits(edges()[name])).all()


def test_a_constant_gives_itself_twice() -> None:
    assert Percentile(draws=99).of([0.1] * 7) == pytest.approx((0.1, 0.1), rel=1e-14)
