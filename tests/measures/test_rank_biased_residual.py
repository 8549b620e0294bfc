"""What rank-biased precision does not know."""

from __future__ import annotations

import pytest
from hypothesis import given

from agreement import agree, value
from leadline.measures import MEASURES
from oracles import Case, cases, cut

of = MEASURES.parse


def oracle(case: Case, *, p: float, cutoff: int | None) -> float:
    names = cut(case, cutoff)
    unjudged = sum(
        (1 - p) * p ** (rank - 1)
        for rank, name in enumerate(names, start=1)
        if case.grades.get(name, -1) < 0
    )
    return unjudged + p ** len(names)


def test_it_equals_its_oracle() -> None:
    agree("RBPResidual", "RBPResidual(p=0.5)@2", "RBPResidual(p=0.95)")


def test_by_hand() -> None:
    assert of("RBPResidual(p=0.5)").of([1, None, 0]) == 0.375
    assert of("RBPResidual(p=0.5)@1").of([1, 0]) == 0.5
    assert of("RBPResidual").of([]) == 1


def test_a_negative_grade_is_no_judgment() -> None:
    assert of("RBPResidual(p=0.5)").of([-1, 1]) == of("RBPResidual(p=0.5)").of([None, 1]) == 0.75


def test_value_and_residual_are_what_relevant_documents_in_every_gap_would_have() -> None:
    @given(cases())
    def check(case: Case) -> None:
        grades = {name: grade for name, grade in case.grades.items() if grade >= 0} | {"more": 0.0}
        case = Case(case.scores | {"other": -1.0}, grades)
        missed = Case(case.scores, {name: float(grade < 1) for name, grade in grades.items()})
        best = 1 - value(of("RBP"), missed)
        assert value(of("RBP"), case) + value(of("RBPResidual"), case) == pytest.approx(best)

    check()
