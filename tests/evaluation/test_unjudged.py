"""Bounds for unjudged documents, against all grades that they could have had."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from case_values import join
from leadline.data.judged_run import JudgedRun
from leadline.evaluation.bounds import RULES, AllJudged, bounds_of
from leadline.measures import MEASURES, Measure
from oracles import Case
from small_lists import forms, random_cases

claimed = pytest.mark.parametrize("name", sorted(RULES))
NOT_MONOTONE = ("Bpref", "Judged", "RankOf", "IPrec(rule=printed-next)@0.1")


class Graded(AllJudged):
    """A join in which the unjudged documents have given grades; R and the ideal stay."""

    def __init__(self, judged: JudgedRun, given: tuple[float, ...]) -> None:
        super().__init__(judged, 0.0)
        grades = self._grades.copy()
        grades[self.row < 0] = given
        self._grades = grades


def unjudged_bounds(measure: Measure, judged: JudgedRun) -> tuple[float, float]:
    """Return both bounds of the only query."""
    low, high = bounds_of([measure], judged).limits[0, 0, 3:].tolist()
    return low, high


@cache
def lists_and_all_their_grades() -> list[tuple[Case, JudgedRun, JudgedRun]]:
    """Return lists, each joined as it is, and as many queries as its unjudged documents could have grades."""
    joined: list[tuple[Case, JudgedRun, JudgedRun]] = []
    for case in random_cases(4, 25):
        unjudged = len(set(case.scores) - set(case.grades))
        largest = max(0.0, *case.grades.values())
        scale = sorted({-1.0, min(1.0, largest), largest})  # -1: not relevant, whatever `rel` says
        given = list(itertools.product(scale, repeat=unjudged))
        every = join({str(number): case for number in range(len(given))})
        joined.append((case, join({"q": case}), Graded(every, tuple(itertools.chain.from_iterable(given)))))
    return joined


@claimed
def test_they_are_those_of_all_grades_within_the_range_of_the_measure(name: str) -> None:
    for case, judged, every in lists_and_all_their_grades():
        for measure in forms(name):
            found = bounds_of([measure], judged)
            if not found.available[0, 3]:
                continue
            values = measure.values(every)
            ends = np.clip([values.min(), values.max()], measure.low, measure.high)
            limits = found.limits[0, 0, 3:]
            assert np.allclose(limits, ends, rtol=1e-12, atol=1e-12, equal_nan=True), (measure, case)


@pytest.mark.parametrize("text", NOT_MONOTONE)
def test_measures_that_are_not_monotone_have_none(text: str) -> None:
    judged = join({"q": Case({"a": 2.0, "b": 1.0}, {"a": 1.0})})
    assert bounds_of([MEASURES.parse(text)], judged).available[0, 3:].tolist() == [False, False]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # ranks 1 and 3 are not judged, rank 2 has grade 2 of 2; R = 2
        ("P@3", (1 / 3, 1.0)),
        ("R", (0.5, 1.0)),  # 3 of 2 relevant documents would be more than all
        ("AP", (0.25, 1.0)),
        ("RR", (0.5, 1.0)),
        ("CG", (2.0, 6.0)),
        ("E", (0.0, 0.6)),  # the smaller the better: F = 2 x 1 / (2 + 3) now, 2 x 3 / 5 > 1 at most
    ],
)
def test_by_hand(text: str, wanted: tuple[float, float]) -> None:
    judged = join({"q": Case({"x": 3.0, "a": 2.0, "y": 1.0}, {"a": 2.0, "c": 1.0})})
    assert unjudged_bounds(MEASURES.parse(text), judged) == pytest.approx(wanted, abs=1e-15)


def test_the_largest_grade_is_that_of_all_queries() -> None:
    cases = {"1": Case({"x": 1.0}, {"a": 1.0}), "2": Case({"b": 1.0}, {"b": 3.0})}
    found = bounds_of([MEASURES.parse("CG")], join(cases))
    assert found.limits[:, 0, 3:].tolist() == [[0.0, 3.0], [3.0, 3.0]]


@claimed
def test_both_are_the_value_when_everything_is_judged(name: str) -> None:
    judged = join({"q": Case({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 1.0, "b": 0.0, "c": 2.0})})
    for measure in forms(name):
        found = bounds_of([measure], judged)
        if found.available[0, 3]:
            value = float(measure.values(judged)[0])
            assert unjudged_bounds(measure, judged) == pytest.approx((value, value), nan_ok=True)
