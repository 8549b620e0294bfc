"""Rank-biased precision."""

from __future__ import annotations

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cut
from peer_values import random_graded, same_as_ir_measures

of = MEASURES.parse


def oracle(
    case: Case, *, p: float, rel: float, gain: str, max_grade: float, cutoff: int | None
) -> float:
    largest = max(1, *case.grades.values()) if gain == "scaled" else max_grade
    total = 0.0
    for rank, name in enumerate(cut(case, cutoff), start=1):
        grade = case.grades.get(name, -1)
        part = float(grade >= rel) if gain == "binary" else max(grade, 0) / largest
        total += (1 - p) * p ** (rank - 1) * part
    return total


def test_it_equals_its_oracle() -> None:
    agree("RBP", "RBP(p=0.5)@2", "RBP(rel=2)", "RBP(gain=graded)", "RBP(gain=graded,max_grade=3)@3",
          "RBP(gain=scaled,p=0.9)")  # fmt: skip


def test_by_hand() -> None:
    assert of("RBP(p=0.5)").of([1, 0, 1]) == 0.625
    assert of("RBP(p=0.5,gain=graded)").of([4, 0, 2]) == pytest.approx(0.5 * (1 + 0.5 * 0.25))
    assert of("RBP(p=0.5,gain=scaled)").of([1, 0, 2], judged=[1, 0, 2, 2]) == 0.5 * (0.5 + 0.25)
    assert of("RBP(p=0.5,gain=scaled)").of([0.5]) == 0.25  # no grade reaches 1: gains stay


def test_graded_gains_above_the_largest_are_refused_and_binary_ones_are_not() -> None:
    with pytest.raises(UsageError, match=r"max_grade=4; expected smaller grades, or max_grade=9"):
        of("RBP(gain=graded)").of([9])
    assert of("RBP").of([9]) == pytest.approx(0.2)


@pytest.mark.parametrize("text", ["RBP(p=0)", "RBP(p=1)", "RBP(p=1.5)", "RBP(gain=log)", "RBP@0"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("p", "rel"), [(0.8, 1), (0.5, 2)])
def test_it_equals_cwl_eval_up_to_the_rank_at_which_that_stops(
    seed: int, p: float, rel: int
) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    # It weighs 1000 ranks only and scales the weights to 1: p^1000 is nothing at these p.
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(f"RBP(p={p},rel={rel})", f"RBP(p={p},rel={rel})", qrels, run)
