"""Nearly expected reciprocal rank, equation 9."""

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
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        look *= rank / (rank + 1) * (1 - gain)
    return total / weights


def test_it_equals_its_oracle() -> None:
    agree("NERR9@1", "NERR9@3", "NERR9(max_grade=3)@20")


def test_by_hand() -> None:
    assert of("NERR9(max_grade=2)@2").of([1, 2]) == pytest.approx(0.6)


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4; expected smaller grades"):
        of("NERR9@5").of([5])


@pytest.mark.parametrize("text", ["NERR9", "NERR9@0", "NERR9@1000000", "NERR9(max_rel=3)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|write max_grade|cutoff"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ours", "theirs"), [("NERR9@10", "NERR9(max_rel=4)@10"), ("NERR9@100", "NERR9(max_rel=4)@100")]
)
def test_it_equals_cwl_eval(seed: int, ours: str, theirs: str) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(ours, theirs, qrels, run)
