"""Inferred average precision."""

from __future__ import annotations

import pytest

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, count_relevant, cut, divide

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Walk down the list and count what stands above each relevant document."""
    total, found, others, pooled = 0.0, 0, 0, 0
    for rank, document in enumerate(cut(case, None), start=1):
        if document not in case.grades:
            continue
        grade = case.grades[document]
        if grade < 0:
            pooled += 1
        elif grade < rel:
            others += 1
        else:
            above = found + others + pooled
            share = (found + 0.00001) / (found + others + 0.00002)
            total += 1 / rank + (0 if rank == 1 else (rank - 1) / rank * above / (rank - 1) * share)
            found += 1
    return divide(total, count_relevant(case, rel))


def test_it_agrees_with_its_slow_twin() -> None:
    agree("infAP", "infAP(rel=2)")


def test_where_all_is_judged_it_is_nearly_average_precision() -> None:
    grades = [1, 0, 0, 1, 1, 0]
    assert of("infAP").of(grades) == pytest.approx(of("AP").of(grades), abs=1e-4)


def test_a_pooled_document_without_a_judgment_is_as_relevant_as_the_judged_ones() -> None:
    wanted = (1 + 1 / 4 + 3 / 4 * (3 / 3) * (1 / 2)) / 2
    assert of("infAP").of([1, -1, 0, 1]) == pytest.approx(wanted, abs=1e-4)


def test_a_document_outside_the_pool_is_not_relevant() -> None:
    wanted = (1 + 1 / 4 + 3 / 4 * (2 / 3) * (1 / 2)) / 2
    assert of("infAP").of([1, None, 0, 1]) == pytest.approx(wanted, abs=1e-4)


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("infAP").of([0]))
