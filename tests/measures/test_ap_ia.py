"""Intent-aware average precision."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import SubtopicCase, agree, by_subtopic, of_list, same_as_ndeval, value

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, rel: float) -> float:
    case = by_subtopic(case)
    judged = [case.covers(name, rel) for name in case.judged]
    topics, found = set().union(*judged), case.found(rel, None)
    total = 0.0
    for topic in topics:
        ranks = [rank for rank, covers in enumerate(found, start=1) if topic in covers]
        size = sum(topic in covers for covers in judged)
        total += sum(nth / rank for nth, rank in enumerate(ranks, start=1)) / size
    return total / len(topics) if topics else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "AP_IA", "AP_IA(rel=2)")


def test_by_hand() -> None:
    assert of_list("AP_IA", ["a", "ab", "b"]) == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2)
    assert of_list("AP_IA", ["a", "ab"]) == 3 / 4
    assert of_list("AP_IA", ["a"], others=["ab"]) == 1 / 4


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("AP_IA"), case))
    assert value(of("AP_IA"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"AP_IA.* needs judgments by subtopic: --subtopics"):
        of("AP_IA").of([1, 0])


@pytest.mark.parametrize("text", ["AP_IA@5", "AP_IA(rel=-1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["AP_IA"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "MAP-IA")
