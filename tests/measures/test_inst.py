"""INST."""

from __future__ import annotations

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cut
from peer_values import random_graded, same_as_ir_measures

of = MEASURES.parse


def oracle(case: Case, *, T: float, max_grade: float, depth: int) -> float:  # noqa: N803  # its name
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, depth)]
    gains = ranked + [0.0] * (depth - len(ranked))
    look, weights, total, so_far = 1.0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        so_far += gain
        look *= ((rank + 2 * T - so_far - 1) / (rank + 2 * T - so_far)) ** 2
    return total / weights


def test_it_equals_its_oracle() -> None:
    agree("INST", "INST(T=0.5,depth=3)", "INST(T=2.5,max_grade=3,depth=50)")


def test_by_hand() -> None:
    assert of("INST(max_grade=1,depth=2)").of([1, 0]) == pytest.approx(1 / (1 + 1 / 4))
    assert of("INST(max_grade=1,depth=2)").of([0, 1]) == pytest.approx(4 / 9 / (1 + 4 / 9))


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4; expected smaller grades"):
        of("INST").of([5])


@pytest.mark.parametrize(
    "text",
    [
        "INST(T=0.4)",
        "INST(max_grade=0)",
        "INST(depth=0)",
        "INST(depth=1000000)",
        "INST(max_rel=3)",
        "INST@5",
    ],
)
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|write max_grade|cutoff"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ours", "theirs"), [("INST", "INST(max_rel=4)"), ("INST(T=3)", "INST(T=3.0,max_rel=4)")]
)
def test_it_equals_cwl_eval(seed: int, ours: str, theirs: str) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(ours, theirs, qrels, run)
