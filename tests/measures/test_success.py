"""Success."""

from __future__ import annotations

import pytest

from agreement import agree, value
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_1_when_any_of_the_first_k_is_relevant() -> None:
    assert of("Success@1").of([0, 1]) == 0
    assert of("Success@2").of([0, 1]) == 1
    assert of("Success@2").of([1, 1]) == 1
    assert of("Success@1000").of([0, None, 1]) == 1


def test_it_is_0_and_never_undefined_where_nothing_was_found_or_is_relevant() -> None:
    assert of("Success@5").of([], judged=[1]) == 0
    assert of("Success@5").of([0, -1]) == 0


def test_a_level_decides_what_is_relevant() -> None:
    assert of("Success(rel=2)@1").of([1]) == 0
    assert of("Success(rel=0.5)@1").of([0.5]) == 1


def test_it_needs_a_cutoff() -> None:
    with pytest.raises(UsageError, match="Success needs a cutoff, as in Success@10"):
        of("Success")


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Success@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1


def test_it_equals_its_oracle() -> None:
    agree("Success@1", "Success@3", "Success(rel=2)@2")
