"""Expected reciprocal rank."""

from __future__ import annotations

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case, cut
from peer_values import by_ir_measures, random_graded, same_as_ir_measures

of = MEASURES.parse


def oracle(case: Case, *, max_grade: float, cutoff: int | None) -> float:
    total, left = 0.0, 1.0
    for rank, name in enumerate(cut(case, cutoff), start=1):
        stop = (2 ** max(case.grades.get(name, 0), 0) - 1) / 2**max_grade
        total += left * stop / rank
        left *= 1 - stop
    return total


def test_it_equals_its_oracle() -> None:
    agree("ERR", "ERR@2", "ERR(max_grade=3)", "ERR(max_grade=3.5)@10")


def test_by_hand() -> None:
    assert of("ERR").of([4]) == 15 / 16
    assert of("ERR").of([0, 3, 4]) == pytest.approx(7 / 16 / 2 + 9 / 16 * 15 / 16 / 3)
    assert of("ERR@1").of([0, 3, 4]) == 0


def test_negative_and_missing_judgments_stop_nobody() -> None:
    assert of("ERR").of([-2, None, 2]) == 3 / 16 / 3


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(
        UsageError, match=r"ERR: a grade of 5 is above max_grade=4; expected smaller"
    ):
        of("ERR").of([1], judged=[1, 5])
    assert of("ERR(max_grade=5)").of([5]) == 31 / 32


@pytest.mark.parametrize("text", ["ERR(max_grade=0)", "ERR(max_grade=-1)", "ERR@0", "ERR(rel=1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_gdeval_to_the_five_digits_that_gdeval_prints(seed: int) -> None:
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures("ERR@10", "ERR@10", qrels, run, to=5.01e-6)


def test_gdeval_says_nothing_of_a_query_without_a_relevant_document_and_here_it_is_0() -> None:
    qrels, run = {"1": {"a": 0}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}
    wanted = by_ir_measures("ERR@10", qrels, run)
    assert wanted["2"] == 0.0625
    assert wanted.get("1", 0.0) == 0.0
    assert evaluate(qrels, run, "ERR@10").value("run", "1", "ERR@10") == 0.0
