"""The kernel that counts document pairs, compiled and not, against loops over pairs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.comparison import joint_tables as module
from leadline.comparison.joint_tables import LEVELS, Orders, call_kernel, joint_tables, orders_of
from leadline.kernels import Kernels
from strategies import FORMS, ORIGINAL, Interpreted, in_form

# How tables are counted: kernels, and how many words of bit planes are taken for a document of a list.
COMPILED = [] if ORIGINAL is None else [(ORIGINAL, 0), (ORIGINAL, 1 << 40)]
WAYS: list[tuple[Any, int]] = [*COMPILED, (Interpreted(), 0), (Interpreted(), 1 << 40), (None, 1 << 40)]


@contextmanager
def in_way(way: tuple[Any, int]) -> Iterator[None]:
    """Count tables in one of the ways for a while."""
    before, module.PLANE_WORDS = module.PLANE_WORDS, way[1]
    try:
        with in_form(way[0]):
            yield
    finally:
        module.PLANE_WORDS = before


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[float], list[list[int]]]:
    """Return grades of documents, a weight per grade, and three lists of some of the documents."""
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
    for way in WAYS:
        with in_way(way):
            found = joint_tables(np.array(grades, dtype=np.int32), np.array(weights), orders, first, second)
        # Cells are exact until they are weighted: nothing that is not there has a weight.
        for table, i, j in zip(found, first.tolist(), second.tolist(), strict=True):
            wanted = slow(grades, weights, lists[i], lists[j])
            assert table == pytest.approx(wanted, abs=1e-12)
            assert ((table == 0) == (wanted == 0)).all()


@pytest.mark.parametrize(
    "way", WAYS, ids=["trees", "planes", "slow trees", "slow planes", "NumPy"][-len(WAYS) :]
)
def test_tables_of_long_lists_of_some_documents(way: tuple[Any, int]) -> None:
    rng = np.random.default_rng(7)
    grade = rng.choice(4, size=300, p=[0.6, 0.2, 0.1, 0.1]).astype(np.int32)
    weights = rng.random(4)
    lists = [rng.permutation(300)[:size] for size in (300, 150, 80)]
    orders = orders_of([ranked.astype(np.int32) for ranked in lists], 300)
    first, second = ends(3)
    with in_way(way):
        found = joint_tables(grade, weights, orders, first, second)
    places = [np.where(place < 0, 300, place) for place in orders.position]
    better = grade[:, None] > grade
    said = [np.sign(place[None, :] - place[:, None]) for place in places]
    for table, i, j in zip(found, first.tolist(), second.tolist(), strict=True):
        for a, b in np.ndindex(3, 3):
            pairs = better & (said[i] == 1 - a) & (said[j] == 1 - b)
            wanted = (pairs * np.outer(weights[grade], weights[grade])).sum()
            assert table[a, b] == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("documents", [63, 64, 65, 1023, 1024, 1025, 1100, 17_000])
@pytest.mark.parametrize("way", COMPILED)
def test_word_and_level_borders_are_counted_right(documents: int, way: tuple[Any, int]) -> None:
    # A list against its reverse, and against itself: the tables are known without counting.
    grade = (np.arange(documents) % 2).astype(np.int32)
    order = np.random.default_rng(documents).permutation(documents).astype(np.int32)
    orders = orders_of([order, order[::-1]], documents)
    first, second = np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    with in_way(way):
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
            assert call_kernel(
                "common_orders",
                len(grades),
                *orders[:2],
                orders.position.ravel(),
                first,
                second,
                np.empty(words, np.uint64),
                np.empty(2 * words + LEVELS, np.int32),
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
        {"position": np.array([[0, 5]], dtype=np.int32)},
        {"bounds": np.array([0, 9], dtype=np.int64)},
        {"bounds": np.array([0, -1], dtype=np.int64)},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", WAYS[:-1])
def test_an_index_out_of_range_is_refused_before_the_loops(
    spoilt: dict[str, np.ndarray], way: tuple[Any, int]
) -> None:
    sound = Orders(
        np.array([0, 1], dtype=np.int64), np.array([0], dtype=np.int32), np.array([[0, -1]], dtype=np.int32)
    )
    none = np.zeros(1, dtype=np.int32)
    with in_way(way), pytest.raises(ValueError, match="out of range"):
        joint_tables(none.repeat(2), np.ones(2), sound._replace(**spoilt), none, none)


@pytest.mark.parametrize("length", [1, 15, 64 * 16, 64 * 16 + 1, 64 * 256 + 1, 20_000])
@pytest.mark.parametrize("form", FORMS[:1])
def test_common_orders_of_long_lists(length: int, form: Kernels | None) -> None:
    # Blocks in reverse order: a pair is in equal order if both documents are in one block.
    size = 97
    order = np.arange(length, dtype=np.int32)
    blocks = np.argsort(-(order // size), kind="stable").astype(np.int32)
    orders = orders_of([order, blocks], length)
    first, second = np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    common, agreeing = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
    words = (length >> 6) + 1
    spare = np.empty(words, np.uint64), np.empty(2 * words + LEVELS, np.int32)
    with in_form(form):
        assert call_kernel(
            "common_orders",
            length,
            *orders[:2],
            orders.position.ravel(),
            first,
            second,
            *spare,
            common,
            agreeing,
        )
    within = sum(
        (stop - start) * (stop - start - 1) // 2
        for start, stop in pairwise([*range(0, length, size), length])
    )
    assert common.tolist() == [length, length]
    assert agreeing.tolist() == [length * (length - 1) // 2, within]
