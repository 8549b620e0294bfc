"""Scaled discounted cumulative gain."""

from __future__ import annotations

import math

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cut
from peer_values import random_graded, same_as_ir_measures

of = MEASURES.parse


def oracle(case: Case, *, max_grade: float, cutoff: int) -> float:
    total = sum(
        max(case.grades.get(name, 0), 0) / max_grade / math.log2(rank + 1)
        for rank, name in enumerate(cut(case, cutoff), start=1)
    )
    return total / sum(1 / math.log2(rank + 1) for rank in range(1, cutoff + 1))


def test_it_equals_its_oracle() -> None:
    agree("SDCG@1", "SDCG@5", "SDCG(max_grade=3)@100")


def test_by_hand() -> None:
    assert of("SDCG(max_grade=2)@1").of([1]) == 0.5
    assert of("SDCG@3").of([4, 4, 4]) == 1
    assert of("SDCG@3").of([]) == 0


def test_a_long_way_below_the_list_costs_no_memory() -> None:
    assert 0 < of("SDCG@3000000").of([4]) < 1e-5


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4; expected smaller grades"):
        of("SDCG@5").of([5])


@pytest.mark.parametrize("text", ["SDCG", "SDCG@0", "SDCG(max_rel=3)@5", "SDCG(max_grade=0)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"cutoff|expected|write max_grade"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cutoff", [1, 10, 100])
def test_it_equals_cwl_eval(seed: int, cutoff: int) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(f"SDCG@{cutoff}", f"SDCG(max_rel=4)@{cutoff}", qrels, run)
