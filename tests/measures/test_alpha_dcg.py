"""DCG that values novelty."""

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


def oracle(case: Case | SubtopicCase, *, alpha: float, rel: float, cutoff: int) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    best = sum(size * (1 - alpha) ** (r - 1) / math.log2(r + 1) for r in range(1, cutoff + 1))
    found = novel(case.found(rel, cutoff), alpha, lambda rank: 1 / math.log2(rank + 1))
    return found / best if size else math.nan


def test_it_equals_its_oracle() -> None:
    agree(
        oracle,
        "alpha_DCG@1",
        "alpha_DCG@3",
        "alpha_DCG(alpha=0)@3",
        "alpha_DCG(alpha=1)@4",
        "alpha_DCG(alpha=0.3,rel=2)@10",
    )


def test_by_hand() -> None:
    third = 1 / math.log2(3)
    assert of_list("alpha_DCG@1", ["a", "b"]) == 1 / 2
    assert of_list("alpha_DCG@2", ["a", "b"]) == pytest.approx((1 + third) / (2 + third))
    assert of_list("alpha_DCG@2", ["ab", "ab"]) == 1


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("alpha_DCG@5"), case))
    assert value(of("alpha_DCG@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"alpha_DCG.* needs judgments by subtopic: --subtopics"):
        of("alpha_DCG@5").of([1, 0])


@pytest.mark.parametrize("text", ["alpha_DCG", "alpha_DCG(alpha=2)@5", "alpha_DCG(alpha=-0.1)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "text", ["alpha_DCG@2", "alpha_DCG@5", "alpha_DCG@20", "alpha_DCG(alpha=0.25)@10"]
)
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "alpha-DCG")


def test_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("alpha-DCG@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("alpha_DCG@1", ["ab", "c"]) == 2 / 3
