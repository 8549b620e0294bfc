"""Binary G."""

from __future__ import annotations

import math

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, count_relevant, cut, divide, is_relevant

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Walk down the list and count what is not relevant."""
    total, others = 0.0, 0
    for document in cut(case, None):
        if is_relevant(case, document, rel):
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    return divide(total, count_relevant(case, rel))


def test_it_agrees_with_its_slow_twin() -> None:
    agree("binG", "binG(rel=2)")


def test_only_what_is_not_relevant_above_a_document_counts_against_it() -> None:
    assert of("binG").of([1, 1, 0, 0, 1], judged=[1] * 4 + [0] * 2) == (1 + 1 + 1 / 2) / 4


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("binG").of([0]))
