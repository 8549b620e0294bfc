"""The paired randomisation test."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from samples import edges, holed, smooth, stepped
from scipy import stats

from leadline.data.arrays import Floats
from leadline.errors import UsageError
from leadline.stats import Alternative
from leadline.stats.paired_tests import Randomisation


def enumerated(differences: list[float]) -> float:
    """Go through all signs."""
    seen = abs(sum(differences))
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(total >= seen - 1e-9 for total in sums) / len(sums)


def error(p: float, draws: int) -> float:
    """Return how far a share of draws may be off: five standard errors and the one that is added."""
    return float(5 * np.sqrt(p * (1 - p) / draws) + 2 / draws)


@pytest.mark.parametrize("queries", range(1, 12))
@pytest.mark.parametrize("seed", range(3))
def test_of_few_queries_all_patterns_are_gone_through(queries: int, seed: int) -> None:
    for differences in (smooth(queries, seed=seed)[:, 0], stepped(queries, seed=seed)[:, 0]):
        assert Randomisation().p(differences) == enumerated(differences.tolist())


def test_by_hand() -> None:
    # |1 + 2 - 4| = 1 is the least that signs can make of them, so that all patterns reach it
    assert Randomisation().p([1, 2, -4]) == 1.0
    assert Randomisation().p([1, 2, 4]) == 2 / 8
    assert Randomisation().p([1, 2, -1, 4]) == 6 / 16


def test_it_is_exact_as_long_as_the_patterns_are_no_more_than_the_draws() -> None:
    differences = smooth(10)[:, 0].tolist()
    assert Randomisation(draws=1024).p(differences) == enumerated(differences)
    drawn = Randomisation(draws=1023).p(differences)
    assert drawn * 1024 == pytest.approx(round(drawn * 1024))
    assert drawn == pytest.approx(enumerated(differences), abs=error(drawn, 1023))


def test_drawn_patterns_come_near_all_patterns() -> None:
    differences = smooth(14, 8)
    every = Randomisation().p_values(differences)
    some = Randomisation(draws=10_000).p_values(differences)
    assert (every != some).any()
    for one, other in zip(every, some, strict=True):
        assert other == pytest.approx(one, abs=error(one, 10_000))


def test_it_comes_near_scipy() -> None:
    def mean(values: Floats, axis: int) -> Floats:
        return np.asarray(values.mean(axis=axis))

    for seed in range(3):
        differences = smooth(60, seed=seed, mean=0.04)[:, 0]
        expected = stats.permutation_test(
            (differences,), mean, permutation_type="samples", n_resamples=9_999, rng=1
        ).pvalue
        found = Randomisation().p(differences)
        assert found == pytest.approx(expected, abs=error(expected, 9_999))


def test_it_is_never_zero() -> None:
    assert Randomisation().p([0.1] * 10) == 2 / 1024
    assert Randomisation(draws=999).p([0.1] * 59 + [0.2]) == 1 / 1000
    assert Randomisation(draws=999).p([0.1] * 60) == 2 / 2**60  # decided by the sign test
    assert Randomisation(draws=1).p(smooth(60, mean=5.0)[:, 0]) == 1 / 2


@pytest.mark.parametrize("queries", [3, 8, 12, 40])
@pytest.mark.parametrize("scale", [10, 3, 7])
def test_sums_that_only_rounding_parts_count_as_equal(queries: int, scale: float) -> None:
    whole = stepped(queries, 10, seed=queries) * 10
    test = Randomisation(draws=5_000)
    expected = test.p_values(np.round(whole))
    assert test.p_values(np.round(whole) / scale).tolist() == expected.tolist()


def test_a_sum_of_zero_but_for_rounding_has_p_one() -> None:
    assert sum([0.1, 0.2, -0.3]) != 0
    assert Randomisation().p([0.1, 0.2, -0.3]) == 1.0


def test_zeros_do_not_matter() -> None:
    differences = smooth(9)[:, 0]
    with_zeros = np.insert(differences, [0, 4, 4, 9], 0.0)
    assert Randomisation().p(with_zeros) == Randomisation().p(differences)
    many = np.insert(differences, np.full(80, 3), 0.0)  # still 2^9 patterns
    assert Randomisation(draws=512).p(many) == Randomisation().p(differences)


def test_undefined_queries_are_left_out() -> None:
    differences = holed(smooth(14, 12))
    expected = [Randomisation().p(column[~np.isnan(column)]) for column in differences.T]
    np.testing.assert_allclose(Randomisation().p_values(differences), expected, rtol=1e-15)


def test_when_patterns_are_drawn_undefined_queries_are_as_zeros() -> None:
    differences, test = holed(smooth(50, 5)), Randomisation(draws=3_000)
    found = test.p_values(differences)
    assert found.tolist() == test.p_values(np.nan_to_num(differences)).tolist()
    for column, p in zip(differences.T, found, strict=True):
        alone = test.p(column[~np.isnan(column)])
        assert p == pytest.approx(alone, abs=2 * error(alone, 3_000))


def test_columns_do_not_touch_each_other() -> None:
    differences, test = smooth(40, 6), Randomisation(draws=3_000)
    alone = [test.p(column) for column in differences.T]
    assert test.p_values(differences).tolist() == alone


def test_more_columns_than_are_handled_together_change_nothing() -> None:
    differences, test = np.tile(smooth(20, 3), 200), Randomisation(draws=500)
    assert test.p_values(differences).tolist() == test.p_values(differences[:, :3]).tolist() * 200


def test_threads_change_nothing_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    differences, test = smooth(50, 3, mean=0.02), Randomisation(draws=20_000)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = test.p_values(differences).tolist()
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert test.p_values(differences).tolist() == alone
    assert test.p_values(differences, seed=0).tolist() == alone
    assert test.p_values(differences, seed=1).tolist() != alone


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no query", np.nan),
        ("all undefined", np.nan),
        ("one query", 1.0),
        ("one defined", 1.0),
        ("identical runs", 1.0),
        ("constant", 2 / 128),
        ("constant below", 2 / 128),
    ],
)
def test_edges(name: str, expected: float) -> None:
    np.testing.assert_array_equal(Randomisation().p_values(edges()[name]), [expected])


@pytest.mark.parametrize("draws", [0, -1, 1.5, "many"])
def test_draws_that_are_none_are_refused(draws: Any) -> None:
    with pytest.raises(UsageError, match=r"must be a whole number of at least 1"):
        Randomisation(draws=draws)


@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_a_seed_that_is_none_is_refused(seed: int) -> None:
    with pytest.raises(UsageError, match="seed must be a whole number"):
        Randomisation().p([0.1, 0.2], seed=seed)


def test_thousands_of_queries_make_no_warning() -> None:
    differences = np.random.default_rng(1).normal(0.1, 1.0, 1500)
    assert Randomisation(draws=200).p(differences) < 0.05


@pytest.mark.parametrize("queries", [1, 4, 9, 12])
def test_differences_of_one_sign_have_the_smallest_p(queries: int) -> None:
    test = Randomisation(draws=1000)
    assert test.p([0.1 * (place + 1) for place in range(queries)]) >= test.smallest(queries)
    if queries < 12:  # more than 1000 patterns are drawn
        assert test.p([0.5] * queries) == test.smallest(queries)


@pytest.mark.parametrize("queries", [1, 2, 5, 9])
@pytest.mark.parametrize("make", [smooth, stepped])
def test_one_sided_p_count_the_sums_on_one_side(queries: int, make: Callable[..., Floats]) -> None:
    differences = make(queries, seed=queries)[:, 0].tolist()
    sums = [
        sum(sign * one for sign, one in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=queries)
    ]
    above = sum(total >= sum(differences) - 1e-9 for total in sums) / len(sums)
    below = sum(total <= sum(differences) + 1e-9 for total in sums) / len(sums)
    assert Randomisation().p(differences, alternative="greater") == pytest.approx(above)
    assert Randomisation().p(differences, alternative="less") == pytest.approx(below)
    drawn = Randomisation(draws=2 ** max(0, queries - 1)).p(differences, alternative="greater")
    assert 0 < drawn <= 1


def test_with_groups_whole_groups_are_flipped() -> None:
    differences = smooth(12)[:, 0]
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4, 4, 5, 5])
    sums = [float(differences[groups == group].sum()) for group in range(6)]
    found = Randomisation().p_values(differences[:, None], groups=groups)[0]
    assert found == enumerated(sums)
    with_hole = np.where(groups == 4, np.nan, differences)  # five groups, 81/17 effective ones
    assert np.isnan(Randomisation().p_values(with_hole[:, None], groups=groups)[0])
    with_hole[6] = np.nan
    with_hole[7:10] = differences[7:10]
    with_hole[7] = np.nan
    found = Randomisation().p_values(with_hole[:, None], groups=groups)[0]
    assert found == enumerated([float(np.nansum(with_hole[groups == group])) for group in (0, 1, 2, 4, 5)])


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_smallest_p_is_attained(alternative: Alternative) -> None:
    sign = -1 if alternative == "less" else 1
    for queries in (1, 2, 7):
        values = [sign * (1.0 + place) for place in range(queries)]
        test = Randomisation()
        assert test.p(values, alternative=alternative) == test.smallest(queries, alternative)
    assert Randomisation().smallest(0, alternative) == 1.0
