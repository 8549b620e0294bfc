"""Intent-aware expected reciprocal rank."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import (
    SubtopicCase,
    agree,
    by_subtopic,
    ndeval,
    novel,
    of_list,
    same_as_ndeval,
    value,
)

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, rel: float, cutoff: int) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    best = sum(size * 0.5 ** (rank - 1) / rank for rank in range(1, cutoff + 1))
    found = novel(case.found(rel, cutoff), 0.5, lambda rank: 1 / rank)
    return found / best if size else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "ERR_IA@1", "ERR_IA@3", "ERR_IA(rel=2)@10")


def test_by_hand() -> None:
    assert of_list("ERR_IA@1", ["a", "b"]) == 1 / 2
    assert of_list("ERR_IA@2", ["a", "b"]) == (1 + 1 / 2) / (2 + 1 / 2)
    assert of_list("ERR_IA@2", ["ab", "ab"]) == 1


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("ERR_IA@5"), case))
    assert value(of("ERR_IA@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"ERR_IA.* needs judgments by subtopic: --subtopics"):
        of("ERR_IA@5").of([1, 0])


@pytest.mark.parametrize("text", ["ERR_IA", "ERR_IA@0", "ERR_IA(alpha=1)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["ERR_IA@2", "ERR_IA@5", "ERR_IA@20"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "ERR-IA")


def test_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("ERR-IA@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("ERR_IA@1", ["ab", "c"]) == 2 / 3
