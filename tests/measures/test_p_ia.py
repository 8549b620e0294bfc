"""Intent-aware precision."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import SubtopicCase, agree, by_subtopic, of_list, same_as_ndeval, value

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    found = sum(map(len, case.found(rel, cutoff)))
    size = case.size(rel) * (cutoff or len(case.scores))
    return found / size if size else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "P_IA", "P_IA@2", "P_IA(rel=2)@3")


def test_by_hand() -> None:
    assert of_list("P_IA@2", ["ab", "c", "a"]) == (1 / 2 + 1 / 2 + 1 / 2) / 3
    assert of_list("P_IA@5", ["a"]) == 1 / 5
    assert of_list("P_IA", ["a", "ab", "b"]) == pytest.approx(2 / 3)


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("P_IA@5"), case))
    assert value(of("P_IA@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"P_IA.* needs judgments by subtopic: --subtopics"):
        of("P_IA@5").of([1, 0])


@pytest.mark.parametrize("text", ["P_IA@0", "P_IA(rel=-1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["P_IA@1", "P_IA@5", "P_IA@20"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "P-IA")
