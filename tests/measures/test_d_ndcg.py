"""nDCG of the gain for all intents together."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import SubtopicCase, agree, by_subtopic, value

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def gain(name: str) -> float:
        return sum(max(grades.get(name, 0), 0) for grades in case.grades.values())

    def added(names: list[str]) -> float:
        return sum(gain(name) / math.log2(rank + 1) for rank, name in enumerate(names, start=1))

    best = added(sorted(case.judged, key=gain, reverse=True)[:cutoff])
    return added(case.ranked[:cutoff]) / best if best else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "D_nDCG", "D_nDCG@1", "D_nDCG@3")


def test_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    third = 1 / math.log2(3)
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(of("D_nDCG"), case) == pytest.approx((2 + 3 / 2) / (3 + 2 * third))
    assert value(of("D_nDCG@1"), case) == 2 / 3


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("D_nDCG"), case))
    assert value(of("D_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"D_nDCG.* needs judgments by subtopic: --subtopics"):
        of("D_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["D_nDCG@0", "D_nDCG(rel=1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)
