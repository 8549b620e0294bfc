"""nDCG averaged over the levels of gain."""

from __future__ import annotations

import math

import pytest

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, count_relevant, discounted_gain, ndcg

of = MEASURES.parse


def oracle(case: Case, *, gains: str, rel: float) -> float:
    """Take nDCG at each level, one by one."""
    assert gains == "grade"
    wanted = [grade for grade in case.grades.values() if grade > 0]
    if not count_relevant(case, rel) or not wanted:
        return math.nan
    cutoffs = [sum(grade >= level for grade in wanted) for level in sorted(set(wanted))]
    values = [ndcg(case, gain="linear", discount="log2", cutoff=cutoff) for cutoff in cutoffs]
    if len(case.scores) > len(wanted) + 1:
        whole = discounted_gain(case, gain="linear", discount="log2", cutoff=None)
        perfect = Case(dict(case.grades), case.grades)
        best = discounted_gain(perfect, gain="linear", discount="log2", cutoff=None)
        values.append(whole / best)
    return sum(values) / len(values)


def test_it_agrees_with_its_slow_twin() -> None:
    agree("RnDCG", "RnDCG(rel=2)")


def test_it_is_the_mean_of_ndcg_at_the_number_of_documents_of_each_level() -> None:
    grades, judged = [1, 3, 0], [3, 3, 2, 1, 0]
    at = [of(f"nDCG@{cutoff}").of(grades, judged) for cutoff in (2, 3, 4)]
    assert of("Rndcg").of(grades, judged) == pytest.approx(sum(at) / 3, rel=1e-14)


def test_a_list_longer_by_two_adds_its_end() -> None:
    grades = [0, 0, 1]
    assert of("RnDCG").of(grades) == pytest.approx((0 + 1 / 2) / 2, rel=1e-14)
    assert of("RnDCG").of([0, 1]) == 0


def test_equal_gains_are_one_level() -> None:
    assert of("RnDCG(gains=2:1)").of([1, 2]) == of("RnDCG").of([1, 1]) == 1


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("RnDCG").of([0]))
    assert undefined(of("RnDCG(rel=2)").of([1]))
