"""Novelty- and rank-biased precision."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import SubtopicCase, agree, by_subtopic, novel, of_list, same_as_ndeval, value

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, alpha: float, beta: float, rel: float) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    found = novel(case.found(rel, None), alpha, lambda rank: beta ** (rank - 1))
    return found * (1 - (1 - alpha) * beta) / size if size else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle, "NRBP", "NRBP(alpha=0,beta=0.8)", "NRBP(alpha=1)", "NRBP(alpha=0.3,rel=2)")


def test_by_hand() -> None:
    assert of_list("NRBP", ["a", "b"]) == 3 / 4 / 2 * (1 + 1 / 2)
    assert of_list("NRBP(alpha=1)", ["ab"]) == 1


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("NRBP"), case))
    assert value(of("NRBP"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"NRBP.* needs judgments by subtopic: --subtopics"):
        of("NRBP").of([1, 0])


@pytest.mark.parametrize("text", ["NRBP@5", "NRBP(beta=0)", "NRBP(beta=1)", "NRBP(alpha=2)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["NRBP", "NRBP(alpha=0.25,beta=0.75)"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "NRBP")
