"""The Bejeweled player model."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cut
from peer_values import by_ir_measures, random_graded, same_as_ir_measures

of = MEASURES.parse


def oracle(case: Case, *, T: float, max_grade: float, cutoff: int) -> float:  # noqa: N803  # its name
    gain, wanted = Fraction(0), Fraction(T) * Fraction(max_grade)
    for rank, name in enumerate(cut(case, cutoff), start=1):
        gain += Fraction(max(case.grades.get(name, 0), 0))
        if gain >= wanted:
            return float(gain / Fraction(max_grade) / rank)
    return float(gain / Fraction(max_grade) / cutoff)


def test_it_equals_its_oracle() -> None:
    agree("BPM@1", "BPM@5", "BPM(T=0.5)@3", "BPM(T=2,max_grade=3)@20")


def test_by_hand() -> None:
    assert of("BPM(max_grade=1)@5").of([0, 1, 1]) == 1 / 2
    assert of("BPM(max_grade=1,T=2)@5").of([0, 1, 1]) == 2 / 3
    assert of("BPM(max_grade=1,T=3)@5").of([0, 1, 1]) == 2 / 5
    assert of("BPM@5").of([]) == 0


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4; expected smaller grades"):
        of("BPM@5").of([5])


@pytest.mark.parametrize("text", ["BPM", "BPM(T=0)@5", "BPM(max_rel=3)@5", "BPM(max_grade=0)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"cutoff|expected|write max_grade"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_cwl_eval(seed: int) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures("BPM@10", "BPM(max_rel=4)@10", qrels, run)
    same_as_ir_measures("BPM(T=3)@20", "BPM(T=3.0,max_rel=4)@20", qrels, run)


def test_cwl_eval_adds_thirds_and_misses_the_goal_by_rounding() -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels = {"1": {f"d{place}": 1 for place in range(6)} | {"best": 3}}
    run = {"1": {f"d{place}": -float(place) for place in range(6)} | {"rest": -9.0}}
    assert by_ir_measures("BPM(T=2.0,max_rel=3)@10", qrels, run)["1"] == pytest.approx(2 / 10)
    assert of("BPM(T=2,max_grade=3)@10").of([1] * 6 + [0]) == pytest.approx(2 / 6)
