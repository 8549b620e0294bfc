"""Subtopic recall."""

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
    size = case.size(rel)
    return len(set().union(*case.found(rel, cutoff))) / size if size else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "StRecall", "StRecall@2", "StRecall(rel=2)", "StRecall(rel=0)@1")


def test_by_hand() -> None:
    assert of_list("StRecall@1", ["ab", "c"], others=["d", "a"]) == 1 / 2
    assert of_list("StRecall", ["ab", "c"], others=["d", "a"]) == 3 / 4
    assert of_list("StRecall", [], others=["a"]) == 0


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("StRecall"), case))
    assert value(of("StRecall"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"StRecall.* needs judgments by subtopic: --subtopics"):
        of("StRecall").of([1, 0])


@pytest.mark.parametrize("text", ["StRecall@0", "StRecall(alpha=1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["StRecall@1", "StRecall@5", "StRecall@20"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "strec")
