"""INSQ."""

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
    look, weights, total = 1.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        look *= ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2
    return total / weights


def test_it_equals_its_oracle() -> None:
    agree("INSQ", "INSQ(T=0.3,depth=3)", "INSQ(T=2.5,max_grade=3,depth=50)")


def test_by_hand() -> None:
    assert of("INSQ(max_grade=1,depth=2)").of([1, 0]) == pytest.approx(1 / (1 + 4 / 9))


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4; expected smaller grades"):
        of("INSQ").of([5])


@pytest.mark.parametrize(
    "text",
    [
        "INSQ(T=0)",
        "INSQ(max_grade=0)",
        "INSQ(depth=0)",
        "INSQ(depth=1000000)",
        "INSQ(max_rel=3)",
        "INSQ@5",
    ],
)
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|write max_grade|cutoff"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ours", "theirs"), [("INSQ", "INSQ(max_rel=4)"), ("INSQ(T=3)", "INSQ(T=3.0,max_rel=4)")]
)
def test_it_equals_cwl_eval(seed: int, ours: str, theirs: str) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(ours, theirs, qrels, run)
