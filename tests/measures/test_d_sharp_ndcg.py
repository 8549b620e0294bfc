"""D#-nDCG."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import SubtopicCase, agree, by_subtopic, value

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, gamma: float, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def gain(name: str) -> float:
        return sum(max(grades.get(name, 0), 0) for grades in case.grades.values())

    def added(names: list[str]) -> float:
        return sum(gain(name) / math.log2(rank + 1) for rank, name in enumerate(names, start=1))

    best, size = added(sorted(case.judged, key=gain, reverse=True)[:cutoff]), case.size(rel)
    if not best or not size:
        return math.nan
    recall = len(set().union(*case.found(rel, cutoff))) / size
    return gamma * recall + (1 - gamma) * added(case.ranked[:cutoff]) / best


def test_it_equals_its_oracle() -> None:
    agree(oracle, "Dsharp_nDCG", "Dsharp_nDCG@1", "Dsharp_nDCG(gamma=0.2)@3", "Dsharp_nDCG(rel=2)")


def test_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(of("D#-nDCG@1"), case) == (1 / 2 + 2 / 3) / 2
    assert value(of("Dsharp_nDCG(gamma=1)@1"), case) == value(of("I-rec@1"), case) == 1 / 2
    assert value(of("Dsharp_nDCG(gamma=0)@1"), case) == value(of("D-nDCG@1"), case) == 2 / 3


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("Dsharp_nDCG"), case))
    assert value(of("Dsharp_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"Dsharp_nDCG.* needs judgments by subtopic: --subtopics"):
        of("Dsharp_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["Dsharp_nDCG@0", "Dsharp_nDCG(gamma=2)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)
