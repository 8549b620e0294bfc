"""Average precision of a set."""

from __future__ import annotations

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, count_found, count_relevant, divide

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Follow the definition: precision times recall."""
    found = count_found(case, rel, None)
    return divide(found * found, len(case.scores) * count_relevant(case, rel))


def test_it_agrees_with_its_slow_twin() -> None:
    agree("SetAP", "SetAP(rel=2)")


def test_it_is_precision_times_recall() -> None:
    assert of("set_map").of([1, 0, 0], judged=[1, 1, 0, 0]) == (1 / 3) * (1 / 2)


def test_the_order_does_not_matter() -> None:
    assert of("SetAP").of([1, 0, 1]) == of("SetAP").of([0, 1, 1])


def test_it_is_undefined_where_nothing_is_relevant_or_retrieved() -> None:
    assert undefined(of("SetAP").of([0]))
    assert undefined(of("SetAP").of([], judged=[1]))
