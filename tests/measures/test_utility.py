"""Utility of a set."""

from __future__ import annotations

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, count_found, count_relevant

of = MEASURES.parse


def oracle(  # one argument per parameter
    case: Case, *, a: float, b: float, c: float, d: float, documents: int, rel: float
) -> float:
    """Count the four kinds of documents one by one."""
    found, size = count_found(case, rel, None), count_relevant(case, rel)
    others = len(case.scores) - found
    return a * found + b * others + c * (size - found) + d * (documents - size - others)


def test_it_agrees_with_its_slow_twin() -> None:
    agree("Utility", "Utility(rel=2)", "Utility(a=2,b=-0.5,c=-1,d=0.25,documents=100)")


def test_by_default_it_is_relevant_minus_other_documents() -> None:
    assert of("utility").of([1, 0, None, 1, -1], judged=[1, 1, 1, 0, -1]) == 2 - 3


def test_what_was_not_retrieved_counts_with_c_and_d() -> None:
    measure = of("Utility(a=0,b=0,c=-1,d=0.5,documents=10)")
    assert measure.of([1, 0], judged=[1, 0, 1, 1]) == -2 + 0.5 * 6


def test_the_size_of_a_collection_is_not_negative() -> None:
    with pytest.raises(UsageError, match="documents=-1"):
        of("Utility(documents=-1)")
