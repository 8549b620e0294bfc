"""Normalised intent-aware expected reciprocal rank."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import SubtopicCase, agree, by_subtopic, novel, of_list, same_as_ndeval, value

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    best = novel(case.ideal(rel, 0.5, cutoff), 0.5, lambda rank: 1 / rank)
    found = novel(case.found(rel, cutoff), 0.5, lambda rank: 1 / rank)
    return found / best if best else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "nERR_IA", "nERR_IA@1", "nERR_IA@3", "nERR_IA(rel=2)@10")


def test_by_hand() -> None:
    assert of_list("nERR_IA@1", ["c", "ab"]) == 1 / 2
    assert of_list("nERR_IA", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nERR_IA", ["ab", "c"]) == 1


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("nERR_IA"), case))
    assert value(of("nERR_IA"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"nERR_IA.* needs judgments by subtopic: --subtopics"):
        of("nERR_IA").of([1, 0])


@pytest.mark.parametrize("text", ["nERR_IA@0", "nERR_IA(alpha=1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["nERR_IA@1", "nERR_IA@5", "nERR_IA@20"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "nERR-IA")
