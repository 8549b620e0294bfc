"""Nearly expected reciprocal rank, equation 8."""

from __future__ import annotations

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cut
from peer_values import random_graded, same_as_ir_measures

of = MEASURES.parse


def oracle(case: Case, *, max_grade: float, cutoff: int) -> float:
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, cutoff)]
    gains = ranked + [0.0] * (cutoff - len(ranked))
    look, weights, total = 1.0, 0.0, 0.0
    for gain in gains:
        weights += look
        total += look * gain
        look *= 1 - gain
    return total / weights


def test_it_equals_its_oracle() -> None:
    agree("NERR8@1", "NERR8@3", "NERR8(max_grade=3)@20")


def test_by_hand() -> None:
    assert of("NERR8(max_grade=2)@2").of([1, 2]) == pytest.approx(2 / 3)


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4; expected smaller grades"):
        of("NERR8@5").of([5])


@pytest.mark.parametrize("text", ["NERR8", "NERR8@0", "NERR8@1000000", "NERR8(max_rel=3)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|write max_grade|cutoff"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ours", "theirs"), [("NERR8@10", "NERR8(max_rel=4)@10"), ("NERR8@100", "NERR8(max_rel=4)@100")]
)
def test_it_equals_cwl_eval(seed: int, ours: str, theirs: str) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(ours, theirs, qrels, run)
