"""DeShaTo: worked by hand, against slow loops and SciPy, and its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kurtosis, skew

from leadline.errors import UsageError
from leadline.estimation.unjudged_methods import DeShaTo, cumulate, saturation, shape
from ranked_pools import pool_of

Vectors = dict[str, list[float]]
VECTORS: Vectors = {
    "a": [0.7, 0.1, 0.1, 0.1],
    "b": [0.5, 0.3, 0.1, 0.1],
    "c": [0.1, 0.2, 0.3, 0.4],
    "flat": [0.25, 0.25, 0.25, 0.25],
    "one": [0.0, 1.0, 0.0, 0.0],
}
LIST = st.permutations(list(VECTORS)).flatmap(
    lambda names: st.integers(0, len(names)).map(lambda size: list(names[:size]))
)


def of(method: DeShaTo, *lists: list[str], vectors: Vectors = VECTORS) -> list[float]:
    found: list[float] = method.estimate(pool_of(list(lists), vectors=vectors)).values.tolist()
    return found


def moments(numbers: list[float]) -> float:
    """Return kurtosis plus skewness by their definitions."""
    if max(numbers) - min(numbers) <= 1e-12 * max(numbers):
        return 0.0
    mean = sum(numbers) / len(numbers)
    second, third, fourth = (sum((x - mean) ** p for x in numbers) / len(numbers) for p in (2, 3, 4))
    return float(fourth / second**2 + third / second**1.5)


def slow(names: list[str]) -> float:
    """Return the score of one list, product and all, without logarithms."""
    rows = list(zip(*(VECTORS[name] for name in names), strict=True))
    if not rows:
        return 0.0
    return sum(moments([fold(row) for row in rows]) for fold in (sum, min, math.prod))


def test_one_predominant_topic_of_four_is_worked_by_hand() -> None:
    # (1, 0, 0, 0) has mean 1/4, m2 3/16, m3 3/32, m4 21/256: k = 7/3, s = 2/sqrt(3)
    both = 7 / 3 + 2 / math.sqrt(3)
    assert of(DeShaTo(), ["one"]) == pytest.approx([3 * both])
    assert of(DeShaTo(), ["one", "flat"]) == pytest.approx([3 * both])
    assert saturation(4) == pytest.approx(7 / 3)


@given(names=LIST)
def test_slow_loops_give_the_same(names: list[str]) -> None:
    assert of(DeShaTo(), names) == pytest.approx([slow(names)])


@given(names=LIST, data=st.data())
def test_the_order_of_documents_does_not_matter(names: list[str], data: st.DataObject) -> None:
    again = data.draw(st.permutations(names))
    assert of(DeShaTo(), names) == pytest.approx(of(DeShaTo(), list(again)))


@given(names=LIST, data=st.data())
def test_the_numbering_of_the_topics_does_not_matter(names: list[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(4)))
    other = {name: [row[place] for place in order] for name, row in VECTORS.items()}
    assert of(DeShaTo(), names, vectors=other) == pytest.approx(of(DeShaTo(), names))


@given(lists=st.lists(LIST, min_size=1, max_size=4))
def test_a_system_is_judged_alone(lists: list[list[str]]) -> None:
    assert of(DeShaTo(), *lists, lists[0])[0] == of(DeShaTo(), lists[0])[0]
    assert of(DeShaTo(), *lists, lists[0])[-1] == of(DeShaTo(), lists[0])[0]


def test_shapes_are_those_of_scipy_and_free_of_scale() -> None:
    numbers = np.random.default_rng(1).dirichlet(np.full(50, 0.1), 20)
    k, s = shape(numbers)
    np.testing.assert_allclose(k, kurtosis(numbers, axis=1, fisher=False))
    np.testing.assert_allclose(s, skew(numbers, axis=1))
    np.testing.assert_allclose(shape(numbers * 1e-30), (k, s))


def test_equal_components_have_no_shape_whatever_rounding_does() -> None:
    assert of(DeShaTo(), ["flat"], ["flat", "flat"], []) == [0, 0, 0]
    thirds = np.full((1, 7), 0.1) + np.array([[0, 0, 0, 1e-17, 0, 0, 0]])
    assert [part.tolist() for part in shape(thirds)] == [[0.0], [0.0]]


def test_a_product_of_tiny_numbers_does_not_vanish() -> None:
    vectors = {f"d{place}": [1e-20, 2e-20, 1 - 3e-20, 1e-20] for place in range(30)}
    vectors |= {f"e{place}": [1 - 3e-20, 1e-20, 1e-20, 1e-20] for place in range(30)}
    made = cumulate(pool_of([list(vectors)], vectors=vectors))
    assert made.product.max() == 1
    assert made.used.tolist() == [60]


def test_vectors_that_share_no_topic_leave_no_mass() -> None:
    vectors = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0]}
    found = DeShaTo().estimate(pool_of([["x", "y"]], vectors=vectors))
    assert [found.terms[name][0] for name in ("k(M)", "s(M)", "k(P)", "s(P)")] == [0, 0, 0, 0]
    assert found.terms["k(S)"][0] > 0


def test_terms_add_up_and_can_be_weighed() -> None:
    found = DeShaTo().estimate(pool_of([["a", "b"]], vectors=VECTORS))
    assert list(found.terms) == ["k(S)", "s(S)", "k(M)", "s(M)", "k(P)", "s(P)"]
    assert found.values[0] == pytest.approx(sum(term[0] for term in found.terms.values()))
    only = DeShaTo(sum_k=2, sum_s=0, least_k=0, least_s=0, product_k=0, product_s=0)
    assert of(only, ["a", "b"])[0] == pytest.approx(2 * found.terms["k(S)"][0])


def test_the_mean_says_nothing_and_the_deviation_something() -> None:
    assert of(DeShaTo(of="mean"), ["a", "b"], ["c"]) == pytest.approx([0.75, 0.75])
    high, low = of(DeShaTo(of="sd"), ["a"], ["c"])
    assert high > low
    assert high == pytest.approx(3 * float(np.std(VECTORS["a"])))


def test_documents_without_a_vector_are_passed_over_or_replaced() -> None:
    lists = [["new", "a", "b", "c"]]
    pool = pool_of(lists, vectors=VECTORS)
    assert DeShaTo(depth=2).estimate(pool).used.tolist() == [1]
    assert of(DeShaTo(depth=2), *lists) == of(DeShaTo(), ["a"])
    assert DeShaTo(depth=2, missing="fill").estimate(pool).used.tolist() == [2]
    assert of(DeShaTo(depth=2, missing="fill"), *lists) == of(DeShaTo(), ["a", "b"])


def test_a_list_without_documents_has_0_or_nothing() -> None:
    assert of(DeShaTo(), ["new"], []) == [0, 0]
    assert np.isnan(of(DeShaTo(empty="skip"), ["new"], ["a"])).tolist() == [True, False]


def test_vectors_are_needed() -> None:
    with pytest.raises(UsageError, match="--topics VECTORS"):
        DeShaTo().estimate(pool_of([["a"]]))
