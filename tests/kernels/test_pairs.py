"""The kernel that counts document pairs, compiled and not, against loops over pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.comparison.information_difference.joint_tables import Orders, call, joint_tables, orders_of
from leadline.kernels import Kernels
from strategies import FORMS, in_form


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[float], list[list[int]]]:
    """Give grades of documents, a weight per grade, and three lists of some of the documents."""
    classes = draw(st.integers(1, 4))
    grades = draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=12))
    weights = draw(st.lists(st.floats(0.01, 3), min_size=classes, max_size=classes))
    shuffled = st.permutations(range(len(grades)))
    lists = [draw(shuffled)[: draw(st.integers(0, len(grades)))] for _ in range(3)]
    return grades, weights, lists


def ends(size: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(size)
    return first.astype(np.int32), second.astype(np.int32)


def says(ranked: list[int], better: int, worse: int) -> int:
    places = [ranked.index(one) if one in ranked else len(ranked) for one in (better, worse)]
    return (places[0] < places[1]) - (places[0] > places[1])


def slow(grades: list[int], weights: list[float], first: list[int], second: list[int]) -> np.ndarray:
    table = np.zeros((3, 3))
    for one, other in combinations(range(len(grades)), 2):
        if grades[one] == grades[other]:
            continue
        better, worse = (one, other) if grades[one] > grades[other] else (other, one)
        cell = 1 - says(first, better, worse), 1 - says(second, better, worse)
        table[cell] += weights[grades[better]] * weights[grades[worse]]
    return table


@given(case=cases())
def test_every_table_is_what_a_loop_over_pairs_counts(
    case: tuple[list[int], list[float], list[list[int]]],
) -> None:
    grades, weights, lists = case
    orders = orders_of([np.array(one, dtype=np.int32) for one in lists], len(grades))
    first, second = ends(3)
    for form in FORMS:
        with in_form(form):
            found = joint_tables(np.array(grades, dtype=np.int32), np.array(weights), orders, first, second)
        for table, i, j in zip(found, first.tolist(), second.tolist(), strict=True):
            assert table == pytest.approx(slow(grades, weights, lists[i], lists[j]), abs=1e-12)


@pytest.mark.parametrize("documents", [63, 64, 65, 1023, 1024, 1025, 1100, 17_000])
@pytest.mark.parametrize("form", FORMS[:1])
def test_word_and_level_borders_of_the_tree_are_counted_right(documents: int, form: Kernels | None) -> None:
    # A list against its reverse, and against itself: the tables are known without counting.
    grade = (np.arange(documents) % 2).astype(np.int32)
    order = np.random.default_rng(documents).permutation(documents).astype(np.int32)
    orders = orders_of([order, order[::-1]], documents)
    first, second = np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    with in_form(form):
        same, turned = joint_tables(grade, np.ones(2), orders, first, second)
    ranks = np.empty(documents)
    ranks[order] = np.arange(documents)
    worse = np.sort(ranks[grade == 0])
    right = float((len(worse) - np.searchsorted(worse, ranks[grade == 1])).sum())
    wrong = len(worse) * (documents - len(worse)) - right
    assert same.tolist() == [[right, 0, 0], [0, 0, 0], [0, 0, wrong]]
    assert turned.tolist() == [[0, 0, right], [0, 0, 0], [wrong, 0, 0]]


@given(case=cases())
def test_common_orders_counts_pairs_of_common_documents(
    case: tuple[list[int], list[float], list[list[int]]],
) -> None:
    grades, _, lists = case
    orders = orders_of([np.array(one, dtype=np.int32) for one in lists], len(grades))
    first, second = ends(3)
    for form in FORMS:
        common, agreeing = np.empty(6, dtype=np.int64), np.empty(6, dtype=np.int64)
        words = (len(grades) >> 6) + 1
        with in_form(form):
            assert call(
                "common_orders",
                len(grades),
                *orders[:2],
                orders.place.ravel(),
                first,
                second,
                np.empty(words, np.uint64),
                np.empty(2 * words, np.int32),
                common,
                agreeing,
            )
        for place, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            shared = [one for one in lists[i] if one in lists[j]]
            assert common[place] == len(shared)
            assert agreeing[place] == sum(
                lists[j].index(a) < lists[j].index(b) for a, b in combinations(shared, 2)
            )


@pytest.mark.parametrize(
    "spoilt",
    [
        {"order": np.array([2], dtype=np.int32)},
        {"order": np.array([-1], dtype=np.int32)},
        {"place": np.array([[0, 5]], dtype=np.int32)},
        {"bounds": np.array([0, 9], dtype=np.int64)},
        {"bounds": np.array([0, -1], dtype=np.int64)},
    ],
    ids=str,
)
@pytest.mark.parametrize("form", FORMS)
def test_an_index_out_of_range_is_refused_before_the_loops(
    spoilt: dict[str, np.ndarray], form: Kernels | None
) -> None:
    sound = Orders(
        np.array([0, 1], dtype=np.int64), np.array([0], dtype=np.int32), np.array([[0, -1]], dtype=np.int32)
    )
    none = np.zeros(1, dtype=np.int32)
    with in_form(form), pytest.raises(ValueError, match="out of range"):
        joint_tables(none.repeat(2), np.ones(2), sound._replace(**spoilt), none, none)
