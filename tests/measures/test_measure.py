"""What all measures share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.measures import MEASURES, Measure, check_finite, ratio


def test_division_by_nothing_is_undefined_and_says_nothing() -> None:
    part, whole = np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0])
    found = ratio(part, whole).tolist()
    assert found[0] == 0.5
    assert all(math.isnan(value) for value in found[1:])
    assert ratio(part, 4).tolist() == [0.25, 0.0, 0.5]


def test_infinite_sums_are_refused_by_the_name_of_the_measure() -> None:
    fine = np.array([1.0, math.nan])
    assert check_finite(MEASURES.parse("CG@5"), fine) is fine
    with pytest.raises(UsageError, match="CG@5: the sum of the gains exceeds"):
        check_finite(MEASURES.parse("CG@5"), np.array([1.0, math.inf]))


def test_a_measure_without_values_is_not_one() -> None:
    with pytest.raises(NotImplementedError):
        Measure().values(JudgedRun.of_grades([1]))


def test_the_judged_documents_are_by_default_those_of_the_list() -> None:
    assert MEASURES.parse("R").of([1, 0]) == 1
    assert MEASURES.parse("R").of([1, None, 0], judged=[1, 1, 0]) == 0.5


def test_values_come_in_the_order_of_the_queries_as_64_bit_floats() -> None:
    judged = JudgedRun.of_grades([1])
    for kind in MEASURES.classes.values():
        if kind.needs == "judgments":
            values = MEASURES.parse(kind.example()).values(judged)
            assert values.dtype == np.float64
            assert values.shape == (1,)
