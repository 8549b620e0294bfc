"""G: gain normalised by what the list missed so far."""

from __future__ import annotations

import math

import pytest

from agreement import agree, undefined
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cut, divide

of = MEASURES.parse


def oracle(case: Case, *, gains: str) -> float:
    """Walk down the list beside the best one."""
    assert gains == "grade"
    best = sorted((grade for grade in case.grades.values() if grade > 0), reverse=True)
    total, paid, got = 0.0, 0.0, 0.0
    for place, document in enumerate(cut(case, None)):
        gain = max(case.grades.get(document, 0.0), 0.0)
        paid += max(best[place], 1.0) if place < len(best) else 1.0
        got += gain
        if gain:
            total += gain / math.log2(2 + paid - got)
    return divide(total, sum(best))


def test_it_agrees_with_its_slow_twin() -> None:
    agree("G")


def test_what_the_list_missed_so_far_counts_against_a_document() -> None:
    """At rank 3 the ideal list has 2 + 1 + 1, this one 0 + 0 + 2."""
    assert of("G").of([0, 0, 2], judged=[2, 1, 0, 0]) == 2 / math.log2(2 + 4 - 2) / 3


def test_with_one_level_it_is_binary_g() -> None:
    grades, judged = [0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 0]
    assert of("G").of(grades, judged) == of("binG").of(grades, judged)


def test_gains_of_ones_own() -> None:
    assert of("G(gains=1:3)").of([1, 2]) == 1
    assert of("G(gains=1:3)").of([2, 1]) == (2 / math.log2(2 + 3 - 2) + 3 / 1) / 5


def test_it_is_undefined_where_nothing_has_a_gain() -> None:
    assert undefined(of("G").of([0, None]))


def test_gains_that_add_up_to_no_number_are_refused() -> None:
    with pytest.raises(UsageError, match="smaller grades"):
        of("G").of([1e308, 1e308])
