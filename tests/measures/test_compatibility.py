"""Compatibility with an ideal ranking."""

from __future__ import annotations

import pytest

from agreement import agree, undefined
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case, cut, divide
from peer_values import by_ir_measures, random_graded, same_as_ir_measures

of = MEASURES.parse


def overlap(one: list[str], two: list[str], p: float, depth: int) -> float:
    return sum(p**d / (d + 1) * len({*one[: d + 1]} & {*two[: d + 1]}) for d in range(depth))


def oracle(case: Case, *, p: float) -> float:
    ranked = cut(case, None)
    good = [name for name in case.grades if case.grades[name] > 0]
    ideal = sorted(good, key=lambda name: (-case.grades[name], [*ranked, name].index(name)))
    depth = max(len(ranked), len(ideal))
    return divide(overlap(ranked, ideal, p, depth), overlap(ideal, ideal, p, depth))


def test_it_equals_its_oracle() -> None:
    agree("Compat", "Compat(p=0.5)", "Compat(p=0.99)")


def test_by_hand() -> None:
    assert of("Compat").of([2, 1, 0]) == 1
    assert of("Compat(p=0.5)").of([1, 2]) == pytest.approx(0.5 / 1.5)
    assert of("Compat(p=0.5)").of([0, 1]) == pytest.approx(0.25 / 1.25)
    assert of("Compat").of([], judged=[1]) == 0


def test_equal_grades_are_ideal_in_the_order_of_the_list() -> None:
    assert of("Compat").of([1, 1, 1], judged=[1, 1, 1, 0]) == 1


def test_it_is_undefined_where_nothing_has_a_positive_grade() -> None:
    assert undefined(of("Compat").of([0, -1]))


@pytest.mark.parametrize("text", ["Compat(p=1)", "Compat(p=0)", "Compat@5", "Compat(normalize=no)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|no cutoff|always divided"):
        of(text)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("text", ["Compat", "Compat(p=0.8)"])
def test_it_equals_ir_measures_where_no_score_is_negative(seed: int, text: str) -> None:
    qrels, run = random_graded(seed, 3)
    run = {
        query: {name: score + 100 for name, score in scores.items()}
        for query, scores in run.items()
    }
    same_as_ir_measures(text, text, qrels, run)


def test_ir_measures_takes_what_was_not_retrieved_for_a_score_of_0() -> None:
    qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": -1.0, "c": -2.0}}
    wanted = by_ir_measures("Compat", qrels, run)["1"]  # its ideal is b, a; the list has a first
    mine = evaluate(qrels, run, "Compat").value("run", "1", "Compat")
    assert wanted < mine == pytest.approx((1 + 0.95 / 2) / (1 + 0.95))
