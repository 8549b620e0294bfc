"""Ways to pool: which documents, in which order, and what judgments change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.data.arrays import document_keys, draw_documents
from leadline.errors import UsageError
from leadline.judging.pooling_methods import POOLS, RankedLists

LISTS = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), min_size=1, max_size=4)


def slow_move_to_front(lists: list[list[int]], relevant: dict[int, bool], most: int) -> list[int]:
    """Ask the runs one after the other, as the paper says it."""
    left = [list(one) for one in lists]
    penalty = [0] * len(lists)
    asked = [0] * len(lists)
    found: list[int] = []
    while any(left) and len(found) < most:
        run = min((r for r in range(len(lists)) if left[r]), key=lambda r: (penalty[r], asked[r], r))
        while left[run] and len(found) < most:
            document = left[run].pop(0)
            if document in found:
                continue
            found.append(document)
            if not relevant.get(document, False):
                penalty[run] += 1
                asked[run] = len(found)
                break
    return found


@given(LISTS, st.integers(1, 9))
def test_depth_is_the_union_of_the_first_documents(lists: list[list[int]], k: int) -> None:
    found = POOLS.parse(f"Depth({k})").order(RankedLists.of(lists)).tolist()
    assert sorted(found) == sorted({document for one in lists for document in one[:k]})
    best = [min(one.index(document) for one in lists if document in one) for document in found]
    assert best == sorted(best)


@given(LISTS, st.integers(1, 9))
def test_weights_give_the_documents_with_the_largest_sums(lists: list[list[int]], most: int) -> None:
    every = {document for one in lists for document in one}
    for name, weights in (
        (f"RRF(documents={most},k=10)", [1 / (11 + place) for place in range(9)]),
        (f"RBP(documents={most},p=0.7)", [0.3 * 0.7**place for place in range(9)]),
    ):
        sums = {
            document: sum(weights[one.index(document)] for one in lists if document in one)
            for document in every
        }
        slow = sorted(every, key=lambda document: (-round(sums[document], 12), -document))
        assert POOLS.parse(name).order(RankedLists.of(lists)).tolist() == slow[:most]


@given(LISTS, st.dictionaries(st.integers(0, 12), st.booleans()), st.integers(1, 14))
def test_move_to_front_is_the_slow_loop(lists: list[list[int]], judged: dict[int, bool], most: int) -> None:
    found = POOLS.parse(f"MTF(documents={most})").order(RankedLists.of(lists), judged).tolist()
    assert found == slow_move_to_front(lists, judged, most)


@pytest.mark.parametrize("name", ["RBP(documents=150,p=0.5)", "RRF(documents=150)"])
def test_small_weights_still_order_a_single_list_by_rank(name: str) -> None:
    order = np.random.default_rng(3).permutation(200).tolist()
    assert POOLS.parse(name).order(RankedLists.of([order])).tolist() == order[:150]


def test_move_to_front_stays_with_the_run_that_finds_and_leaves_the_one_that_does_not() -> None:
    offered = RankedLists.of([[0, 1, 2, 3], [4, 5, 6, 7]])
    truth = {0: True, 1: True, 2: False, 4: False, 5: False, 3: True}
    judged: dict[int, bool] = {}
    asked = []
    for _ in range(6):  # one judgment at a time
        order = POOLS.parse("MoveToFront(documents=8)").order(offered, judged).tolist()
        new = next(document for document in order if document not in judged)
        asked.append(new)
        judged[new] = truth.get(new, False)
    assert asked == [0, 1, 2, 4, 3, 5]


def test_a_pool_without_depth_and_without_documents_is_refused() -> None:
    for name, said in (("Depth(k=0)", "k=0"), ("RRF(documents=0)", "documents=0"), ("RBP(p=1)", "p=1")):
        with pytest.raises(UsageError, match=said):
            POOLS.parse(name)
    assert str(POOLS.parse("mtf")) == "MoveToFront"


def test_each_document_is_drawn_equally_often_and_queries_draw_for_themselves() -> None:
    keys = document_keys([b"d%d" % number for number in range(20)], 0)
    among = np.arange(20)
    draws = np.array([draw_documents(b"q%d" % query, keys, 5, among=among) for query in range(4000)])
    counts = np.bincount(draws.ravel(), minlength=20)
    assert (((counts - 1000) ** 2) / 750).sum() < 43  # chi-square of 19, 1 in 1000
    pairs = np.zeros((20, 20))
    for draw in draws:
        pairs[np.ix_(draw, draw)] += 1
    together = pairs[np.triu_indices(20, 1)]  # 4000 * 5/20 * 4/19 = 210.5
    assert abs(together.mean() - 210.5) < 1
    assert together.std() < 1.3 * np.sqrt(210.5)


@given(st.sets(st.integers(0, 29)), st.sets(st.integers(0, 29)), st.integers(0, 30), st.integers(0, 9))
def test_a_draw_keeps_what_was_drawn_when_less_is_left_or_more_is_wanted(
    pooled: set[int], more: set[int], count: int, extra: int
) -> None:
    keys = document_keys([b"d%d" % number for number in range(30)], 3)

    def draw(without: set[int], number: int) -> set[int]:
        among = np.array([place for place in range(30) if place not in without], dtype=np.int64)
        return set(draw_documents(b"q", keys, number, among=among).tolist())

    first = draw(pooled, count)
    assert len(first) == min(count, 30 - len(pooled))
    assert first - more <= draw(pooled | more, count + extra)
