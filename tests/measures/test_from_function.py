"""Python functions as measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from leadline.errors import UsageError
from leadline.measures import AP, P, from_function, nDCG

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": -1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
RUN = {"q1": {"x": 3.0, "d1": 2.0, "d3": 1.0}, "q2": {"d1": 1.0}, "q4": {"d1": 1.0}}
GRADES = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=12)


def precision_at_5(grades: list[float | None], _judged: list[float]) -> float:
    return sum(1 for grade in grades[:5] if grade is not None and grade >= 1) / 5


def test_a_function_sees_the_grades_of_each_list_and_all_judged_grades() -> None:
    seen: list[Any] = []

    def mine(*given: Any) -> float:
        seen.append(given)
        return 0.5

    measure = from_function(mine)
    results = ll.evaluate(QRELS, {"a": RUN}, measure)
    assert seen == [([None, 2.0, -1.0], [2.0, 0.0, -1.0]), ([1.0], [1.0])]
    assert results.value("a", "q1", "mine") == 0.5
    assert math.isnan(results.value("a", "q3", "mine"))
    assert results.mean("a", measure) == pytest.approx((0.5 + 0.5 + 0) / 3)
    seen.clear()
    ll.evaluate(QRELS, {"a": RUN}, measure, depth=2, judged_only=True)
    assert [grades for grades, _ in seen] == [[2.0], [1.0]]


@pytest.mark.usefixtures("form")
@given(st.lists(GRADES, min_size=1, max_size=4))
def test_a_function_gives_what_the_measure_that_it_copies_gives(lists: list[list[int | None]]) -> None:
    qrels = {
        f"q{place}": {f"d{rank}": grade for rank, grade in enumerate(grades) if grade is not None} | {"z": 1}
        for place, grades in enumerate(lists)
    }
    run = {f"q{place}": [f"d{rank}" for rank in range(len(grades))] for place, grades in enumerate(lists)}
    results = ll.evaluate(qrels, {"a": run}, [from_function(precision_at_5), P @ 5])
    assert [str(measure) for measure in results.measures] == ["precision_at_5", "P@5"]
    assert results.values[0, :, 0] == pytest.approx(results.values[0, :, 1])


def test_a_function_stands_where_a_measure_can() -> None:
    mine = from_function(precision_at_5, name="mine")
    runs = {"a": RUN, "b": {"q1": ["d1"], "q2": ["d1"], "q3": ["d1"]}}
    results = ll.evaluate(QRELS, runs, [mine, "P@5", nDCG @ 10], bounds=True, intervals=True)
    assert results.to_dict()["measures"] == ["mine", "P@5", "nDCG@10"]
    assert results.means[:, 0] == pytest.approx(results.means[:, 1])
    one, two = ll.compare(QRELS, runs, mine), ll.compare(QRELS, runs, "P@5")
    named = {"measure": "", "sentence": ""}
    assert one.to_dict()["pairs"][0] | named == two.to_dict()["pairs"][0] | named
    assert mine.of([1, None, 1]) == 0.4


def test_the_direction_of_a_function_is_that_of_its_values() -> None:
    first = from_function(
        lambda grades, _: float(next((rank for rank, grade in enumerate(grades, 1) if grade), 99)),
        name="first",
        low=1,
        high=math.inf,
        rising=False,
    )
    results = ll.evaluate({"q": {"d": 1}}, {"late": {"q": ["x", "d"]}, "early": {"q": ["d", "x"]}}, first)
    assert results.means.tolist() == [[2.0], [1.0]]
    assert results.order() == [1, 0]
    assert results.best() == [{1}]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda grades, _: grades[7], "mine failed for query 'q1': IndexError: list index out of range"),
        (lambda *_: 3, "mine for query 'q1' is 3, but it must be a number from 0 to 1, or None"),
        (lambda *_: "1", "mine for query 'q1' is '1', but it must be a number from 0 to 1, or None"),
        (lambda _: 1, "mine failed for query 'q1': TypeError: "),
    ],
)
def test_an_error_in_a_function_says_the_query(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        ll.evaluate(QRELS, {"a": RUN}, from_function(function, name="mine"))
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_a_function_may_leave_a_value_undefined(nothing: float | None) -> None:
    results = ll.evaluate(QRELS, {"a": RUN}, from_function(lambda *_: nothing, name="mine"))
    assert math.isnan(results.value("a", "q1", "mine"))
    assert results.mean("a", "mine") == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "name='<lambda>' is not valid. Pass a name that contains only letters, digits, '_'"),
        ({"name": "a,b"}, "name='a,b' is not valid. Pass a name that contains only letters, digits, '_'"),
        ({"name": 5}, "name=5 is not valid. Pass a name that contains only letters, digits, '_'"),
        ({"name": "map"}, "name='map' is already the name of another measure. Choose a different name"),
        ({"name": "mine", "low": 1}, "low=1 must be below high=1"),
        ({"name": "mine", "low": math.inf}, "low=inf must be below high=1"),
        ({"name": "mine", "high": "1"}, "high must be a number, not '1'"),
        ({"name": "mine", "low": math.nan}, "low must be a number, not nan"),
        ({"name": "mine", "rising": 1}, "rising must be True or False, not 1"),
        (
            {"name": "mine", "function": 5},
            "function=5 is not callable. Pass a function of two arguments, `grades` and `judged`",
        ),
    ],
    ids=str,
)
def test_what_is_no_measure_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        from_function(**{"function": lambda *_: 1.0} | options)
    assert str(refused.value).startswith(says)


def test_two_functions_of_one_name_are_refused() -> None:
    one, two = (from_function(lambda *_, value=value: value, name="mine") for value in (0.0, 1.0))
    assert one != two
    assert hash(one) == hash(two)
    with pytest.raises(UsageError, match=r"two measures are both named 'mine'"):
        ll.evaluate(QRELS, {"a": RUN}, [one, two])
    assert ll.evaluate(QRELS, {"a": RUN}, [two, two]).means.shape == (1, 1)


def test_a_function_with_another_range_is_another_measure() -> None:
    def two(*_: object) -> float:
        return 2.0

    with pytest.raises(UsageError, match="from 0 to 1"):
        ll.evaluate(QRELS, {"a": RUN}, from_function(two))
    assert ll.evaluate(QRELS, {"a": RUN}, from_function(two, high=2)).means.shape == (1, 1)
    assert from_function(two, high=2) == from_function(two, high=2)
    assert from_function(two, high=2) != from_function(two, high=2, rising=False)


def test_classes_are_measures_with_their_defaults() -> None:
    results = ll.evaluate(QRELS, {"a": RUN}, [AP, nDCG(cutoff=10), P @ 5])
    assert [str(measure) for measure in results.measures] == ["AP", "nDCG@10", "P@5"]
    assert [str(measure) for measure in ll.evaluate(QRELS, {"a": RUN}, AP).measures] == ["AP"]
    with pytest.raises(UsageError, match=r"<class 'int'> is not a measure"):
        ll.evaluate(QRELS, {"a": RUN}, [int])  # type: ignore[arg-type]
