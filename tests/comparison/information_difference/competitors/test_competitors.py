"""What people compare lists with: worked by hand, against slow loops, and against SciPy."""

from __future__ import annotations

import math
from itertools import count, islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from leadline.comparison.information_difference.similarity import correlations, distances, parse_competitors
from leadline.comparison.information_difference.similarity_baselines import (
    RBO,
    SIMILARITIES,
    Jaccard,
    Kendall,
    Overlap,
    Ranked,
)
from leadline.errors import UsageError

LISTS = st.permutations("abcdefgh").flatmap(
    lambda names: st.integers(0, len(names)).map(lambda size: names[:size])
)
DEEP = 800


def agreement(first: list[str], second: list[str], depth: int) -> float:
    return len(set(first[:depth]) & set(second[:depth])) / depth


def long_sum(first: list[str], second: list[str], p: float) -> float:
    """Give rank-biased overlap of lists that go on for a long while."""
    seen: tuple[set[str], set[str]] = (set(), set())
    common, total = 0, 0.0
    for depth, pair in enumerate(zip(first[:DEEP], second[:DEEP], strict=True), start=1):
        for own, other, name in ((seen[0], seen[1], pair[0]), (seen[1], seen[0], pair[1])):
            own.add(name)
            common += name in other
        total += (1 - p) * p ** (depth - 1) * common / depth
    return total


def going_on(first: list[str], second: list[str], *, alike: bool) -> tuple[list[str], list[str]]:
    """Continue two lists so that they agree as soon, or as little, as can be."""
    one, two = list(first), list(second)
    while alike and set(one) != set(two):
        shorter, longer = (one, two) if len(one) < len(two) else (two, one)
        shorter.append(next(name for name in longer if name not in shorter))
    new = (f"new{number}" for number in count())
    if alike:
        more = [next(new) for _ in range(DEEP)]
        return one + more, two + more
    return [*one, *islice(new, DEEP)], [*two, *islice(new, DEEP)]


@given(first=LISTS, second=LISTS, p=st.sampled_from([0.5, 0.8, 0.95]))
def test_rbo_bounds_are_reached_by_lists_that_go_on(first: list[str], second: list[str], p: float) -> None:
    if not first and not second:
        return
    least = long_sum(*going_on(first, second, alike=False), p)
    assert RBO(p=p, form="min").of(first, second) == pytest.approx(least, abs=1e-9)
    most = long_sum(*going_on(first, second, alike=True), p)
    assert RBO(p=p, form="max").of(first, second) == pytest.approx(most, abs=1e-9)
    assert least - 1e-12 <= RBO(p=p).of(first, second) <= most + 1e-12


@given(first=LISTS, second=LISTS, p=st.sampled_from([0.5, 0.8, 0.95]))
def test_extrapolated_rbo_is_equation_32(first: list[str], second: list[str], p: float) -> None:
    short, long = sorted((first, second), key=len)
    if not short:
        return
    s, many = len(short), len(long)
    x = [
        len(set(short) & set(long[:d])) if d > s else d * agreement(short, long, d)
        for d in range(1, many + 1)
    ]
    total = sum(x[d - 1] / d * p**d for d in range(1, many + 1))
    total += sum(x[s - 1] * (d - s) / (s * d) * p**d for d in range(s + 1, many + 1))
    value = (1 - p) / p * total + ((x[-1] - x[s - 1]) / many + x[s - 1] / s) * p**many
    assert RBO(p=p).of(first, second) == pytest.approx(value, abs=1e-12)


def test_tied_documents_come_in_together() -> None:
    # a and b share a score in the first list: both are in at depth 1, where the second has a.
    ranked = Ranked.of([["a", "b"], ["a", "b"]], [[1, 1], [1, 2]])
    # depth 1: 2 * 1 / (2 + 1), from depth 2 on: 1
    assert RBO(p=0.5).values(ranked)[0, 1] == pytest.approx(0.5 * 2 / 3 + 0.5, abs=1e-15)


@given(found=LISTS)
def test_a_list_is_most_like_itself(found: list[str]) -> None:
    if len(found) < 2:
        return
    assert RBO().of(found, found) == pytest.approx(1.0, abs=1e-12)
    assert Jaccard().of(found, found) == 1.0
    assert Kendall().of(found, found) == 1.0
    assert Kendall().of(found, found[::-1]) == -1.0
    assert Overlap(cutoff=len(found)).of(found, found) == 1.0


@pytest.mark.usefixtures("form")
@given(first=LISTS, second=LISTS)
def test_tau_of_common_documents_is_scipys(first: list[str], second: list[str]) -> None:
    shared = [name for name in first if name in second]
    found = Kendall().of(first, second)
    if len(shared) < 2:
        assert math.isnan(found)
        return
    places = [second.index(name) for name in shared]
    assert found == pytest.approx(kendalltau(range(len(shared)), places).statistic, abs=1e-12)


@given(first=LISTS, second=LISTS, k=st.integers(1, 10))
def test_overlap_and_jaccard_count_sets(first: list[str], second: list[str], k: int) -> None:
    one, two = set(first[:k]), set(second[:k])
    assert Overlap(cutoff=k).of(first, second) == pytest.approx(len(one & two) / k, abs=1e-15)
    found = Jaccard(cutoff=k).of(first, second)
    assert math.isnan(found) if not one | two else found == len(one & two) / len(one | two)


def test_lists_that_are_empty_have_no_likeness() -> None:
    assert all(math.isnan(one.of([], [])) for one in (RBO(), Jaccard(), Kendall()))
    assert RBO().of([], ["a"]) == Jaccard().of([], ["a"]) == 0.0


@given(values=st.integers(2, 6))
def test_correlations_are_numpys(values: int) -> None:
    table = np.random.default_rng(values).random((4, values))
    assert correlations(table) == pytest.approx(np.corrcoef(table), abs=1e-12)


def test_a_system_with_one_value_has_no_correlation() -> None:
    found = correlations(np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.3]]))
    assert np.isnan(found).tolist() == [[True, True], [True, False]]


def test_distances_average_before_nothing_is_subtracted() -> None:
    # Equal means, different queries.
    assert distances(np.array([[0.2, 0.4], [0.4, 0.2]]))[0, 1] == pytest.approx(0.2)


def test_the_default_follows_the_cutoff() -> None:
    assert list(map(str, parse_competitors(None, 20))) == ["Jaccard@20", "Overlap@20", "RBO", "Kendall"]
    assert list(map(str, parse_competitors(["rbo(p=0.8)"], None))) == ["RBO(p=0.8)"]


def test_an_unknown_competitor_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="nearest: Jaccard"):
        parse_competitors(["jacard"], None)
    with pytest.raises(UsageError, match="expected a list of names"):
        parse_competitors("RBO", None)


def test_every_competitor_says_what_it_is() -> None:
    names = list(SIMILARITIES.classes)
    assert all(a.lower() < b.lower() for a, b in pairwise(names))
    for kind in SIMILARITIES.classes.values():
        assert kind.title
        assert kind.formula
        assert kind.source
